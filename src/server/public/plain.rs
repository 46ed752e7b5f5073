//! Plain requests, answered without hyper: the answers are the same, assembled from prepared parts.

use std::time::Instant;

use hyper::{Method, Response};

use super::answers::{ListenerPurpose, PublicClient};
use super::{redirect, route};
use crate::mapping::{Outcome, ServerPage};
use crate::server::http::response_head::write_head;
use crate::server::http::{Answered, Content, Moment, PlainRequest, response};
use crate::server::net::AnswersPlain;

impl AnswersPlain for PublicClient {
    fn is_on(&self) -> bool {
        self.public.fast_path && matches!(self.public.purpose, ListenerPurpose::Links { .. })
    }

    fn answer(
        &self,
        request: &PlainRequest<'_, '_>,
        began: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Instant> {
        let path = request.path;
        if self.public.closes_connections() || has_own_page(path) || ServerPage::at(path).is_some()
        {
            return None;
        }
        let shared = &*self.public.shared;
        let live = shared.live.load();
        let snapshot = live.as_ref()?;
        let now = Moment::at(began);
        let asked = match snapshot.table.sites() {
            // It answers for any host.
            [_] => request.asked_of_any_host(),
            _ => request.asked(),
        };
        let answered = match snapshot.table.resolve(&asked, now.timestamp) {
            Outcome::Redirect(hit) => {
                if !redirect::write(out, &hit, &now) {
                    return None;
                }
                redirect::answered(&hit)
            }
            Outcome::SiteRedirect(redirect) => {
                if !redirect::write_site(out, &redirect, &now) {
                    return None;
                }
                redirect::answered_site(&redirect)
            }
            Outcome::NotFound(site) => {
                let headers = request.headers()?;
                let page = route::context(shared, &headers, Some(snapshot), now.timestamp);
                write(out, request.is_head, page.not_found(site, path), &now);
                Answered::NotFound
            }
            _ => return None,
        };
        let at = Instant::now();
        self.counts.answered(answered, at.duration_since(began));
        Some(at)
    }
}

/// Returns whether a path may be that of a page below a base URL. Nearly all paths have a single slash, for
/// which this is faster than a search for a text.
fn has_own_page(path: &str) -> bool {
    let rest = path.as_bytes().get(1..).unwrap_or_default();
    // Without an early exit, which would take longer than to look at the rest.
    let has_slash = rest.iter().fold(false, |has, byte| has | (*byte == b'/'));
    has_slash && path.contains("/-/")
}

/// Appends an answer whose content is complete.
fn write(out: &mut Vec<u8>, is_head: bool, response: Response<Content>, now: &Moment) {
    let method = if is_head { Method::HEAD } else { Method::GET };
    let (parts, content) = response::for_method(&method, response).into_parts();
    write_head(out, parts.status, &parts.headers, now);
    out.extend_from_slice(&content.into_whole().unwrap_or_default());
}
