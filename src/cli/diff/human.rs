//! Changes for people at a terminal: by kind, the most serious first.

use std::io::{self, Write};

use super::comparison::{Comparison, link};
use crate::cli::terminal::legible;
use crate::mapping::{Change, SiteChangeKind};

/// Writes two lines per change: the change of a site or a link, and its place.
pub(super) fn write(out: &mut impl Write, comparison: &Comparison<'_>) -> io::Result<()> {
    let Comparison {
        changes,
        sites,
        has_several_sites,
        ..
    } = comparison;
    let of_kind = |kind| {
        sites
            .iter()
            .filter(move |it| it.kind == kind)
            .collect::<Vec<_>>()
    };
    let mut of_sites = SiteChangeKind::ALL.map(of_kind).to_vec();
    of_sites.retain(|changes| !changes.is_empty());
    for (number, changes) in of_sites.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} {}", changes.len(), changes[0].kind.name())?;
        for change in changes {
            let site = change.site.base_url().as_str();
            writeln!(out, "  {}", legible(&format!("{site}: {change}")))?;
            writeln!(out, "    at {}", legible(&comparison.site_place(change)))?;
        }
    }
    if !of_sites.is_empty() && !changes.is_empty() {
        writeln!(out)?;
    }
    write_changes(out, changes, *has_several_sites, |change| {
        comparison.place(change)
    })
}

/// Writes two lines per change, whose place is given.
pub(crate) fn write_changes(
    out: &mut impl Write,
    changes: &[Change<'_>],
    has_several_sites: bool,
    place: impl Fn(&Change<'_>) -> String,
) -> io::Result<()> {
    let kinds = changes.chunk_by(|one, other| one.kind == other.kind);
    for (number, changes) in kinds.enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} {}", changes.len(), changes[0].kind)?;
        for change in changes {
            let line = format!("{}: {}", link(change, has_several_sites), said(change));
            writeln!(out, "  {}", legible(&line))?;
            writeln!(out, "    at {}", legible(&place(change)))?;
        }
    }
    Ok(())
}

/// Returns the old and new value; for an addition or removal, only the existing one.
fn said(change: &Change<'_>) -> String {
    let none = || "none".to_owned();
    let unknown = || match change.conceals_before() {
        true => "not shown".to_owned(),
        false => none(),
    };
    let (before, after) = (change.before(), change.after());
    match (change.old, change.new) {
        (Some(_), None) => before.unwrap_or_else(unknown),
        (None, _) => after.unwrap_or_else(none),
        (Some(_), Some(_)) => format!(
            "{} → {}",
            before.unwrap_or_else(unknown),
            after.unwrap_or_else(none)
        ),
    }
}
