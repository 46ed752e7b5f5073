//! The directives of a site after the snippets that it imports were inserted.
//!
//! Each directive has a number of its own, because all those of an import are on the same line.

use std::collections::HashMap;

use super::blocks::Block;
use crate::exchange::read::rows::RowError;

/// The maximum number of directives after imports, and of imports inside of each other.
const MOST: usize = 200_000;
const MOST_LEVELS: usize = 16;

/// A directive.
#[derive(Debug)]
pub(super) struct Directive {
    /// Its number in [`Expansion::lines`].
    pub(super) number: usize,
    /// Its name and its arguments.
    pub(super) words: Vec<String>,
    pub(super) inner: Vec<Directive>,
}

/// Inserts snippets.
#[derive(Default)]
pub(super) struct Expansion<'b> {
    snippets: HashMap<&'b str, &'b [Block]>,
    /// The line of each directive, by its number.
    pub(super) lines: Vec<usize>,
    /// The numbers of directives that cannot be read, with the reason.
    pub(super) refused: Vec<(usize, RowError)>,
}

const INCLUDED: RowError = RowError::NoLink("a file that is imported is not read");

const TOO_MANY: RowError = RowError::NoLink("this imports too many directives");

impl Directive {
    /// Returns its name.
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns its arguments.
    pub(super) fn arguments(&self) -> Vec<&str> {
        self.words.iter().skip(1).map(String::as_str).collect()
    }

    /// Returns all words that it and the directives inside of it consist of.
    pub(super) fn has_word(&self, is_it: &dyn Fn(&str) -> bool) -> bool {
        let is_own = self.words.iter().any(|it| is_it(it));
        is_own || self.inner.iter().any(|it| it.has_word(is_it))
    }
}

/// The import because of which directives are inserted.
#[derive(Clone, Copy)]
struct Import<'a> {
    line: usize,
    arguments: &'a [String],
    level: usize,
}

impl<'b> Expansion<'b> {
    /// Adds a snippet.
    pub(super) fn add(&mut self, name: &'b str, blocks: &'b [Block]) {
        self.snippets.insert(name, blocks);
    }

    /// Returns the directives that blocks become.
    pub(super) fn of(&mut self, blocks: &[Block]) -> Vec<Directive> {
        let mut found = Vec::new();
        self.expand(blocks, None, &mut found);
        found
    }

    /// Returns the number of a line that is no directive of a site.
    pub(super) fn number(&mut self, line: usize) -> usize {
        self.lines.push(line);
        self.lines.len() - 1
    }

    fn expand(&mut self, blocks: &[Block], import: Option<Import<'_>>, found: &mut Vec<Directive>) {
        for block in blocks {
            let number = self.number(import.map_or(block.line, |it| it.line));
            let words = block.words.iter();
            let words = words.map(|it| with_arguments(it, import));
            let words: Vec<String> = words.collect();
            if import.is_some() && self.lines.len() > MOST {
                self.refused.push((number, TOO_MANY));
                return;
            }
            if block.name() != "import" {
                let mut inner = Vec::new();
                self.expand(block.inner(), import, &mut inner);
                found.push(Directive {
                    number,
                    words,
                    inner,
                });
                continue;
            }
            let level = import.map_or(0, |it| it.level + 1);
            let name = words.get(1).map_or("", String::as_str);
            match self.snippets.get(name).copied() {
                Some(_) if level >= MOST_LEVELS => self.refused.push((number, TOO_MANY)),
                Some(blocks) => {
                    let import = Import {
                        line: self.lines[number],
                        arguments: words.get(2..).unwrap_or_default(),
                        level,
                    };
                    self.expand(blocks, Some(import), found);
                }
                None => self.refused.push((number, INCLUDED)),
            }
        }
    }
}

/// Returns a word with the arguments of the import in the place of `{args[0]}` and `{args.0}`.
fn with_arguments(word: &str, import: Option<Import<'_>>) -> String {
    let Some(Import { arguments, .. }) = import.filter(|_| word.contains("{args")) else {
        return word.to_owned();
    };
    let mut expanded = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("{args") {
        expanded.push_str(before);
        let closed = after.split_once('}').and_then(|(name, after)| {
            let bracketed = || name.strip_prefix('[')?.strip_suffix(']');
            let number: usize = name.strip_prefix('.').or_else(bracketed)?.parse().ok()?;
            Some((arguments.get(number)?, after))
        });
        match closed {
            Some((argument, after)) => {
                expanded.push_str(argument);
                rest = after;
            }
            None => {
                expanded.push_str("{args");
                rest = after;
            }
        }
    }
    expanded.push_str(rest);
    expanded
}
