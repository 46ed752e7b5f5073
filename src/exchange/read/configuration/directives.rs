//! The directives of an nginx configuration, as its parser splits them.
//!
//! Quotes keep white space together; a backslash escapes quotes and itself, means a tab or a line
//! break before `t`, `r` and `n`, and is literal before anything else. A file that is cut short
//! just ends.

use std::iter::Peekable;
use std::str::Chars;

/// A directive, or the end of a block.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Directive {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Its name and its values, without quotes.
    pub(super) words: Vec<String>,
    pub(super) kind: DirectiveKind,
}

/// The kinds of directives.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectiveKind {
    /// One that ends in a semicolon.
    #[default]
    Simple,
    /// One that opens a block.
    Block,
    /// The end of a block.
    End,
}

/// The directives of a text, in order.
pub(super) struct Directives<'t> {
    chars: Peekable<Chars<'t>>,
    line: usize,
}

impl<'t> Directives<'t> {
    /// Returns the directives of a text.
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            chars: text.chars().peekable(),
            line: 1,
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Reads a word that begins with `first`, up to its closing quote or its end.
    fn word(&mut self, first: char) -> String {
        let quote = matches!(first, '"' | '\'').then_some(first);
        let mut word = String::new();
        let mut before = first;
        if quote.is_none() {
            self.push(first, &mut word);
        }
        while let Some(&c) = self.chars.peek() {
            let is_end = match quote {
                Some(_) => false,
                // A brace after a dollar belongs to the name of a variable.
                None => c.is_whitespace() || c == ';' || (c == '{' && before != '$'),
            };
            if is_end {
                break;
            }
            self.next_char();
            if Some(c) == quote {
                break;
            }
            self.push(c, &mut word);
            before = c;
        }
        word
    }

    fn push(&mut self, c: char, word: &mut String) {
        let escaped = match self.chars.peek() {
            Some(&next) if c == '\\' => next,
            _ => return word.push(c),
        };
        match escaped {
            '"' | '\'' | '\\' => word.push(escaped),
            't' => word.push('\t'),
            'r' => word.push('\r'),
            'n' => word.push('\n'),
            other => word.extend(['\\', other]),
        }
        self.next_char();
    }
}

impl Iterator for Directives<'_> {
    type Item = Directive;

    fn next(&mut self) -> Option<Directive> {
        let mut directive = Directive::default();
        while let Some(c) = self.next_char() {
            if directive.words.is_empty() {
                directive.line = self.line;
            }
            match c {
                c if c.is_whitespace() => {}
                '#' => while self.chars.next_if(|c| *c != '\n').is_some() {},
                ';' if directive.words.is_empty() => {}
                ';' => return Some(directive),
                '{' => {
                    directive.kind = DirectiveKind::Block;
                    return Some(directive);
                }
                '}' => {
                    directive.kind = DirectiveKind::End;
                    return Some(directive);
                }
                c => directive.words.push(self.word(c)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_split() {
        let text = "a b;\n\nc 'd e' { # f { ;\n  \"g\\\"\\.\\n\" ${h}i;\n} j\\;k;;l";
        let found: Vec<_> = Directives::of(text).collect();
        let directive = |line, words: &[&str], kind| Directive {
            line,
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            kind,
        };
        assert_eq!(
            found,
            [
                directive(1, &["a", "b"], DirectiveKind::Simple),
                directive(3, &["c", "d e"], DirectiveKind::Block),
                directive(4, &["g\"\\.\n", "${h}i"], DirectiveKind::Simple),
                directive(5, &[], DirectiveKind::End),
                directive(5, &["j\\;k"], DirectiveKind::Simple),
            ]
        );
    }
}
