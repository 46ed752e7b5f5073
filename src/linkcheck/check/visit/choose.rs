//! What to ask in a visit, if anything, and what can be concluded without a request.

use std::time::Duration;

use super::reserved::Visit;
use crate::frontier::StoreError;
use crate::linkcheck::ask::{Inquiry, WebUrl};
use crate::linkcheck::check::shared::{
    Asked, Known, LeasePurpose, QueuedRow, RobotsAnswer, Work, known_robots, known_sibling, millis,
    origin_of, seconds,
};
use crate::linkcheck::check::state::Space;
use crate::linkcheck::conclude::{Seen, Sibling};
use crate::linkcheck::polite::{HostPace, Robots};
use crate::mapping::Timestamp;

/// How many links are concluded in one lease without a request.
const MAX_UNASKED: usize = 500;

/// How long somebody wants to know what an archive has: nobody else is to ask it later.
const MAX_WANTED: Duration = Duration::from_secs(3600);

/// What is asked in a lease.
#[derive(Clone)]
pub(super) struct Chosen {
    pub(super) work: Work,
    pub(super) inquiry: Inquiry,
    /// Its key in the queue, if it is there.
    pub(super) key: Option<Vec<u8>>,
    pub(super) pace: HostPace,
}

/// What is to be done next.
pub(super) enum Choice {
    Ask(Box<Chosen>),
    /// The host has nothing to be asked now.
    Nothing,
    /// It waits for an answer that is on its way over another host, until a time in milliseconds.
    Wait(u64),
}

impl Visit<'_> {
    /// Chooses what to ask, and concludes what can be without a request.
    pub(super) async fn choose(&mut self) -> Result<Choice, StoreError> {
        for _ in 0..MAX_UNASKED {
            let first = self.rest.first(self.access()).await?;
            // A server says with its answer what time it is.
            self.now = self.checker.now();
            let Some((due, key, row)) = first else {
                return Ok(Choice::Nothing);
            };
            if due > self.now {
                return Ok(Choice::Nothing);
            }
            let work = match row {
                QueuedRow::Link(link) => match self.links.url(link) {
                    Some(target) => Work::link(&target),
                    None => {
                        self.park(link, &key).await?;
                        continue;
                    }
                },
                // What has begun comes to its end.
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
        Ok(Choice::Nothing)
    }

    /// Decides about some work; `None` if it is done without a request.
    async fn consider(&mut self, work: Work, key: Vec<u8>) -> Result<Option<Choice>, StoreError> {
        let Some(inquiry) = self.inquiry(&work).await? else {
            self.drop_row(&key);
            return Ok(None);
        };
        let delay = self.checker.options().delay;
        let url = inquiry.url().clone();
        let key_at = Some(key.clone());
        let ask = |work, inquiry, key, pace| {
            let chosen = Chosen {
                work,
                inquiry,
                key,
                pace,
            };
            Ok(Some(Choice::Ask(Box::new(chosen))))
        };
        if matches!(work.purpose, LeasePurpose::Robots { .. }) {
            let pace = HostPace::new(delay, None).expect("no delay of robots.txt is too long");
            return ask(work, inquiry, key_at, pace);
        }
        let origin = origin_of(&url);
        let access = self.access();
        let row: Option<Asked<RobotsAnswer>> =
            access.read(Space::Origins, origin.as_bytes()).await?;
        let robots = match known_robots(row, self.now) {
            Known::Answer(Ok(robots)) => robots,
            Known::Answer(Err(failure)) => {
                return self.refuse(&work, &key, Seen::Failed(failure)).await;
            }
            Known::Pending(until) => return Ok(Some(Choice::Wait(until))),
            Known::Unknown => {
                let host = self.lease.host.to_string();
                let purpose = LeasePurpose::Robots { origin, host };
                let inquiry = Inquiry::of_robots(&url);
                let work = Work {
                    purpose,
                    inquiry: None,
                };
                let pace = HostPace::new(delay, None).expect("no delay of robots.txt is too long");
                return ask(work, inquiry, None, pace);
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
        ask(work, inquiry, key_at, pace)
    }

    /// Returns how far the work has come, or begins it.
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

    /// Returns what to do first, if it is not known what the host does with a name that it cannot
    /// know.
    async fn know_sibling(
        &self,
        target: &WebUrl,
        robots: &Robots,
        pace: HostPace,
    ) -> Result<Option<Choice>, StoreError> {
        let now = Timestamp::from_unix(seconds(self.now));
        let Some(url) = Sibling::url(target, now) else {
            return Ok(None);
        };
        match self.sibling().await? {
            Known::Answer(_) => Ok(None),
            Known::Pending(until) => Ok(Some(Choice::Wait(until))),
            // What may not be asked is not there, as far as one can know.
            Known::Unknown if !robots.allows(url.url()) => Ok(None),
            Known::Unknown => Ok(Some(Choice::Ask(Box::new(Chosen {
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

    /// Concludes what is not asked, and takes it from the queue.
    async fn refuse(
        &mut self,
        work: &Work,
        key: &[u8],
        seen: Seen,
    ) -> Result<Option<Choice>, StoreError> {
        self.drop_row(key);
        self.conclude_unasked(&work.purpose, seen).await?;
        Ok(None)
    }
}
