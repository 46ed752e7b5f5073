//! The tokens of a Caddyfile, as Caddy's lexer splits them.
//!
//! White space separates them, unless it is in quotes, in backquotes or in a heredoc. A backslash only escapes a
//! double quote in quotes, a line break, and the `<<` of a heredoc; before anything else it is literal.

use std::iter::Peekable;
use std::str::Chars;

use crate::exchange::read::rows::RowError;

/// A token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// Whether it was in quotes, so that it is no brace.
    pub(super) is_quoted: bool,
    /// Whether it is the first of a line.
    pub(super) is_first: bool,
}

const OPEN_HEREDOC: RowError = RowError::NoLink("a heredoc that starts here is not closed");

/// Splits a text.
///
/// # Errors
///
/// Returns the line of a quote or a heredoc that is not closed.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, (usize, RowError)> {
    let mut lexer = Lexer {
        chars: text.chars().peekable(),
        line: 1,
    };
    let mut tokens = Vec::new();
    let mut is_first = true;
    while let Some(mut token) = lexer.token(&mut is_first)? {
        token.is_first = std::mem::take(&mut is_first);
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'t> {
    chars: Peekable<Chars<'t>>,
    line: usize,
}

impl Lexer<'_> {
    fn next_char(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Reads a token; notes whether a line break that is not escaped precedes it.
    fn token(&mut self, is_first: &mut bool) -> Result<Option<Token>, (usize, RowError)> {
        while let Some(&c) = self.chars.peek() {
            match c {
                '#' => while self.chars.next_if(|c| *c != '\n').is_some() {},
                '\\' if self.is_line_escaped() => drop(self.next_char()),
                c if c.is_whitespace() => {
                    *is_first |= c == '\n';
                    self.next_char();
                }
                _ => break,
            }
        }
        let line = self.line;
        let token = |text, is_quoted| Token {
            line,
            text,
            is_quoted,
            is_first: false,
        };
        match self.chars.peek() {
            None => Ok(None),
            Some('"' | '`') => match self.quoted() {
                Some(text) => Ok(Some(token(text, true))),
                None => Err((line, RowError::OpenQuote)),
            },
            Some(_) => {
                let text = self.word();
                match text.strip_prefix("<<").filter(|it| !it.is_empty()) {
                    Some(marker) => match self.heredoc(marker) {
                        Some(text) => Ok(Some(token(text, true))),
                        None => Err((line, OPEN_HEREDOC)),
                    },
                    None => Ok(Some(token(text.replacen("\\<<", "<<", 1), false))),
                }
            }
        }
    }

    /// Consumes a backslash if a line break is after it, which it escapes.
    fn is_line_escaped(&mut self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next();
        let is_escaped = match ahead.next() {
            Some('\r') => ahead.next() == Some('\n'),
            next => next == Some('\n'),
        };
        if is_escaped {
            self.chars.next_if_eq(&'\\');
            self.chars.next_if_eq(&'\r');
        }
        is_escaped
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.next_char()?;
        let mut text = String::new();
        loop {
            match self.next_char()? {
                c if c == quote => return Some(text),
                '\\' if quote == '"' => match self.next_char()? {
                    '"' => text.push('"'),
                    c => text.extend(['\\', c]),
                },
                c => text.push(c),
            }
        }
    }

    fn word(&mut self) -> String {
        let mut text = String::new();
        while let Some(&c) = self.chars.peek() {
            if c.is_whitespace() || c == '\\' && self.is_line_escaped() {
                break;
            }
            text.push(c);
            self.next_char();
        }
        text
    }

    /// Reads the lines up to the one that has the marker, without the white space that precedes the marker.
    fn heredoc(&mut self, marker: &str) -> Option<String> {
        let mut lines = Vec::new();
        while self.next_char()? != '\n' {}
        loop {
            let mut line = String::new();
            loop {
                if let Some(padding) = line.strip_suffix(marker)
                    && padding.trim().is_empty()
                {
                    let lines = lines.iter().map(|it: &String| it.strip_prefix(padding));
                    let lines: Option<Vec<_>> = lines.collect();
                    return Some(lines?.join("\n"));
                }
                match self.next_char()? {
                    '\n' => break,
                    '\r' => {}
                    c => line.push(c),
                }
            }
            lines.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_split() {
        let text = "a {$B} \"c \\\"d\\\\\" # e\n`f \"\\` g#h \\\n i\r\n\\{j k\\<<l <<END\n  m\n   n\n  END o";
        let found = tokens(text).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.line, &*it.text, it.is_quoted, it.is_first))
            .collect();
        assert_eq!(
            found,
            [
                (1, "a", false, true),
                (1, "{$B}", false, false),
                (1, "c \"d\\\\", true, false),
                (2, "f \"\\", true, true),
                (2, "g#h", false, false),
                (3, "i", false, false),
                (4, "\\{j", false, true),
                (4, "k<<l", false, false),
                (4, "m\n n", true, false),
                (7, "o", false, false),
            ]
        );
        for (text, line) in [("a\n\"b", 2), ("\n`b", 2), ("a <<END\n EN", 1)] {
            assert_eq!(tokens(text).unwrap_err().0, line, "{text}");
        }
    }
}
