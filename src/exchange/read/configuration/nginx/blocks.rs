//! The directives of a configuration as a tree of blocks.

use crate::exchange::read::configuration::directives::{DirectiveKind, Directives};
use crate::exchange::read::rows::RowError;

/// A directive with what is between its braces.
#[derive(Debug)]
pub(super) struct Block {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    pub(super) words: Vec<String>,
    pub(super) inner: Vec<Block>,
}

const UNOPENED: RowError =
    RowError::NoLink("this brace closes no block, so nothing of the file is imported");

const UNCLOSED: RowError = RowError::NoLink(
    "the block that starts here is not closed, so nothing of the file is imported",
);

const TOO_DEEP: RowError =
    RowError::NoLink("too many blocks are inside of each other, so nothing is imported");

/// How deep blocks may be inside of each other.
const MOST_LEVELS: usize = 64;

impl Block {
    /// Returns the words after the name, if it has this name.
    pub(super) fn named(&self, name: &str) -> Option<Vec<&str>> {
        let (own, rest) = self.words.split_first()?;
        (own == name).then(|| rest.iter().map(String::as_str).collect())
    }
}

/// Returns the outermost blocks of a text.
///
/// # Errors
///
/// Returns the line of what nginx does not accept, for which it refuses the whole file, or of a block that is inside
/// of too many others.
pub(super) fn blocks(text: &str) -> Result<Vec<Block>, (usize, RowError)> {
    let mut open: Vec<Block> = Vec::new();
    let mut outermost = Vec::new();
    let mut add = |open: &mut Vec<Block>, block| match open.last_mut() {
        Some(parent) => parent.inner.push(block),
        None => outermost.push(block),
    };
    for directive in Directives::of(text) {
        let directive = directive?;
        let block = Block {
            line: directive.line,
            words: directive.words,
            inner: Vec::new(),
        };
        match directive.kind {
            DirectiveKind::Simple => add(&mut open, block),
            DirectiveKind::Block if open.len() == MOST_LEVELS => {
                return Err((block.line, TOO_DEEP));
            }
            DirectiveKind::Block => open.push(block),
            DirectiveKind::End => {
                let closed = open.pop().ok_or((block.line, UNOPENED))?;
                add(&mut open, closed);
            }
        }
    }
    match open.pop() {
        Some(block) => Err((block.line, UNCLOSED)),
        None => Ok(outermost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::read::configuration::nginx::read;
    use crate::exchange::read::rows::testing::{read_by, refused};

    #[test]
    fn blocks_that_are_too_deep_are_refused() {
        for levels in [MOST_LEVELS, MOST_LEVELS + 1, 20_000] {
            let text = "location /a {\n".repeat(levels) + &"}".repeat(levels);
            let found = blocks(&text).map_err(|(line, _)| line);
            let expected = (levels > MOST_LEVELS).then_some(MOST_LEVELS + 1);
            assert_eq!(found.err(), expected);
        }
    }

    #[test]
    fn nothing_of_a_file_with_an_error_is_imported() {
        let link = "server {\nlocation = /a { return 301 https://e.org/; }\n";
        for (rest, line) in [
            ("", 1),
            ("}\n}", 4),
            ("location = /b { return 301 https://e.org/ }\n}", 3),
            ("location = /b { return 301 https://e.org/;\n}", 1),
            ("location = /b {\nreturn 301 'https://e.org/;\n}\n}", 4),
            ("}\nreturn 301 https://e.org/", 4),
            ("add_header a 'b'c;\n}", 3),
            ("return 404;;\n}", 3),
        ] {
            let rows = read_by(read, &*format!("{link}{rest}"));
            assert_eq!(rows.len(), 1, "{rest}: {rows:?}");
            let refused = refused(&rows);
            assert!(refused[0].starts_with(&format!("{line}: ")), "{refused:?}");
        }
    }
}
