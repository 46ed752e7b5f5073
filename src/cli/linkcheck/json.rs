//! One JSON document: every link of the table, with what is known.
//!
//! Keys may be added to it; any other change increases the version.

use std::io::{self, Write};

use serde::Serialize;

use super::conclusions::{Conclusion, Conclusions};
use crate::linkcheck::{LinkRecord, Seen};

const VERSION: u32 = 1;

#[derive(Serialize)]
struct JsonReport<'c> {
    version: u32,
    links: Vec<ReportedLink<'c>>,
}

#[derive(Serialize)]
struct ReportedLink<'c> {
    target: &'c str,
    codes: Vec<&'c str>,
    verdict: &'static str,
    since: Option<String>,
    last_ok: Option<String>,
    status: Option<u16>,
    moved_to: Option<&'c str>,
    detail: Option<&'c str>,
    strikes: u8,
    archive: Option<&'c str>,
}

pub(super) fn write(conclusions: &Conclusions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let document = JsonReport {
        version: VERSION,
        links: conclusions.all.iter().map(reported).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn reported<'c>(conclusion: &'c Conclusion<'_>) -> ReportedLink<'c> {
    let record = conclusion.record.as_ref();
    let uses = &conclusion.link.uses;
    ReportedLink {
        target: &conclusion.link.target,
        codes: uses.iter().map(|it| &*it.code).collect(),
        verdict: conclusion.verdict.name(),
        since: record.and_then(LinkRecord::since).map(|it| it.to_string()),
        last_ok: record
            .and_then(LinkRecord::last_ok)
            .map(|it| it.to_string()),
        status: record.and_then(LinkRecord::seen).and_then(Seen::status),
        moved_to: conclusion.moved_to(),
        detail: conclusion.detail.as_deref(),
        strikes: record.map(LinkRecord::strikes).unwrap_or_default(),
        archive: uses.iter().find_map(|it| it.archive.as_deref()),
    }
}
