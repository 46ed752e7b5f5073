//! Choosing the request of a visit, if any, and conclusions without a request.

use std::time::Duration;

use super::reserved::Visit;
use crate::frontier::StoreError;
use crate::linkcheck::check::shared::{
    DatedAnswer, Known, LeasePurpose, QueuedRow, RobotsAnswer, Work, known_robots, known_sibling,
    millis, origin_of, seconds,
};
use crate::linkcheck::check::state::Space;
use crate::linkcheck::conclude::{Seen, Sibling};
use crate::linkcheck::polite::{HostPace, Robots};
use crate::linkcheck::request::{Inquiry, WebUrl};
use crate::mapping::Timestamp;

/// How many links are concluded in one lease without a request.
const MAX_WITHOUT_REQUEST: usize = 500;

/// How long a look-up in an archive stays requested: later, no other worker sends it.
const MAX_WANTED: Duration = Duration::from_secs(3600);

/// The request of a lease.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) work: Work,
    pub(super) inquiry: Inquiry,
    /// Its key in the queue, if it is there.
    pub(super) key: Option<Vec<u8>>,
    pub(super) pace: HostPace,
}

/// The next step of a visit.
pub(super) enum NextStep {
    Send(Box<Chosen>),
    /// No request is due for the host.
    Nothing,
    /// It waits for an answer that is under way through another host, until a time in milliseconds.
    Wait(u64),
}

impl Visit<'_> {
    /// Chooses the request, and makes the conclusions that need none.
    pub(super) async fn choose(&mut self) -> Result<NextStep, StoreError> {
        for _ in 0..MAX_WITHOUT_REQUEST {
            let first = self.rest.first(self.access()).await?;
            // A server's answer updates the time.
            self.now = self.checker.now();
            let Some((due, key, row)) = first else {
                return Ok(NextStep::Nothing);
            };
            if due > self.now {
                return Ok(NextStep::Nothing);
            }
            let work = match row {
                QueuedRow::Link(link) => match self.links.url(link) {
                    Some(target) => Work::link(&target),
                    None => {
                        self.park(link, &key).await?;
                        continue;
                    }
                },
                // Begun work is finished first.
                QueuedRow::Work(work) => work,
            };
            if let LeasePurpose::Archive { wanted, .. } = &work.purpose
                && self.now.saturating_sub(*wanted) > millis(MAX_WANTED)
            {
                self.drop_row(&key);
                continue;
            }
            if let Some(choice) = self.consider(work, key).await? {
                return Ok(choice);
            }
        }
        self.wants_at(Some(self.now));
        Ok(NextStep::Nothing)
    }

    /// Decides about a piece of work; `None` if it is done without a request.
    async fn consider(&mut self, work: Work, key: Vec<u8>) -> Result<Option<NextStep>, StoreError> {
        let Some(inquiry) = self.inquiry(&work).await? else {
            self.drop_row(&key);
            return Ok(None);
        };
        let delay = self.checker.options().delay;
        let url = inquiry.url().clone();
        let key_at = Some(key.clone());
        let request = |work, inquiry, key, pace| {
            let chosen = Chosen {
                work,
                inquiry,
                key,
                pace,
            };
            Ok(Some(NextStep::Send(Box::new(chosen))))
        };
        if matches!(work.purpose, LeasePurpose::Robots { .. }) {
            let pace = HostPace::new(delay, None).expect("no delay of robots.txt is too long");
            return request(work, inquiry, key_at, pace);
        }
        let origin = origin_of(&url);
        let access = self.access();
        let row: Option<DatedAnswer<RobotsAnswer>> =
            access.read(Space::Origins, origin.as_bytes()).await?;
        let robots = match known_robots(row, self.now) {
            Known::Answer(Ok(robots)) => robots,
            Known::Answer(Err(failure)) => {
                return self.refuse(&work, &key, Seen::Failed(failure)).await;
            }
            Known::Pending(until) => return Ok(Some(NextStep::Wait(until))),
            Known::Unknown => {
                let host = self.lease.host.to_string();
                let purpose = LeasePurpose::Robots { origin, host };
                let inquiry = Inquiry::of_robots(&url);
                let work = Work {
                    purpose,
                    inquiry: None,
                };
                let pace = HostPace::new(delay, None).expect("no delay of robots.txt is too long");
                return request(work, inquiry, None, pace);
            }
        };
        let Ok(pace) = HostPace::new(delay, robots.crawl_delay()) else {
            return self.refuse(&work, &key, Seen::CrawlDelayTooLong).await;
        };
        if !robots.allows(url.url()) {
            return self.refuse(&work, &key, Seen::Disallowed).await;
        }
        let begins = matches!(work.purpose, LeasePurpose::Link { .. }) && work.inquiry.is_none();
        if begins && let Some(choice) = self.know_sibling(&url, &robots, pace).await? {
            return Ok(Some(choice));
        }
        request(work, inquiry, key_at, pace)
    }

    /// Returns the inquiry of a piece of work, or begins it.
    async fn inquiry(&self, work: &Work) -> Result<Option<Inquiry>, StoreError> {
        if let Some(inquiry) = &work.inquiry {
            return Ok(Some(inquiry.clone()));
        }
        let target = match &work.purpose {
            LeasePurpose::Link { target } => target,
            // Each of them is queued with its inquiry.
            LeasePurpose::Robots { .. }
            | LeasePurpose::Sibling { .. }
            | LeasePurpose::Archive { .. } => return Ok(None),
        };
        let Ok(url) = WebUrl::parse(target) else {
            return Ok(None);
        };
        let wants_body = !url.is_home()
            && matches!(self.sibling().await?, Known::Answer(sibling) if sibling.wants_body());
        let inquiry = match wants_body {
            true => Inquiry::of_body(url),
            false => Inquiry::of_page(url),
        };
        Ok(Some(inquiry))
    }

    /// Returns the request to send first, if the host's answer for a nonexistent page is not known.
    async fn know_sibling(
        &self,
        target: &WebUrl,
        robots: &Robots,
        pace: HostPace,
    ) -> Result<Option<NextStep>, StoreError> {
        let now = Timestamp::from_unix(seconds(self.now));
        let Some(url) = Sibling::url(target, now) else {
            return Ok(None);
        };
        match self.sibling().await? {
            Known::Answer(_) => Ok(None),
            Known::Pending(until) => Ok(Some(NextStep::Wait(until))),
            // A disallowed page is treated as missing.
            Known::Unknown if !robots.allows(url.url()) => Ok(None),
            Known::Unknown => Ok(Some(NextStep::Send(Box::new(Chosen {
                work: Work {
                    purpose: LeasePurpose::Sibling {
                        host: self.lease.host.to_string(),
                    },
                    inquiry: None,
                },
                inquiry: Inquiry::of_body(url),
                key: None,
                pace,
            })))),
        }
    }

    async fn sibling(&self) -> Result<Known<Sibling>, StoreError> {
        Ok(known_sibling(self.row(Space::Siblings).await?, self.now))
    }

    /// Concludes about a link without a request, and removes it from the queue.
    async fn refuse(
        &mut self,
        work: &Work,
        key: &[u8],
        seen: Seen,
    ) -> Result<Option<NextStep>, StoreError> {
        self.drop_row(key);
        self.conclude_without_request(&work.purpose, seen).await?;
        Ok(None)
    }
}
