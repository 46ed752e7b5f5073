//! Codes that differ only in case, which some servers cannot distinguish, and which others find first for a table
//! that finds codes in any case.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use crate::mapping::{Case, Site, fold_case};

use crate::exchange::write::rows::{CodeRow, SortedEntries};

/// The codes of a site that equal another code except for the case of ASCII letters, or of all letters if the site
/// finds codes in any case.
///
/// Folded codes are stored only as hashes. A hash collision is harmless: both codes are then
/// treated as alike.
pub(super) struct Alike {
    hasher: RandomState,
    alike: HashSet<u64>,
}

impl Alike {
    pub(super) fn of(order: &SortedEntries<'_>) -> Self {
        let hasher = RandomState::new();
        let (mut seen, mut alike) = (HashSet::new(), HashSet::new());
        for row in order.rows() {
            let hash = hasher.hash_one(folded(&row));
            if !seen.insert(hash) {
                alike.insert(hash);
            }
        }
        Self { hasher, alike }
    }

    pub(super) fn contains(&self, row: &CodeRow<'_>) -> bool {
        let hash = || self.hasher.hash_one(folded(row));
        !self.alike.is_empty() && self.alike.contains(&hash())
    }
}

fn folded(row: &CodeRow<'_>) -> String {
    match row.entry.site().about().case() {
        Case::Exact => row.code.to_ascii_lowercase(),
        Case::Fold => fold_case(&row.code).into_owned(),
    }
}

/// Returns the codes of a site that differ from another one only in the case of ASCII letters, with
/// codes that are alike next to each other.
pub fn alike_but_for_case(site: &Site) -> Vec<String> {
    let order = SortedEntries::of(site);
    let alike = Alike::of(&order);
    let codes = order.rows().filter(|row| alike.contains(row));
    let mut codes: Vec<_> = codes.map(|row| row.code.into_owned()).collect();
    codes.sort_by_cached_key(|code| (code.to_ascii_lowercase(), code.clone()));
    codes
}
