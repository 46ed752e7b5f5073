//! The outcome of a check of the source: recorded for operators, and logged if it is new.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use tracing::{error, info};

use crate::mapping::Timestamp;
use crate::server::state::{LastError, LastReload, LoadError, Reloaded, Shared};

/// The maximum number of logged diagnostics of a rejected table; the status shows all.
const LOGGED: usize = 20;

/// The outcome of one check of the source, for callers that wait for it.
#[derive(Debug, Clone)]
pub(crate) enum ReloadReport {
    /// The source's table is live.
    Live(Reloaded),
    /// The source's table cannot go live.
    Refused(Arc<LoadError>),
}

/// Records the outcome of a check that began at `began`, and logs it if it is new.
pub(super) fn record(
    shared: &Shared,
    began: Instant,
    ended: Result<Reloaded, Arc<LoadError>>,
) -> ReloadReport {
    let at = Timestamp::from(SystemTime::now());
    let took = began.elapsed();
    let result = match &ended {
        Ok(result) => *result,
        Err(error) => error.result(),
    };
    let mut history = shared.live.history();
    history.last_reload = Some(LastReload { at, took, result });
    let report = match ended {
        Ok(result) => {
            let was_bad = history.last_error.take().is_some();
            if was_bad && result == Reloaded::Unchanged {
                info!("the source holds the live table again");
            }
            ReloadReport::Live(result)
        }
        Err(error) => {
            let known = history.last_error.take();
            let same = known.filter(|known| known.error.is_same(&error));
            let since = same.map(|known| known.since);
            if since.is_none() {
                let live = shared.live.load_full();
                log(&error, live.map(|live| live.table.len()));
            }
            history.last_error = Some(LastError {
                since: since.unwrap_or(at),
                error: Arc::clone(&error),
            });
            ReloadReport::Refused(error)
        }
    };
    drop(history);
    shared.metrics.reloaded(result, took, at);
    shared.live.notify_looked_at();
    report
}

/// Returns the outcome of the last check.
pub(super) fn last(shared: &Shared) -> Result<Reloaded, Arc<LoadError>> {
    match &shared.live.history().last_error {
        Some(last) => Err(Arc::clone(&last.error)),
        None => Ok(Reloaded::Unchanged),
    }
}

/// Logs why a table is not loaded; `links` is the size of the one that stays live, if any.
fn log(error: &LoadError, links: Option<usize>) {
    let Some(revision) = error.revision() else {
        error!(error = error.chain(), "cannot load the table");
        return;
    };
    let diagnostics = error.diagnostics();
    let errors = diagnostics.iter().filter(|one| one.is_error()).count();
    let links = links.map(|links| links as u64);
    error!(%revision, errors = errors as u64, links, "table rejected");
    for diagnostic in diagnostics.iter().take(LOGGED) {
        let (place, hint) = (&diagnostic.place, diagnostic.hint.as_deref());
        let (severity, rule) = (diagnostic.severity().as_str(), diagnostic.rule.name());
        let problem = &*diagnostic.message;
        error!(%place, severity, rule, problem, hint, "in the rejected table");
    }
    if let Some(more @ 1..) = diagnostics.len().checked_sub(LOGGED) {
        error!(more, "the status shows the rest");
    }
}
