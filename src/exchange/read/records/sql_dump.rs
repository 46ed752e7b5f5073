//! The tokens of an SQL dump of MySQL or MariaDB, as far as the rows of `INSERT` need them.
//!
//! Strings are quoted as the manuals define: by `'` or `"`, with the quote doubled or escaped by a
//! backslash (MySQL 8.4 Reference Manual, 9.1.1; a dump never has `NO_BACKSLASH_ESCAPES`), and names
//! by backticks (9.2).

use std::borrow::Cow;

use memchr::memmem;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'b> {
    /// A keyword, a number, or a name without quotes.
    Word(&'b [u8]),
    /// A name in backticks.
    Name(Vec<u8>),
    /// A string, decoded.
    Text(Vec<u8>),
    /// Any other character.
    Mark(u8),
}

impl Token<'_> {
    /// Returns whether it is this keyword, in any case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Returns the name of a table or a column; in the SQL mode `ANSI_QUOTES`, it is in double quotes.
    pub(super) fn as_name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Word(name) => Some(String::from_utf8_lossy(name)),
            Self::Name(name) | Self::Text(name) => Some(String::from_utf8_lossy(name)),
            Self::Mark(_) => None,
        }
    }
}

/// The first words of statements that change rows.
const CHANGES: [&[u8]; 9] = [
    b"insert",
    b"replace",
    b"update",
    b"delete",
    b"truncate",
    b"load",
    b"call",
    b"with",
    b"rename",
];

/// The mode in which a backslash in a string is one (MySQL 8.4 Reference Manual, 7.1.11).
const MODE: &[u8] = b"NO_BACKSLASH_ESCAPES";

/// The tokens of a dump, one after the other.
pub(super) struct Tokens<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The line of the next byte, from 1.
    line: usize,
    /// The lines of comments that a database executes, and that change rows.
    changes_at: Vec<usize>,
    /// The line of such a comment with the mode in which a backslash in a string is one.
    mode_at: Option<usize>,
}

/// A string or a name that is not closed before the end of the dump.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    /// The line where it begins.
    pub(super) line: usize,
}

impl<'b> Tokens<'b> {
    /// Reads a dump from its beginning.
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
            changes_at: Vec::new(),
            mode_at: None,
        }
    }

    /// Returns the lines of the comments so far that a database executes (MySQL 8.4 Reference Manual, 9.7),
    /// and that change rows.
    pub(super) fn changes_at(&self) -> &[usize] {
        &self.changes_at
    }

    /// Returns the line that the last token ended in, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the line of the first such comment that sets the mode in which a backslash in a string is one.
    pub(super) fn mode_at(&self) -> Option<usize> {
        self.mode_at
    }

    /// Skips the rest of a line, and returns it.
    pub(super) fn rest_of_line(&mut self) -> &'b [u8] {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.advance(length);
        rest[..length].trim_ascii()
    }

    /// Skips lines up to one that begins with a word, in any case; returns whether there is one.
    pub(super) fn skip_to_line(&mut self, word: &[u8]) -> bool {
        while self.at < self.bytes.len() {
            self.advance(1);
            let line = &self.bytes[self.at..];
            if line.len() >= word.len() && line[..word.len()].eq_ignore_ascii_case(word) {
                return true;
            }
            self.rest_of_line();
        }
        false
    }

    /// Returns the next token that is no comment; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token<'b>>, Unclosed> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let Some(first) = rest.first() else {
            return Ok(None);
        };
        Ok(Some(match first {
            b'\'' | b'"' => Token::Text(self.quoted(*first, Escapes::Backslash)?),
            b'`' => Token::Name(self.quoted(b'`', Escapes::None)?),
            byte if is_of_word(*byte) => {
                let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
                self.at += length;
                Token::Word(&rest[..length])
            }
            byte => {
                self.at += 1;
                Token::Mark(*byte)
            }
        }))
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.bytes[self.at..];
            let length = match rest {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
                [b'#', ..] | [b'-', b'-', b' ' | b'\t' | b'\r' | b'\n', ..] => {
                    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
                }
                [b'/', b'*', comment @ ..] => {
                    let end = memmem::find(comment, b"*/");
                    if let Some(statement) = executed(&comment[..end.unwrap_or(comment.len())]) {
                        if is_change(statement) {
                            self.changes_at.push(self.line);
                        }
                        if sets_mode(statement) {
                            self.mode_at.get_or_insert(self.line);
                        }
                    }
                    end.map_or(rest.len(), |end| end + 4)
                }
                _ => return,
            };
            self.advance(length);
        }
    }

    /// Reads what is between two quotes.
    fn quoted(&mut self, quote: u8, escapes: Escapes) -> Result<Vec<u8>, Unclosed> {
        let unclosed = Unclosed { line: self.line };
        let mut text = Vec::new();
        self.advance(1);
        loop {
            let (byte, length) = match (&self.bytes[self.at..], escapes) {
                ([first, second, ..], _) if *first == quote && *second == quote => (quote, 2),
                ([first, ..], _) if *first == quote => {
                    self.advance(1);
                    return Ok(text);
                }
                // These are for patterns, and keep their backslash.
                ([b'\\', b'%' | b'_', ..], Escapes::Backslash) => (b'\\', 1),
                ([b'\\', escaped, ..], Escapes::Backslash) => (unescaped(*escaped), 2),
                ([byte, ..], _) => (*byte, 1),
                ([], _) => return Err(unclosed),
            };
            text.push(byte);
            self.advance(length);
        }
    }

    /// Goes on by a number of bytes, and counts their lines.
    fn advance(&mut self, length: usize) {
        let passed = &self.bytes[self.at..self.at + length];
        self.line += memchr::memchr_iter(b'\n', passed).count();
        self.at += length;
    }
}

