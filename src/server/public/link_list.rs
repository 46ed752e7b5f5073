//! `/-/links`: the list of links, as a page or in JSON.

use std::time::SystemTime;

use hyper::body::Incoming;
use hyper::header::VARY;
use hyper::{Method, Request, Response};

use crate::mapping::Timestamp;

use super::own_path::OwnPath;
use super::route;
use crate::server::http::{
    Answered, Content, CountedResponse, RequestCounts, misdirected, only_read, request as head,
    response, unavailable,
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
    counts: &RequestCounts,
    request: Request<Incoming>,
) -> Response<Content> {
    // Its content is dropped only after the answer.
    let (head, _content) = request.into_parts();
    let request = Request::from_parts(head, ());
    let answer = match begin(shared, &request) {
        None => return route::answer(shared, counts, &request),
        Some(Err(refusal)) => refusal,
        Some(Ok(search)) => {
            let headers = request.headers().clone();
            let context = route::context(shared, request.headers(), None, search.now);
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
            // This includes a 304 answer.
            (answered, response::with(response, VARY, VARIES))
        }
    };
    route::counted(shared, counts, &request, answer)
}

/// Returns the search for a request, or the reason for having none; `None` if the request is for
/// something else, or of a kind that is answered the same way everywhere.
fn begin(shared: &Shared, request: &Request<()>) -> Option<Result<Search, CountedResponse>> {
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
            let page = route::context(shared, request.headers(), Some(&live), now);
            let response = page.bad_list_query(site, error);
            Err((Some(Answered::BadRequest), response))
        }
    })
}
