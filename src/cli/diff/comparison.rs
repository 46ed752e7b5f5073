//! The comparison of two versions of a table, as every format writes it.

use crate::git::CommitId;
use crate::mapping::{Change, SiteChange, SiteChangeKind};

/// The changes, and the versions that were compared.
pub(super) struct Comparison<'t> {
    pub(super) base: CommitId,
    /// The new version; the work tree if `None`.
    pub(super) head: Option<CommitId>,
    pub(super) changes: Vec<Change<'t>>,
    /// The changes of sites, in their order.
    pub(super) sites: Vec<SiteChange<'t>>,
    /// Whether a code alone does not identify a link.
    pub(super) has_several_sites: bool,
}

impl Comparison<'_> {
    /// Returns the number of changes of each kind, those of sites first, then the most serious.
    pub(super) fn counts(&self) -> Vec<(&'static str, usize)> {
        let kinds = self.changes.chunk_by(|one, other| one.kind == other.kind);
        let of_links = kinds.map(|all| (all[0].kind.name(), all.len()));
        let of_sites = SiteChangeKind::ALL.into_iter().filter_map(|kind| {
            let changes = self.sites.iter().filter(|change| change.kind == kind);
            let count = changes.count();
            (count > 0).then_some((kind.name(), count))
        });
        of_sites.chain(of_links).collect()
    }

    /// Returns the counts as a line.
    pub(super) fn summary(&self) -> String {
        let counts = self.counts();
        if counts.is_empty() {
            return "no changes".to_owned();
        }
        let counted = counts.iter().map(|(kind, count)| format!("{count} {kind}"));
        counted.collect::<Vec<_>>().join(", ")
    }

    /// Returns the name of a link: its code, or with several sites its short link.
    pub(super) fn link(&self, change: &Change<'_>) -> String {
        link(change, self.has_several_sites)
    }

    /// Returns the place of a change: a removed entry was in the base, whose commit precedes it.
    pub(super) fn place(&self, change: &Change<'_>) -> String {
        match (change.place(), change.new) {
            (Some(place), Some(_)) => place.to_string(),
            (Some(place), None) => format!("{}:{place}", self.base.short()),
            (None, _) => String::new(),
        }
    }
}

impl Comparison<'_> {
    /// Returns the place of a change of a site: that of a key that is gone was in the base.
    pub(super) fn site_place(&self, change: &SiteChange<'_>) -> String {
        match (change.place(), change.new) {
            (Some(place), Some(_)) => place.to_string(),
            (Some(place), None) => format!("{}:{place}", self.base.short()),
            (None, _) => String::new(),
        }
    }
}

/// Returns the name of a link: its code, or with several sites its short link.
pub(super) fn link(change: &Change<'_>, has_several_sites: bool) -> String {
    match has_several_sites {
        true => change.short_url(),
        false => change.code.clone().into_owned(),
    }
}
