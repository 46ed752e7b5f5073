//! Searches: the links on a page of a list, found in the background.
//!
//! A search checks up to all entries of a site, which takes some hundredths of a second for a
//! million of them. Only a few run at once, for a limited time, and only while their clients wait.

use std::cell::Cell;
use std::sync::Arc;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{CACHE_CONTROL, ETAG, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::mapping::{Entry, Site, Timestamp};

use super::list_query::ListQuery;
use crate::server::http::{Content, is_known, response};
use crate::server::reload::begin;
use crate::server::state::{SearchSlots, Snapshot};

/// How many links a page has.
const PAGE: usize = 50;

/// How long a search may take in all, if serving leaves it little time.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A search in a site of a snapshot.
pub(crate) struct Search {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The number of the site.
    pub(crate) site: usize,
    pub(crate) query: ListQuery,
    pub(crate) now: Timestamp,
}

/// The links of a page.
pub(crate) struct Selection<'s> {
    pub(crate) site: &'s Site,
    pub(crate) query: &'s ListQuery,
    pub(crate) now: Timestamp,
    /// In the order of their codes.
    pub(crate) entries: Vec<Entry<'s>>,
    /// The code after which the next page begins, if there is one.
    pub(crate) next: Option<String>,
}

impl Search {
    /// Returns the search of a query in a site of a snapshot.
    pub(crate) fn new(
        snapshot: &Arc<Snapshot>,
        site: &Site,
        query: ListQuery,
        now: Timestamp,
    ) -> Self {
        let sites = snapshot.table.sites().iter();
        let before = sites.take_while(|other| !std::ptr::eq(*other, site));
        Self {
            site: before.count(),
            snapshot: Arc::clone(snapshot),
            query,
            now,
        }
    }

    /// Returns the answer that `write` makes of the selected links, with an entity tag; `variant` names
    /// its form and language. `None` if too many searches are under way, or this one takes too long.
    ///
    /// Must be called within a runtime.
    pub(crate) async fn answer(
        self,
        slots: &SearchSlots,
        headers: HeaderMap,
        variant: &'static str,
        write: impl FnOnce(&Snapshot, &Selection<'_>) -> Response<Content> + Send + 'static,
    ) -> Option<Response<Content>> {
        let slot = slots.take()?;
        let (sender, receiver) = oneshot::channel();
        begin(move || {
            let tag = self.tag(variant);
            let response = match is_known(&headers, &tag) {
                true => Some(not_modified()),
                false => {
                    let selection = self.select(|| !sender.is_closed());
                    selection.map(|selection| write(&self.snapshot, &selection))
                }
            };
            let response = response.map(|mut response| {
                response.headers_mut().insert(ETAG, tag);
                response
            });
            // Freed before the client can send another request.
            drop(slot);
            // The client may be gone.
            let _ = sender.send(response);
        });
        receiver.await.ok().flatten()
    }

    /// Returns the selected links; `None` if the search ended early, because it took too long or
    /// `is_awaited` says so.
    fn select(&self, is_awaited: impl Fn() -> bool) -> Option<Selection<'_>> {
        let deadline = Instant::now() + TIMEOUT;
        let table = &self.snapshot.table;
        let site = &table.sites()[self.site];
        let order = &self.snapshot.code_orders.of(table)[self.site];
        let ended_early = Cell::new(false);
        let goes_on = || {
            // Even a thread with low priority keeps its core for milliseconds.
            yield_now();
            ended_early.set(!is_awaited() || Instant::now() > deadline);
            !ended_early.get()
        };
        let after = Some(&*self.query.after).filter(|after| !after.is_empty());
        let found = order.search(site, self.query.filter(), after, self.now, goes_on);
        let mut entries: Vec<_> = found.take(PAGE + 1).collect();
        if ended_early.get() {
            return None;
        }
        let mut next = None;
        if entries.len() > PAGE {
            entries.truncate(PAGE);
            next = entries.last().map(|entry| entry.code().into_owned());
        }
        Some(Selection {
            site,
            query: &self.query,
            now: self.now,
            entries,
            next,
        })
    }

    /// Returns the entity tag of its answer, which changes with everything that the answer depends on:
    /// the table, what of it has expired or been retired by now, the query, and this program.
    fn tag(&self, variant: &str) -> HeaderValue {
        let site = &self.snapshot.table.sites()[self.site];
        let revision = &self.snapshot.revision;
        let order = &self.snapshot.code_orders.of(&self.snapshot.table)[self.site];
        let mut digest = Sha256::new();
        for part in [
            env!("CARGO_PKG_VERSION"),
            revision.hash(),
            &self.snapshot.short,
            site.base_url().as_str(),
            &order.dates_before(self.now).to_string(),
            variant,
            &self.query.to_query(),
        ] {
            digest.update(part);
            digest.update([0]);
        }
        let digest = URL_SAFE_NO_PAD.encode(&digest.finalize()[..18]);
        let tag = format!("\"{digest}\"");
        HeaderValue::try_from(tag).expect("base64 is fit for a header")
    }
}

fn not_modified() -> Response<Content> {
    let mut response = Response::new(Content::default());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response::with(response, CACHE_CONTROL, "no-cache")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};
    use crate::source::{RepositoryPlace, Revision};

    fn snapshot(entries: usize) -> Arc<Snapshot> {
        let entry = |number| format!("- url: https://e.example/{number}\n");
        let entries: String = (0..entries).map(entry).collect();
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: format!("base_url: https://s.example/\nmapping:\n{entries}").into(),
        };
        let files = [file];
        let compiled = compile(&files).into_sound().unwrap();
        let revision = Revision::content(None, "0".repeat(64));
        let place = RepositoryPlace::default();
        Arc::new(Snapshot::new(compiled, files.first(), revision, place))
    }

    fn search(snapshot: &Arc<Snapshot>) -> Search {
        let site = &snapshot.table.sites()[0];
        let now = Timestamp::from_unix(1_795_305_600);
        Search::new(snapshot, site, ListQuery::default(), now)
    }

    async fn answer(slots: &SearchSlots, search: Search) -> Option<StatusCode> {
        let answer = search.answer(slots, HeaderMap::new(), "test", |_, _| Response::default());
        answer.await.map(|response| response.status())
    }

    #[tokio::test]
    async fn only_a_few_are_made_at_once() {
        let (slots, snapshot) = (SearchSlots::default(), snapshot(1));
        let mut taken = Vec::new();
        while let Some(slot) = slots.take() {
            taken.push(slot);
            assert!(taken.len() < 100, "there is no limit");
        }
        assert_eq!(answer(&slots, search(&snapshot)).await, None);
        taken.pop();
        // Each gets the slot of the previous one.
        for _ in 0..10 {
            assert_eq!(
                answer(&slots, search(&snapshot)).await,
                Some(StatusCode::OK)
            );
        }
    }

    #[tokio::test]
    async fn a_search_that_no_request_awaits_ends() {
        let snapshot = snapshot(10_000);
        assert!(search(&snapshot).select(|| false).is_none());
        let whole = search(&snapshot);
        let selection = whole.select(|| true).unwrap();
        assert_eq!(selection.entries.len(), PAGE);
        let last = selection.entries[PAGE - 1].code();
        assert_eq!(selection.next.as_deref(), Some(&*last));
    }
}
