//! Promises that a site breaks when the case of letters counts again: links in another case no longer work.

use std::collections::HashSet;

use super::broken::{Broken, Link, Origin};
use crate::mapping::packed::{Site, Table};
use crate::mapping::value::{Case, Diagnostic, Place, Position, Rule};

/// Returns an error for each site of an old table in which case did not count, and in a new one does.
pub(super) fn breaches(old: &Table, origin: &Origin, new: &Table) -> Vec<Broken> {
    report((old, origin), new, |_| true)
}

/// Reports the sites with the given addresses, where an old table has them.
pub fn report_exact_case(
    old: &Table,
    origin: &Origin,
    new: &Table,
    known: &HashSet<String>,
) -> Vec<Broken> {
    report((old, origin), new, |site| known.contains(&site.address()))
}

/// Returns whether a site finds codes in any case.
pub(in crate::mapping::compare) fn folds_case(site: &Site) -> bool {
    site.about().case() == Case::Fold
}

fn report(
    (old, origin): (&Table, &Origin),
    new: &Table,
    is_chosen: impl Fn(&Site) -> bool,
) -> Vec<Broken> {
    let sites = old.sites().iter().filter(|site| is_chosen(site));
    let broken = sites.filter_map(|was| {
        let now = new.counterpart(was)?;
        let place = was.about().folded_at().filter(|_| !folds_case(now))?;
        let Origin { commit, day } = origin;
        let hint = format!(
            "it had \"case: fold\" ({commit}:{}:{}, {day}); restore it",
            place.file, place.position.line
        );
        let message = "codes of the site are no longer found in any case";
        let file = now.files().next()?.into();
        let place = Place::new(&file, Position::START);
        Some(Broken {
            link: Link::new(was, ""),
            diagnostic: Diagnostic::new(Rule::PublishedCaseExact, place, message).with_hint(hint),
        })
    });
    broken.collect()
}
