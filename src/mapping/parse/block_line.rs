//! The lines of block form: keys, scalars and comments, as far as `block.rs` supports them.

use memchr::memchr2_iter;

use super::node::{Node, tight_comment};
use super::stop::Declined;
use crate::mapping::value::Position;

/// The maximum length of a key here, in bytes: a table has none that is longer, and YAML has a
/// limit too.
const MAX_KEY: usize = 64;

/// A line without its indentation.
pub(super) struct IndentedLine<'t> {
    pub(super) text: &'t str,
    /// The column of the text, from 0.
    pub(super) indent: usize,
    /// The number of the line, from 1.
    pub(super) number: u32,
}

impl IndentedLine<'_> {
    /// Returns the column of the text after a dash.
    pub(super) fn item(&self) -> usize {
        let text = self.text[1..].trim_start_matches(' ');
        self.indent + self.text.len() - text.len()
    }

    /// Returns the position of a column, from 0.
    pub(super) fn position(&self, column: usize) -> Position {
        Position {
            line: self.number,
            // A line is shorter than its file, whose size fits in 32 bits.
            column: u32::try_from(column + 1).unwrap_or(u32::MAX),
        }
    }
}

/// Splits `key: value` and `key:`; the value is the text after the colon.
pub(super) fn split_key(text: &str) -> Option<(&str, &str)> {
    let is_of_key = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let colon = text.bytes().take(MAX_KEY).position(|b| !is_of_key(b))?;
    let (key, value) = text.split_at(colon);
    let value = value.strip_prefix(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_key && (value.is_empty() || value.starts_with(' '))).then_some((key, value))
}

/// Returns the plain scalar at the start of a text; a comment may follow it.
pub(super) fn plain(text: &str) -> Result<Node<'_>, Declined> {
    let bytes = text.as_bytes();
    let begins = match bytes {
        [b'-', next, ..] => next.is_ascii_alphanumeric() || matches!(next, b'-' | b'_'),
        [first, ..] => {
            first.is_ascii_alphanumeric() || !first.is_ascii() || b"/._~".contains(first)
        }
        [] => false,
    };
    if !begins {
        return Err(Declined);
    }
    let (mut end, mut comment) = (bytes.len(), None);
    for at in memchr2_iter(b' ', b':', bytes) {
        match (bytes[at], bytes.get(at + 1)) {
            (b' ', Some(b'#')) => {
                end = at;
                comment = tight_comment(&text[at + 1..]);
                break;
            }
            (b':', None | Some(b' ')) => return Err(Declined),
            _ => {}
        }
    }
    printable(text)?;
    Ok(Node::Scalar {
        text: text[..end].trim_end_matches(' ').into(),
        plain: true,
        tight_comment: comment,
    })
}

/// Declines any text after a quote or a bracket, except a comment.
pub(super) fn nothing_more(rest: &str) -> Result<(), Declined> {
    let comment = rest.trim_start_matches(' ');
    let is_comment = comment.starts_with('#') && comment.len() < rest.len();
    if comment.is_empty() || is_comment {
        printable(comment)
    } else {
        Err(Declined)
    }
}

/// Declines controls, and characters that some version of YAML treats as controls.
pub(super) fn printable(text: &str) -> Result<(), Declined> {
    let is_ascii = text
        .bytes()
        .fold(true, |all, byte| all & (0x20..0x7f).contains(&byte));
    let is_odd = |c: char| {
        c.is_control()
            || matches!(
                c,
                '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            )
    };
    if is_ascii || !text.contains(is_odd) {
        Ok(())
    } else {
        Err(Declined)
    }
}
