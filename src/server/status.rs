//! The status: what operators are told about the live table and its source, in JSON.

use serde::Serialize;

use crate::mapping::Diagnostic;
use crate::source::Revision;

use super::Shared;
use super::live::{LastError, LastReload};

/// Everything under `/-/status`.
#[derive(Serialize)]
pub(super) struct Status {
    revision: Option<RevisionView>,
    sites: Vec<SiteView>,
    entries: usize,
    source: String,
    last_reload: Option<ReloadView>,
    last_error: Option<ErrorView>,
}

#[derive(Serialize)]
pub(super) struct RevisionView {
    commit: Option<String>,
    dirty: bool,
    hash: String,
    time: Option<String>,
}

#[derive(Serialize)]
struct SiteView {
    base_url: String,
    entries: usize,
}

#[derive(Serialize)]
struct ReloadView {
    time: String,
    seconds: f64,
    result: &'static str,
}

#[derive(Serialize)]
pub(super) struct ErrorView {
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    result: &'static str,
    message: String,
    revision: Option<RevisionView>,
    diagnostics: Vec<DiagnosticView>,
}

#[derive(Serialize)]
struct DiagnosticView {
    severity: &'static str,
    file: String,
    line: u32,
    column: u32,
    message: String,
    hint: Option<String>,
}

impl Status {
    /// Returns what is known now.
    pub(super) fn of(shared: &Shared) -> Self {
        let live = shared.live.load();
        let history = shared.live.history().clone();
        let sites = live.as_ref().map_or(&[][..], |live| live.table.sites());
        Self {
            revision: live.as_ref().map(|live| (&live.revision).into()),
            sites: sites
                .iter()
                .map(|site| SiteView {
                    base_url: site.base_url().as_str().to_owned(),
                    entries: site.len(),
                })
                .collect(),
            entries: live.as_ref().map_or(0, |live| live.table.len()),
            source: shared.source.clone(),
            last_reload: history.last_reload.as_ref().map(ReloadView::from),
            last_error: history.last_error.as_ref().map(ErrorView::since),
        }
    }
}

impl From<&Revision> for RevisionView {
    fn from(revision: &Revision) -> Self {
        Self {
            commit: revision.commit().map(str::to_owned),
            dirty: revision.is_dirty(),
            hash: revision.hash().to_owned(),
            time: revision.time().map(|time| time.to_string()),
        }
    }
}

impl From<&LastReload> for ReloadView {
    fn from(reload: &LastReload) -> Self {
        Self {
            time: reload.at.to_string(),
            seconds: reload.took.as_secs_f64(),
            result: reload.result.as_str(),
        }
    }
}

impl ErrorView {
    fn since(last: &LastError) -> Self {
        Self {
            since: Some(last.since.to_string()),
            ..Self::from(&*last.error)
        }
    }
}

impl From<&super::LoadError> for ErrorView {
    fn from(error: &super::LoadError) -> Self {
        Self {
            since: None,
            result: error.result().as_str(),
            message: error.chain(),
            revision: error.revision().map(RevisionView::from),
            diagnostics: error
                .diagnostics()
                .iter()
                .map(DiagnosticView::from)
                .collect(),
        }
    }
}

impl From<&Diagnostic> for DiagnosticView {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.as_str(),
            file: diagnostic.place.file.to_string(),
            line: diagnostic.place.position.line,
            column: diagnostic.place.position.column,
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
        }
    }
}
