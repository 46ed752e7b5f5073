//! A link in JSON, for programs.
//!
//! Keys may be added to it; any other change is one of the format.

use serde::Serialize;

use super::conclusion::Conclusion;
use crate::linkcheck::conclude::{LinkRecord, Seen};

/// A link and its result.
#[derive(Debug, Serialize)]
pub struct ReportedLink<'c> {
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

impl<'c> ReportedLink<'c> {
    /// Reports the conclusion about a link.
    pub fn of(conclusion: &'c Conclusion<'_>) -> Self {
        let link = &*conclusion.link;
        let record = conclusion.record.as_ref();
        let since = record.and_then(LinkRecord::since);
        let last_ok = record.and_then(LinkRecord::last_ok);
        let named = link.uses.iter().find_map(|it| it.archive.as_deref());
        Self {
            target: &link.target,
            codes: link.uses.iter().map(|it| &*it.code).collect(),
            verdict: conclusion.verdict.name(),
            since: since.map(|time| time.to_string()),
            last_ok: last_ok.map(|time| time.to_string()),
            status: record.and_then(LinkRecord::seen).and_then(Seen::status),
            moved_to: conclusion.moved_to(),
            detail: conclusion.detail.as_deref(),
            strikes: record.map(LinkRecord::strikes).unwrap_or_default(),
            archive: named.or(conclusion.copy()),
        }
    }
}
