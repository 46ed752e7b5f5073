//! The status: a report to operators on the live table and its source, in JSON.

use serde::Serialize;

use crate::mapping::Diagnostic;
use crate::source::{Fetch, FetchResult, RemoteStatus, Revision};

use crate::server::fleet::{Fleet, FleetView};
use crate::server::state::{Fetching, LastError, LastReload, Shared};
use crate::server::tls::TlsView;

/// The whole of `/-/status`.
#[derive(Serialize)]
pub(crate) struct StatusDocument {
    revision: Option<RevisionView>,
    sites: Vec<SiteView>,
    entries: usize,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<RemoteView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<FleetView>,
    last_reload: Option<ReloadView>,
    last_error: Option<ErrorView>,
}

#[derive(Serialize)]
pub(crate) struct RevisionView {
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

/// The state of fetching; it contains no secret.
#[derive(Serialize)]
struct RemoteView {
    url: Option<String>,
    r#ref: Option<String>,
    seen_as: Option<String>,
    served: Option<CommitView>,
    tip: Option<String>,
    last_fetch: Option<FetchView>,
    last_success: Option<String>,
    last_error: Option<String>,
}

#[derive(Serialize)]
struct CommitView {
    commit: String,
    author_date: Option<String>,
    commit_date: Option<String>,
}

#[derive(Serialize)]
struct FetchView {
    time: String,
    seconds: f64,
    result: &'static str,
}

#[derive(Serialize)]
pub(crate) struct ErrorView {
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    result: &'static str,
    message: String,
    revision: Option<RevisionView>,
    diagnostics: Vec<DiagnosticView>,
}

#[derive(Serialize)]
struct DiagnosticView {
    rule: &'static str,
    severity: &'static str,
    file: String,
    line: u32,
    column: u32,
    message: String,
    hint: Option<String>,
}

impl StatusDocument {
    /// Returns the current status.
    pub(crate) fn of(shared: &Shared) -> Self {
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
            source: shared.source.describe(),
            remote: shared.source.fetching().map(|fetching| {
                let live = live.as_ref().map(|live| &live.revision);
                RemoteView::new(&fetching, live)
            }),
            tls: shared.tls.as_ref().map(|tls| tls.view()),
            fleet: shared.fleet.as_ref().map(Fleet::view),
            last_reload: history.last_reload.as_ref().map(ReloadView::from),
            last_error: history.last_error.as_ref().map(ErrorView::since),
        }
    }
}

impl RemoteView {
    fn new(fetching: &Fetching, live: Option<&Revision>) -> Self {
        let remote = fetching.remote.as_ref();
        let last = fetching.last.as_ref();
        let tip = remote.and_then(|remote| remote.tip);
        Self {
            url: remote.map(|remote| remote.remote.clone()),
            r#ref: remote.and_then(|remote| remote.reference.clone()),
            seen_as: remote.and_then(|remote| remote.seen_as.clone()),
            served: remote
                .zip(live)
                .and_then(|(remote, live)| CommitView::served(remote, live)),
            tip: tip
                .or_else(|| last.and_then(|fetch| fetch.tip))
                .map(|tip| tip.to_string()),
            last_fetch: last.map(FetchView::from),
            last_success: fetching.last_success.map(|time| time.to_string()),
            last_error: last.and_then(|fetch| fetch.error.clone()),
        }
    }
}

impl CommitView {
    /// Returns the live commit, which may not be the remote's newest.
    fn served(remote: &RemoteStatus, live: &Revision) -> Option<Self> {
        let commit = live.commit()?;
        let known = remote.served.as_ref().filter(|it| it.id == commit);
        Some(Self {
            commit: commit.to_string(),
            author_date: known.map(|it| it.authored.to_string()),
            commit_date: live.time().map(|time| time.to_string()),
        })
    }
}

impl From<&Fetch> for FetchView {
    fn from(fetch: &Fetch) -> Self {
        Self {
            time: fetch.at.to_string(),
            seconds: fetch.took.as_secs_f64(),
            result: fetch.result.as_str(),
        }
    }
}

impl From<&Revision> for RevisionView {
    fn from(revision: &Revision) -> Self {
        Self {
            commit: revision.commit().map(|commit| commit.to_string()),
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

impl From<&crate::server::state::LoadError> for ErrorView {
    fn from(error: &crate::server::state::LoadError) -> Self {
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

impl From<&Fetch> for ErrorView {
    fn from(failed: &Fetch) -> Self {
        let reason = failed.error.as_deref().unwrap_or("no reason is known");
        Self {
            since: None,
            result: failed.result.as_str(),
            message: match failed.result {
                FetchResult::Refused => reason.to_owned(),
                _ => format!("cannot fetch the latest: {reason}"),
            },
            revision: None,
            diagnostics: Vec::new(),
        }
    }
}

impl From<&Diagnostic> for DiagnosticView {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self {
            rule: diagnostic.rule.name(),
            severity: diagnostic.severity().as_str(),
            file: diagnostic.place.file.to_string(),
            line: diagnostic.place.position.line,
            column: diagnostic.place.position.column,
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
        }
    }
}
