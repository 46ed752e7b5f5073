//! `/-/links`: the list of links, as a page or in JSON.

use std::time::SystemTime;

use hyper::body::Incoming;
use hyper::header::VARY;
use hyper::{Method, Request, Response};

use crate::mapping::Timestamp;

use super::own_path::OwnPath;
use super::route;
use crate::server::http::{
    Answered, Content, Counts, misdirected, only_read, request as head, response, unavailable,
};
use crate::server::links::{ListQuery, Search, Selection};
use crate::server::pages::{PageContext, VARIES};
use crate::server::state::{Shared, Snapshot};

/// Returns whether a request may be for a list of links; [`answer`] answers it in any case.
pub(super) fn may_be_addressed<B>(request: &Request<B>) -> bool {
    request.uri().path().ends_with("/-/links")
}

/// Answers a request and counts it.
pub(super) async fn answer(
    shared: &Shared,
    counts: &Counts,
    request: Request<Incoming>,
) -> Response<Content> {
    // Its content is dropped only once it is answered.
    let (head, _content) = request.into_parts();
    let request = Request::from_parts(head, ());
    let (answered, response) = match begin(shared, &request) {
        None => return route::answer(shared, counts, &request, false),
        Some(Err((answered, response))) => (answered, response),
        Some(Ok(search)) => {
            let headers = request.headers().clone();
            let context = route::context(shared, &request, None, search.now);
            let variant = context.list_variant();
            let write = move |snapshot: &Snapshot, selection: &Selection<'_>| {
                let revision = &snapshot.short;
                PageContext {
                    revision,
                    ..context
                }
                .links(selection)
            };
            let answer = search
                .answer(&shared.searches, headers, variant, write)
                .await;
            let answered = answer.is_some().then_some(Answered::Page);
            let response = answer.unwrap_or_else(unavailable);
            // Also of one that is not sent again.
            (answered, response::with(response, VARY, VARIES))
        }
    };
    let response = route::explained(shared, &request, response);
    // Without a duration, which would be a search's and not a redirect's.
    if let Some(answered) = answered {
        counts.count(answered);
    }
    response
}

/// An answer, and as what it is counted.
type Counted = (Option<Answered>, Response<Content>);

/// Returns the search that a request asks for, or why there is none; `None` if the request is for
/// something else, or of a kind that is answered the same everywhere.
fn begin(shared: &Shared, request: &Request<()>) -> Option<Result<Search, Counted>> {
    let asked = head::read(request).ok()?;
    let live = shared.live.load_full().filter(|_| shared.is_public())?;
    let own = OwnPath::read(&live.table, &asked)?;
    if own.rest != "links" {
        return None;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(Err(only_read()));
    }
    let Some(site) = own.site else {
        return Some(Err(misdirected()));
    };
    let now = Timestamp::from(SystemTime::now());
    Some(match ListQuery::of_page(asked.query) {
        Ok(query) => Ok(Search::new(&live, site, query, now)),
        Err(error) => {
            let page = route::context(shared, request, Some(&live), now);
            let response = page.bad_list_query(site, error);
            Err((Some(Answered::BadRequest), response))
        }
    })
}
