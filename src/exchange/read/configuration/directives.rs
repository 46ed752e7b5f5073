//! The directives of an nginx configuration, as its parser splits them.
//!
//! Quotes keep white space together; a backslash escapes quotes and itself, means a tab or a line
//! break before `t`, `r` and `n`, and is literal before anything else. What nginx does not accept is an error, because
//! it then refuses the whole file. The Lua code of OpenResty's blocks is skipped.

use std::iter::Peekable;
use std::str::Chars;

use crate::exchange::read::rows::RowError;

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

const UNENDED: RowError = RowError::NoLink(
    "this directive does not end in a semicolon, so nothing of the file is imported",
);

const UNQUOTED: RowError =
    RowError::NoLink("this quote is not closed, so nothing of the file is imported");

const AFTER_QUOTE: RowError = RowError::NoLink(
    "there is no space after a text in quotes, so nothing of the file is imported",
);

const NO_NAME: RowError =
    RowError::NoLink("there is no directive before this, so nothing of the file is imported");

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
    fn word(&mut self, first: char) -> Result<String, (usize, RowError)> {
        let line = self.line;
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
                let is_end = |c: &char| c.is_whitespace() || ";{)".contains(*c);
                return match self.chars.peek().is_none_or(is_end) {
                    true => Ok(word),
                    false => Err((self.line, AFTER_QUOTE)),
                };
            }
            self.push(c, &mut word);
            before = c;
        }
        match quote {
            Some(_) => Err((line, UNQUOTED)),
            None => Ok(word),
        }
    }

    /// Skips code in braces, the first of which is read.
    fn skip_code(&mut self) {
        let mut depth = 1;
        while depth > 0
            && let Some(c) = self.next_char()
        {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                '"' | '\'' => {
                    while let Some(inner) = self.next_char()
                        && inner != c
                        && inner != '\n'
                    {
                        if inner == '\\' {
                            self.next_char();
                        }
                    }
                }
                _ => {}
            }
        }
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
    type Item = Result<Directive, (usize, RowError)>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut directive = Directive::default();
        while let Some(c) = self.next_char() {
            let is_first = directive.words.is_empty();
            if is_first {
                directive.line = self.line;
            }
            match c {
                c if c.is_whitespace() => {}
                '#' => while self.chars.next_if(|c| *c != '\n').is_some() {},
                ';' | '{' if is_first => return Some(Err((self.line, NO_NAME))),
                ';' => return Some(Ok(directive)),
                '{' if directive.words[0].ends_with("_by_lua_block") => {
                    self.skip_code();
                    return Some(Ok(directive));
                }
                '{' => {
                    directive.kind = DirectiveKind::Block;
                    return Some(Ok(directive));
                }
                '}' if !is_first => return Some(Err((directive.line, UNENDED))),
                '}' => {
                    directive.kind = DirectiveKind::End;
                    return Some(Ok(directive));
                }
                c => match self.word(c) {
                    Ok(word) => directive.words.push(word),
                    Err(error) => return Some(Err(error)),
                },
            }
        }
        (!directive.words.is_empty()).then_some(Err((directive.line, UNENDED)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_split() {
        let text = "a b;\n\nc 'd e' { # f { ;\n  \"g\\\"\\.\\n\" ${h}i;\n} j\\;k;\nl_by_lua_block { '}' x() } m;";
        let found: Vec<_> = Directives::of(text).map(Result::unwrap).collect();
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
                directive(6, &["l_by_lua_block"], DirectiveKind::Simple),
                directive(6, &["m"], DirectiveKind::Simple),
            ]
        );
    }
}
