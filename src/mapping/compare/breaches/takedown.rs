//! Takedowns: entries that have dropped their target, which no output names from then on.

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter;
use std::slice;

use super::broken::Link;
use crate::mapping::packed::{Entry, Table};

/// Returns whether an old entry has been taken down: a code of it leads to an entry without a target in
/// a new table, or is among those known to have done so. If its site is gone, it may have another base
/// URL now, so every site counts.
pub(in crate::mapping::compare) fn is_taken_down(
    old: Entry<'_>,
    new: &Table,
    known: &HashSet<Link>,
) -> bool {
    if !old.has_target() {
        return false;
    }
    let sites = match new.counterpart(old.site()) {
        Some(site) => slice::from_ref(site),
        None => new.sites(),
    };
    let lacks_target = |code: &str| {
        let mut entries = sites
            .iter()
            .filter_map(|site| site.lookup_in_any_case(code));
        entries.any(|entry| !entry.has_target())
    };
    let mut codes = iter::once(old.code()).chain(old.aliases().map(Cow::Borrowed));
    codes.any(|code| {
        lacks_target(&code) || !known.is_empty() && known.contains(&Link::new(old.site(), &code))
    })
}