/// Returns the part of a comment that a database executes, without the version.
fn executed(comment: &[u8]) -> Option<&[u8]> {
    let statement = comment
        .strip_prefix(b"!")
        .or_else(|| comment.strip_prefix(b"M!"))?;
    let version = statement.iter().take_while(|byte| byte.is_ascii_digit());
    Some(statement[version.count()..].trim_ascii())
}

/// Returns whether a statement, or a part of one, changes rows.
fn is_change(statement: &[u8]) -> bool {
    let word = statement.iter().take_while(|byte| is_of_word(**byte));
    let word = &statement[..word.count()];
    CHANGES.iter().any(|it| word.eq_ignore_ascii_case(it)) || statement.starts_with(b",")
}

/// Returns whether a text has the mode in which a backslash in a string is one.
pub(super) fn sets_mode(text: &[u8]) -> bool {
    text.windows(MODE.len())
        .any(|it| it.eq_ignore_ascii_case(MODE))
}

/// Whether a backslash changes the meaning of the next character.
#[derive(Clone, Copy)]
enum Escapes {
    Backslash,
    None,
}

/// Returns the character that one after a backslash represents.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        byte => byte,
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'$' | b'.' | b'@' | b'-' | b'+')
        || byte >= 128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut tokens = Tokens::new(text.as_bytes());
        std::iter::from_fn(|| tokens.next().unwrap()).collect()
    }

    #[test]
    fn strings_are_decoded_and_comments_skipped() {
        let text = |text: &str| Token::Text(text.as_bytes().to_vec());
        assert_eq!(
            all(
                "-- a 'b\n# c\n/*!40101 SET x='y' */; 'it''s', \"a\\\"b\\n\\\\\" NULL -12.5 `a``b`"
            ),
            [
                Token::Mark(b';'),
                text("it's"),
                Token::Mark(b','),
                text("a\"b\n\\"),
                Token::Word(b"NULL"),
                Token::Word(b"-12.5"),
                Token::Name(b"a`b".to_vec()),
            ]
        );
    }

    #[test]
    fn a_pattern_keeps_its_backslashes() {
        let text = Token::Text(br"a\%b\_c\d".to_vec());
        assert_eq!(all(r"'a\%b\_c\\d'"), [text]);
    }

    #[test]
    fn an_open_string_is_reported_with_its_line() {
        let mut tokens = Tokens::new(b"\n'a\nb");
        assert_eq!(tokens.next(), Err(Unclosed { line: 2 }));
    }
}
