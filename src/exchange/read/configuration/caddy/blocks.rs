//! The directives of a Caddyfile as a tree of blocks: one directive per line, with what is between its braces.

use super::tokens::{Token, tokens};
use crate::exchange::read::rows::RowError;

/// A directive.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Its name and its arguments, without quotes.
    pub(super) words: Vec<String>,
    /// What is between its braces; `None` if it has none.
    pub(super) inner: Option<Vec<Block>>,
}

const UNOPENED: RowError = RowError::NoLink("this brace closes no block");

const UNCLOSED: RowError = RowError::NoLink("the block that starts here is not closed");

/// How deep blocks may be inside of each other.
const MOST_LEVELS: usize = 64;

impl Block {
    /// Returns its name, or nothing if it has none.
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns what is between its braces.
    pub(super) fn inner(&self) -> &[Block] {
        self.inner.as_deref().unwrap_or_default()
    }
}

/// Reads the outermost blocks of a text.
///
/// # Errors
///
/// Returns the line of what cannot be read.
pub(super) fn blocks(text: &str) -> Result<Vec<Block>, (usize, RowError)> {
    let mut outermost = Vec::new();
    let mut open: Vec<Block> = Vec::new();
    let mut current: Option<Block> = None;
    let tokens = tokens(text)?;
    for (at, token) in tokens.iter().enumerate() {
        let is_last = tokens.get(at + 1).is_none_or(|next| next.is_first);
        if token.is_first
            && let Some(block) = current.take()
        {
            add(&mut open, &mut outermost, block);
        }
        let is_brace = |text| !token.is_quoted && token.text == text;
        if is_brace("}") && token.is_first {
            let block = open.pop().ok_or((token.line, UNOPENED))?;
            add(&mut open, &mut outermost, block);
        } else if is_brace("{") && is_last {
            let mut block = current.take().unwrap_or_else(|| of(token));
            block.inner = Some(Vec::new());
            open.push(block);
            if open.len() > MOST_LEVELS {
                let error = RowError::NoLink("too many blocks are inside of each other");
                return Err((token.line, error));
            }
        } else {
            let block = current.get_or_insert_with(|| of(token));
            block.words.push(token.text.clone());
        }
    }
    if let Some(block) = current {
        add(&mut open, &mut outermost, block);
    }
    match open.pop() {
        Some(block) => Err((block.line, UNCLOSED)),
        None => Ok(outermost),
    }
}

fn of(token: &Token) -> Block {
    Block {
        line: token.line,
        ..Block::default()
    }
}

fn add(open: &mut [Block], outermost: &mut Vec<Block>, block: Block) {
    match open.last_mut() {
        Some(parent) => parent.inner.get_or_insert_default().push(block),
        None => outermost.push(block),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns blocks in one line.
    fn shown(blocks: &[Block]) -> String {
        let shown = blocks.iter().map(|it| match &it.inner {
            Some(inner) => format!("{}:{}{{{}}}", it.line, it.words.join(" "), shown(inner)),
            None => format!("{}:{};", it.line, it.words.join(" ")),
        });
        shown.collect()
    }

    #[test]
    fn blocks_are_read() {
        let text =
            "{\n\tdebug\n}\ns.code {\n\tredir /a {uri} \"{\"\n\thandle {\n\t\terror 404\n\t}\n}\n";
        let found = blocks(text).unwrap();
        assert_eq!(
            shown(&found),
            "1:{2:debug;}4:s.code{5:redir /a {uri} {;6:handle{7:error 404;}}"
        );
        for (text, line) in [("a {\nb\n", 1), ("a\n}\n", 2), ("a {\n\"b\n}\n", 2)] {
            assert_eq!(blocks(text).unwrap_err().0, line, "{text}");
        }
    }
}
