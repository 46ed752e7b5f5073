//! What happens while a host is reserved: at most one request, and what follows from its answer.
//!
//! First come the robots.txt of the origin and, if a deep link is to be asked, a name that the host
//! cannot know. All that changes is written with the end of the lease, or not at all.

use std::time::Duration;

use tokio::time::{Instant, interval_at, timeout_at};

use super::checker::Checker;
use super::host::{
    Asked, HostState, Known, RobotsAnswer, host_of, known_robots, known_sibling, origin_of,
};
use super::millis::{millis, seconds};
use super::queue::{HostQueue, LeasePurpose, Work};
use super::state::{Space, StateChange, read};
use crate::frontier::{Host, Lease, LeaseState, StoreError};
use crate::linkcheck::ask::{
    Finding, Inquiry, Question, RedirectProblem, RoundTrip, Step, UrlProblem, WebUrl,
};
use crate::linkcheck::conclude::{Endings, LinkRecord, Observation, Seen, Sibling};
use crate::linkcheck::polite::{HostPace, MAX_CRAWL_DELAY, Robots};
use crate::mapping::Timestamp;

/// How long a lease lasts unless it is renewed.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a lease is renewed while a request lasts.
const RENEWAL: Duration = Duration::from_secs(20);

/// How many links are concluded in one lease without a request.
const MAX_UNASKED: usize = 500;

/// What is asked in a lease.
struct Chosen {
    work: Work,
    inquiry: Inquiry,
    /// Its key in the queue, if it is there.
    key: Option<Vec<u8>>,
    pace: HostPace,
}

/// What is to be done next.
enum Choice {
    Ask(Box<Chosen>),
    /// The host has nothing to be asked now.
    Nothing,
    /// It waits for an answer that is on its way over another host.
    Wait,
}

/// A lease, and what is written when it ends.
pub(super) struct Visit<'c> {
    checker: &'c Checker,
    lease: &'c Lease,
    rest: HostQueue,
    changes: Vec<StateChange>,
    /// Hosts that have something to do in a while.
    wakes: Vec<(Host, Duration)>,
    /// When this host has something to do again, in milliseconds.
    next: Option<u64>,
    now: u64,
    /// When the host was last found to have something to do.
    opened: Option<u64>,
    /// The pause that its robots.txt wants, if that was the answer.
    wanted_pause: Duration,
}

impl<'c> Visit<'c> {
    pub(super) fn new(checker: &'c Checker, lease: &'c Lease) -> Self {
        Self {
            checker,
            lease,
            rest: HostQueue::of(&lease.host),
            changes: Vec::new(),
            wakes: Vec::new(),
            next: None,
            now: checker.now(),
            opened: checker.opened(&lease.host),
            wanted_pause: Duration::ZERO,
        }
    }

    /// Asks what is to be asked, and ends the lease.
    pub(super) async fn run(mut self) -> Result<(), StoreError> {
        let chosen = match self.choose()? {
            Choice::Ask(chosen) => *chosen,
            Choice::Nothing => {
                self.wants_at(self.rest.due(self.state())?);
                return self.release(Duration::ZERO).await;
            }
            // The visit that gets the answer wakes the host.
            Choice::Wait => return self.release(Duration::ZERO).await,
        };
        let mut host: HostState = self.row(Space::Hosts)?.unwrap_or_default();
        let question = chosen.inquiry.question(host.head_misleads);
        let Some(round_trip) = self.ask(&question).await? else {
            // Time is up, or the lease has ended: nothing came of it.
            self.changes.clear();
            self.wakes.clear();
            self.next = Some(self.now);
            let delay = self.checker.options().delay;
            return self.release(delay).await;
        };
        self.checker.count_answer();
        self.now = self.checker.now();
        let rest = round_trip.rest(chosen.pace);
        let before = host.clone();
        host.head_misleads |= chosen.inquiry.shows_misled_head(&question, &round_trip);
        if let Some(block) = rest.block {
            self.state().store().block(&self.lease.host, block).await?;
            host.blocked = host.blocked.max(self.now.saturating_add(millis(block)));
            self.checker.note_block(&self.lease.host, host.blocked);
        }
        if host != before {
            let key = self.lease.host.as_str();
            self.changes
                .push(StateChange::put(Space::Hosts, key, &host));
        }
        self.take_in(chosen, &question, round_trip)?;
        self.wants_at(self.rest.due(self.state())?);
        // The store counts whole milliseconds, and the current one has begun already.
        let pause = rest.pause.max(self.wanted_pause) + Duration::from_millis(1);
        self.release(pause).await
    }

