//! Site pairs: a site in an old and in a new table, matched as requests choose it, by host and base
//! path.
//!
//! Two versions of a table mostly have nearly all pieces in common. Then only the entries of the other
//! pieces are visited: those of common pieces say the same in both, under the same codes.

use crate::mapping::packed::{Catalogue, Differing, Entry, Site};

/// A site in the old and in the new table.
pub(crate) struct SitePair<'t> {
    pub(crate) old: Catalogue<'t>,
    pub(crate) new: Catalogue<'t>,
    /// The entries that the versions need not have in common, if that is not all.
    differing: Option<Differing>,
}

impl<'t> SitePair<'t> {
    pub(crate) fn of(old: Option<&'t Site>, new: Option<&'t Site>) -> Self {
        if let (Some(old), Some(new)) = (old, new)
            && let Some(differing) = Differing::between(old, new)
        {
            return Self {
                old: Catalogue::for_few(old),
                new: Catalogue::for_few(new),
                differing: Some(differing),
            };
        }
        Self {
            old: Catalogue::new(old),
            new: Catalogue::new(new),
            differing: None,
        }
    }

    /// Returns the old entries, in the order of storage, without some that the new version has too.
    pub(crate) fn old_entries(&self) -> impl Iterator<Item = Entry<'t>> + use<'t> {
        chosen(&self.old, self.differing.as_ref().map(|it| &it.old))
    }

    /// Returns the new entries, in the order of storage, without some that the old version has too.
    pub(crate) fn new_entries(&self) -> impl Iterator<Item = Entry<'t>> + use<'t> {
        chosen(&self.new, self.differing.as_ref().map(|it| &it.new))
    }
}

fn chosen<'t>(
    all: &Catalogue<'t>,
    numbers: Option<&Vec<u32>>,
) -> impl Iterator<Item = Entry<'t>> + use<'t> {
    let entries: Vec<_> = match (numbers, all.site()) {
        (Some(numbers), Some(site)) => numbers.iter().map(|&number| site.entry(number)).collect(),
        _ => all.entries().collect(),
    };
    entries.into_iter()
}
