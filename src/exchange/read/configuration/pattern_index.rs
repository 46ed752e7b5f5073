//! Expressions in their order, found by the text with which the paths that they match begin, in any case.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::exchange::read::rows::RowError;

/// The maximum number of expressions that are compared with a path, which bounds the effort.
const MOST: usize = 1000;

/// The reason for a path that may be matched by more.
pub(super) const TOO_MANY: RowError = RowError::NoLink("too many rules apply to similar paths");

/// The numbers of expressions, by the text with which the paths of each begin.
#[derive(Default)]
pub(super) struct PatternIndex {
    /// In lower case.
    by_prefix: BTreeMap<Vec<u8>, Vec<usize>>,
}

impl PatternIndex {
    /// Takes the text of each expression, in order.
    pub(super) fn new<'p>(prefixes: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut by_prefix: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, prefix) in prefixes.into_iter().enumerate() {
            by_prefix
                .entry(prefix.to_ascii_lowercase())
                .or_default()
                .push(number);
        }
        Self { by_prefix }
    }

    /// Returns those that may match a path, in order; `None` if there are too many.
    pub(super) fn near(&self, path: &[u8]) -> Option<Vec<usize>> {
        let path = path.to_ascii_lowercase();
        let mut found = Vec::new();
        for end in 0..=path.len() {
            found.extend(self.by_prefix.get(&path[..end]).into_iter().flatten());
            if found.len() > MOST {
                return None;
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// Returns those that may match a path that begins with a text, in order; `None` if there are too
    /// many.
    pub(super) fn below(&self, start: &[u8]) -> Option<Vec<usize>> {
        let mut found = self.near(start)?;
        let start = &start.to_ascii_lowercase()[..];
        let after = (Bound::Excluded(start), Bound::Unbounded);
        for (prefix, numbers) in self.by_prefix.range::<[u8], _>(after) {
            if !prefix.starts_with(start) {
                break;
            }
            found.extend(numbers);
            if found.len() > MOST {
                return None;
            }
        }
        found.sort_unstable();
        Some(found)
    }
}