    /// Chooses what to ask, and concludes what can be without a request.
    fn choose(&mut self) -> Result<Choice, StoreError> {
        for _ in 0..MAX_UNASKED {
            let Some((due, key, work)) = self.rest.first(self.state())? else {
                return Ok(Choice::Nothing);
            };
            if due > self.now {
                return Ok(Choice::Nothing);
            }
            if let LeasePurpose::Link { target } = &work.purpose
                && !self.checker.links().asked().contains(target)
            {
                self.park(target, &key)?;
                continue;
            }
            if let Some(choice) = self.consider(work, key)? {
                return Ok(choice);
            }
        }
        self.wants_at(Some(self.now));
        Ok(Choice::Nothing)
    }

    /// Decides about some work; `None` if it is done without a request.
    fn consider(&mut self, work: Work, key: Vec<u8>) -> Result<Option<Choice>, StoreError> {
        let Some(inquiry) = self.inquiry(&work)? else {
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
        let row = read::<Asked<RobotsAnswer>>(self.state(), Space::Origins, origin.as_bytes())?;
        let robots = match known_robots(row, self.now) {
            Known::Answer(Ok(robots)) => robots,
            Known::Answer(Err(failure)) => return self.refuse(&work, &key, Seen::Failed(failure)),
            Known::Pending => return Ok(Some(Choice::Wait)),
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
            return self.refuse(&work, &key, Seen::CrawlDelayTooLong);
        };
        if !robots.allows(url.url()) {
            return self.refuse(&work, &key, Seen::Disallowed);
        }
        let begins = matches!(work.purpose, LeasePurpose::Link { .. }) && work.inquiry.is_none();
        if begins && let Some(choice) = self.know_sibling(&url, &robots, pace)? {
            return Ok(Some(choice));
        }
        ask(work, inquiry, key_at, pace)
    }

    /// Returns how far the work has come, or begins it.
    fn inquiry(&self, work: &Work) -> Result<Option<Inquiry>, StoreError> {
        if let Some(inquiry) = &work.inquiry {
            return Ok(Some(inquiry.clone()));
        }
        let LeasePurpose::Link { target } = &work.purpose else {
            return Ok(None);
        };
        let Ok(url) = WebUrl::parse(target) else {
            return Ok(None);
        };
        let wants_body = !url.is_home()
            && matches!(self.sibling()?, Known::Answer(sibling) if sibling.wants_body());
        let inquiry = match wants_body {
            true => Inquiry::of_body(url),
            false => Inquiry::of_page(url),
        };
        Ok(Some(inquiry))
    }

    /// Returns what to do first, if it is not known what the host does with a name that it cannot
    /// know.
    fn know_sibling(
        &mut self,
        target: &WebUrl,
        robots: &Robots,
        pace: HostPace,
    ) -> Result<Option<Choice>, StoreError> {
        let now = Timestamp::from_unix(seconds(self.now));
        let Some(url) = Sibling::url(target, now) else {
            return Ok(None);
        };
        match self.sibling()? {
            Known::Answer(_) => Ok(None),
            Known::Pending => Ok(Some(Choice::Wait)),
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

    fn sibling(&self) -> Result<Known<Sibling>, StoreError> {
        Ok(known_sibling(self.row(Space::Siblings)?, self.now))
    }

    /// Asks, and renews the lease meanwhile; `None` if time is up or the lease has ended.
    async fn ask(&self, question: &Question) -> Result<Option<RoundTrip>, StoreError> {
        let mut asking = self.checker.asker().ask(question);
        let mut renewals = interval_at(Instant::now() + RENEWAL, RENEWAL);
        let deadline = self.checker.deadline();
        let forever = Duration::from_secs(1 << 30);
        loop {
            let end = deadline.unwrap_or_else(|| Instant::now() + forever);
            tokio::select! {
                biased;
                answer = timeout_at(end, &mut asking) => return Ok(answer.ok()),
                _ = renewals.tick() => {
                    let store = self.state().store();
                    if store.renew(self.lease, BUSY_TIMEOUT).await? == LeaseState::Ended {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Takes in an answer: what is asked next, and where, or what is concluded.
    fn take_in(
        &mut self,
        chosen: Chosen,
        question: &Question,
        round_trip: RoundTrip,
    ) -> Result<(), StoreError> {
        let Chosen {
            work, inquiry, key, ..
        } = chosen;
        if let Some(key) = &key {
            self.drop_row(key);
        }
        let next = match inquiry.next(question, round_trip) {
            Step::Done(finding) => return self.conclude(&work.purpose, &finding),
            Step::Ask(next) => next,
        };
        let Some(host) = host_of(next.url()) else {
            let astray = RedirectProblem::Url(UrlProblem::Invalid);
            return self.conclude_unasked(&work.purpose, Seen::Astray(astray));
        };
        match &work.purpose {
            LeasePurpose::Robots { origin, .. } => {
                self.answer::<RobotsAnswer>(Space::Origins, origin, None)
            }
            LeasePurpose::Sibling { host } => self.answer::<Sibling>(Space::Siblings, host, None),
            LeasePurpose::Link { .. } => {}
        }
        let work = Work {
            purpose: work.purpose,
            inquiry: Some(next),
        };
        self.changes.push(work.queued(&host, 0));
        self.wants(&host, 0);
        Ok(())
    }

    /// Notes the answer to what others wait for, or that it is on its way.
    fn answer<T: serde::Serialize>(&mut self, space: Space, key: &str, answer: Option<T>) {
        let at = self.now;
        self.changes
            .push(StateChange::put(space, key, &Asked { answer, at }));
    }

    /// Concludes from the end of an inquiry.
    fn conclude(&mut self, purpose: &LeasePurpose, finding: &Finding) -> Result<(), StoreError> {
        match purpose {
            LeasePurpose::Robots { origin, host } => {
                let robots = finding.robots();
                if *host == *self.lease.host.as_str()
                    && let Some(wanted) = robots.as_ref().ok().and_then(Robots::crawl_delay)
                    // With a longer one, the origin is not asked again.
                    && wanted <= MAX_CRAWL_DELAY
                {
                    self.wanted_pause = wanted;
                }
                self.answer(Space::Origins, origin, Some(robots));
                self.wake(host);
            }
            LeasePurpose::Sibling { host } => {
                self.answer(Space::Siblings, host, Some(Sibling::of(finding)));
                self.wake(host);
            }
            LeasePurpose::Link { target } => {
                let observation = Observation::of(finding);
                let is_success = observation.is_success();
                let led = self.note_ending(finding)?;
                let is_like = match (is_success, host_of(&finding.from)) {
                    (true, Some(host)) => {
                        let row = read(self.state(), Space::Siblings, host.as_str().as_bytes())?;
                        let sibling = known_sibling(row, self.now);
                        matches!(sibling, Known::Answer(it) if it.is_like(finding))
                    }
                    _ => false,
                };
                let observation = match is_success && (led || is_like) {
                    true => observation.as_not_found_page(),
                    false => observation,
                };
                self.observe(target, &observation)?;
            }
        }
        Ok(())
    }

    /// Notes where a deep link of its host ended, and returns whether several end there.
    fn note_ending(&mut self, finding: &Finding) -> Result<bool, StoreError> {
        let Some(host) = host_of(&finding.from) else {
            return Ok(false);
        };
        let mut all = self.checker.endings();
        let endings = match all.get_mut(&host) {
            Some(endings) => endings,
            None => {
                let row = read(self.state(), Space::Endings, host.as_str().as_bytes())?;
                all.entry(host.clone()).or_insert(row.unwrap_or_default())
            }
        };
        let before = endings.clone();
        let led = endings.note(finding);
        if *endings != before {
            let change = StateChange::put(Space::Endings, host.as_str(), endings);
            self.changes.push(change);
        }
        if *endings == Endings::default() {
            all.remove(&host);
        }
        Ok(led)
    }

    /// Concludes what is not asked, and takes it from the queue.
    fn refuse(
        &mut self,
        work: &Work,
        key: &[u8],
        seen: Seen,
    ) -> Result<Option<Choice>, StoreError> {
        self.drop_row(key);
        self.conclude_unasked(&work.purpose, seen)?;
        Ok(None)
    }

    fn conclude_unasked(&mut self, purpose: &LeasePurpose, seen: Seen) -> Result<(), StoreError> {
        match purpose {
            LeasePurpose::Robots { origin, host } => {
                let none: RobotsAnswer = Ok(Robots::default());
                self.answer(Space::Origins, origin, Some(none));
                self.wake(host);
                Ok(())
            }
            LeasePurpose::Sibling { host } => {
                self.answer(Space::Siblings, host, Some(Sibling::Refused));
                self.wake(host);
                Ok(())
            }
            LeasePurpose::Link { target } => self.observe(target, &Observation::unasked(seen)),
        }
    }

    /// Takes in an observation of a link, and queues its next check.
    fn observe(&mut self, target: &str, observation: &Observation) -> Result<(), StoreError> {
        let policy = self.checker.options().policy;
        let row = read::<Option<LinkRecord>>(self.state(), Space::Links, target.as_bytes())?;
        let mut record = row.flatten().unwrap_or_default();
        let now = Timestamp::from_unix(seconds(self.now));
        record.observe(observation, now, policy);
        let host = WebUrl::parse(target).ok().and_then(|url| host_of(&url));
        self.checker.count_link(host.as_ref());
        if let Some(host) = host {
            let links = self.checker.links().of_host(&host);
            let due = self.now + millis(record.next_check(policy, target, links)).max(1);
            self.changes.push(Work::link(target).queued(&host, due));
            self.wants(&host, due);
        }
        self.changes
            .push(StateChange::put(Space::Links, target, &Some(record)));
        Ok(())
    }

    /// Takes a link that is not in the table now from the queue, but keeps what is known of it.
    fn park(&mut self, target: &str, key: &[u8]) -> Result<(), StoreError> {
        let row = read::<Option<LinkRecord>>(self.state(), Space::Links, target.as_bytes())?;
        self.drop_row(key);
        self.changes.push(StateChange::remove(Space::Links, target));
        if let Some(record) = row.flatten() {
            self.changes
                .push(StateChange::put(Space::Parked, target, &record));
        }
        Ok(())
    }

    fn drop_row(&mut self, key: &[u8]) {
        self.rest.after(key);
        self.changes.push(StateChange::remove(Space::Queue, key));
    }

    fn wake(&mut self, host: &str) {
        if let Ok(host) = Host::parse(host) {
            self.wants(&host, 0);
        }
    }

    /// Notes that a host has something to do at a time.
    fn wants(&mut self, host: &Host, due: u64) {
        if *host == self.lease.host {
            self.wants_at(Some(due));
        } else {
            let after = Duration::from_millis(due.saturating_sub(self.now));
            self.wakes.push((host.clone(), after));
        }
    }

    fn wants_at(&mut self, due: Option<u64>) {
        self.next = [self.next, due].into_iter().flatten().min();
    }

    /// Ends the lease and writes what has changed; then the other hosts are woken.
    async fn release(self, pause: Duration) -> Result<(), StoreError> {
        let Self {
            checker,
            lease,
            changes,
            wakes,
            next,
            now,
            opened,
            ..
        } = self;
        let next_in = next.map(|due| Duration::from_millis(due.saturating_sub(now)));
        let state = checker.state();
        if state.release(lease, pause, next_in, changes).await? == LeaseState::Ended {
            // The worker that has the host now does this work again.
            return Ok(());
        }
        for (host, after) in &wakes {
            state.store().add_host(host, *after).await?;
            checker.look_at(host)?;
        }
        // After a wait this host is queued by the visit that gets its answer.
        match next {
            Some(_) => checker.look_at(&lease.host),
            None => {
                checker.close(&lease.host, opened);
                Ok(())
            }
        }
    }

    fn state(&self) -> &'c dyn super::CheckState {
        self.checker.state()
    }

    fn row<T: serde::de::DeserializeOwned>(&self, space: Space) -> Result<Option<T>, StoreError> {
        read(self.state(), space, self.lease.host.as_str().as_bytes())
    }
}
