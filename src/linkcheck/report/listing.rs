//! The links of a site that do not simply work, found by visiting its table: a server keeps no
//! separate list of them.

use std::collections::HashSet;

use super::known::KnownLinks;
use crate::linkcheck::check::TableLink;
use crate::mapping::{Site, Table, Timestamp};

/// Returns the links of a site whose verdict is worth reporting, in the order of the table.
pub fn troubled_links<'t>(
    table: &'t Table,
    site: &'t Site,
    known: &'t KnownLinks,
    now: Timestamp,
) -> impl Iterator<Item = TableLink> + 't {
    let mut seen = HashSet::new();
    let targets = site
        .entries()
        .flat_map(|entry| entry.targets().chain(entry.urls_of_paths()));
    targets.filter_map(move |target| {
        let verdict = known.summary(&target).verdict;
        let is_new = verdict.rule().is_some() && seen.insert(target.to_string());
        is_new.then(|| TableLink::of_site(table, site, &target, now))?
    })
}
