//! The directives of a configuration as a tree of blocks.

use crate::exchange::read::configuration::directives::{DirectiveKind, Directives};

/// A directive with what is between its braces.
pub(super) struct Block {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    pub(super) words: Vec<String>,
    pub(super) inner: Vec<Block>,
}

impl Block {
    /// Returns the words after the name, if it has this name.
    pub(super) fn named(&self, name: &str) -> Option<Vec<&str>> {
        let (own, rest) = self.words.split_first()?;
        (own == name).then(|| rest.iter().map(String::as_str).collect())
    }
}

/// Returns the outermost blocks of a text; one that is not closed ends with the text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut open: Vec<Block> = Vec::new();
    let mut outermost = Vec::new();
    let mut add = |open: &mut Vec<Block>, block| match open.last_mut() {
        Some(parent) => parent.inner.push(block),
        None => outermost.push(block),
    };
    for directive in Directives::of(text) {
        let block = Block {
            line: directive.line,
            words: directive.words,
            inner: Vec::new(),
        };
        match directive.kind {
            DirectiveKind::Simple => add(&mut open, block),
            DirectiveKind::Block => open.push(block),
            DirectiveKind::End => {
                if let Some(block) = open.pop() {
                    add(&mut open, block);
                }
            }
        }
    }
    while let Some(block) = open.pop() {
        add(&mut open, block);
    }
    outermost
}
