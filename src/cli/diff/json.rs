//! Changes for programs: one JSON document, described in `docs/reviewing.md`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::comparison::Comparison;
use crate::mapping::{Change, Entry, SiteChange};

/// The version of the format: it increases with each incompatible change.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct DiffJson<'t> {
    version: u32,
    base: String,
    head: Option<String>,
    counts: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sites: Vec<ReportedSiteChange<'t>>,
    changes: Vec<ReportedChange<'t>>,
}

/// A change of a key of a site.
#[derive(Serialize)]
struct ReportedSiteChange<'t> {
    kind: &'static str,
    base_url: &'t str,
    before: Option<&'t str>,
    after: Option<&'t str>,
    file: Option<&'t str>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct ReportedChange<'t> {
    kind: &'static str,
    breaks_a_link: bool,
    code: &'t str,
    short_url: String,
    before: Option<String>,
    after: Option<String>,
    old: Option<Side>,
    new: Option<Side>,
}

/// An entry, and its place.
#[derive(Serialize)]
struct Side {
    code: String,
    target: Option<String>,
    file: String,
    line: u32,
    column: u32,
}

/// Writes all changes.
pub(super) fn write(out: &mut impl Write, comparison: &Comparison<'_>) -> io::Result<()> {
    let document = DiffJson {
        version: VERSION,
        base: comparison.base.to_string(),
        head: comparison.head.map(|head| head.to_string()),
        counts: comparison.counts().into_iter().collect(),
        sites: comparison.sites.iter().map(site_item).collect(),
        changes: comparison.changes.iter().map(item).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn site_item<'t>(change: &SiteChange<'t>) -> ReportedSiteChange<'t> {
    let place = change.place();
    ReportedSiteChange {
        kind: change.kind.name(),
        base_url: change.site.base_url().as_str(),
        before: change.before(),
        after: change.after(),
        file: place.map(|place| &*place.file),
        line: place.map(|place| place.position.line),
        column: place.map(|place| place.position.column),
    }
}

fn item<'t>(change: &'t Change<'_>) -> ReportedChange<'t> {
    ReportedChange {
        kind: change.kind.name(),
        breaks_a_link: change.kind.breaks_a_link(),
        code: &change.code,
        short_url: change.short_url(),
        before: change.before(),
        after: change.after(),
        old: change.old.map(|old| Side {
            target: target(old).filter(|_| !change.is_takedown),
            ..side(old)
        }),
        new: change.new.map(side),
    }
}

fn side(entry: Entry<'_>) -> Side {
    let place = entry.place();
    Side {
        code: entry.code().into_owned(),
        target: target(entry),
        file: place.file.to_string(),
        line: place.position.line,
        column: place.position.column,
    }
}

fn target(entry: Entry<'_>) -> Option<String> {
    entry.target().map(|target| target.into_owned())
}
