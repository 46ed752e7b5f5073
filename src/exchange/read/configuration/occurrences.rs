//! The media types that an expression looks for in the value of `Accept`.

use regex_syntax::hir::{Hir, HirKind};

use super::pattern::parsed;
use super::written_paths::{joined, parts, texts_of};
use crate::mapping::MediaType;

/// The media types that an expression looks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Occurrences {
    pub(super) types: Vec<MediaType>,
    /// Whether it looks for something else, such as a part of a type.
    pub(super) has_others: bool,
}

/// A part of an expression that is being read.
#[derive(Default)]
struct Run {
    texts: Vec<Vec<u8>>,
    /// Whether a character in it may be repeated, as the `f` of `application/rdf+xml`, where `+` is
    /// not escaped: no type that a program sends contains that.
    is_repeated: bool,
}

impl Occurrences {
    /// Reads an expression without a `!` before it.
    pub(super) fn of(expression: &str) -> Self {
        let mut found = Self::default();
        match parsed(expression) {
            Some(hir) => found.add(&hir),
            None => found.has_others = true,
        }
        found
    }

    fn add(&mut self, hir: &Hir) {
        let mut run = Run::default();
        for part in parts(hir) {
            let is_once = repeated(part);
            let texts = texts_of(is_once.unwrap_or(part), &mut false);
            let next = texts.and_then(|texts| joined(&run.texts(), &texts));
            if let Some(next) = next {
                run.texts = next;
                run.is_repeated |= is_once.is_some();
                continue;
            }
            self.end(std::mem::take(&mut run));
            match part.kind() {
                HirKind::Capture(inner) => self.add(&inner.sub),
                HirKind::Repetition(it) if it.min == 0 && it.max == Some(1) => self.add(&it.sub),
                HirKind::Alternation(all) => all.iter().for_each(|it| self.add(it)),
                HirKind::Concat(_) => self.add(part),
                // What lies between the types, such as `.*`.
                _ => {}
            }
        }
        self.end(run);
    }

    fn end(&mut self, run: Run) {
        for text in &run.texts {
            let text = String::from_utf8_lossy(text).to_ascii_lowercase();
            let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || ",;".contains(c));
            // A range chooses nothing in a table.
            if text.is_empty() || text.contains('*') || run.is_repeated {
                continue;
            }
            match MediaType::parse(text) {
                Ok(it) if !self.types.contains(&it) => self.types.push(it),
                Ok(_) => {}
                Err(_) => self.has_others = true,
            }
        }
    }
}

impl Run {
    fn texts(&self) -> Vec<Vec<u8>> {
        match self.texts.is_empty() {
            true => vec![Vec::new()],
            false => self.texts.clone(),
        }
    }
}

/// Returns what a part repeats, if that is one text once or more.
fn repeated(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Repetition(it) if it.min == 1 && it.max.is_none() => match it.sub.kind() {
            HirKind::Literal(_) => Some(&it.sub),
            _ => None,
        },
        _ => None,
    }
}
