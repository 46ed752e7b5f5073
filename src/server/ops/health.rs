//! `/healthz`: whether this server answers from a table, in the form of
//! draft-inadarei-api-health-check.

use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::mapping::Timestamp;

use crate::server::http::{Content, response};
use crate::server::state::Shared;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
    revision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'static str>,
}

/// Returns the reason for sending requests elsewhere, if there is one.
pub(crate) fn problem(shared: &Shared) -> Option<&'static str> {
    if shared.lifecycle.is_draining() {
        Some("draining")
    } else if shared.live.load().is_none() {
        Some("no table is live yet")
    } else {
        None
    }
}

/// Returns the reason for an orchestrator to send no requests here, if there is one.
///
/// Beyond [`problem`], it reports a table that may be stale, if the operator has set a limit.
pub(super) fn unreadiness(shared: &Shared, now: Timestamp) -> Option<&'static str> {
    problem(shared).or_else(|| is_stale(shared, now).then_some("the last fetch is too long ago"))
}

fn is_stale(shared: &Shared, now: Timestamp) -> bool {
    let Some((limit, fetching)) = shared.max_staleness.zip(shared.source.fetching()) else {
        return false;
    };
    let fetched = fetching.last_success.unwrap_or(shared.started);
    let age = now.unix().saturating_sub(fetched.unix());
    u64::try_from(age).is_ok_and(|age| age > limit.as_secs())
}

/// Returns the answer to `/healthz`.
pub(crate) fn answer(shared: &Shared) -> Response<Content> {
    let problem = problem(shared);
    let (status, word) = match problem {
        None => (StatusCode::OK, "pass"),
        Some(_) => (StatusCode::SERVICE_UNAVAILABLE, "fail"),
    };
    let live = shared.live.load();
    let health = Health {
        status: word,
        version: VERSION,
        revision: live.as_ref().map(|live| live.revision.to_string()),
        output: problem,
    };
    let media_type = HeaderValue::from_static("application/health+json");
    let response = response::json(status, media_type, &health);
    response::with(response, CACHE_CONTROL, "no-store")
}
