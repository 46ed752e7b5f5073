//! Records: the verdict about a target, and the observations on which it is based.
//!
//! A record is small, because there may be millions: it stores changes, not repeated observations.
//! The clock is a parameter.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::observation::{Evidence, Observation, Seen};
use super::{Policy, Verdict};
use crate::linkcheck::request::WebUrl;
use crate::mapping::Timestamp;

/// How many changes are kept.
const MAX_HISTORY: usize = 8;

/// The first byte of an encoded record, which changes with its form.
const VERSION: u8 = 1;

/// The record of a target. Times are seconds since the Unix epoch.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord {
    verdict: Verdict,
    since: i64,
    checked: Option<i64>,
    last_ok: Option<i64>,
    /// The number of failures that count, and the time of the last one.
    strikes: u8,
    struck: i64,
    /// The number of consecutive checks in which it did not work.
    failures: u8,
    moved: Option<Move>,
    /// The changes of the observed result, with their times; the newest last.
    history: Vec<(i64, Seen)>,
}

/// Where a target has moved, and when that was first seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Move {
    to: WebUrl,
    since: i64,
}

/// Why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnreadableRecord {
    /// It has an unknown version.
    #[error("the record has version {version}, and this program reads version {VERSION} only")]
    Version {
        /// Its version.
        version: u8,
    },
    /// It is damaged.
    #[error("the record is damaged")]
    Damaged,
}

impl LinkRecord {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns since when the verdict applies; for a dead link, since when it has been failing.
    pub fn since(&self) -> Option<Timestamp> {
        self.checked.map(|_| Timestamp::from_unix(self.since))
    }

    /// Returns when it was last observed.
    pub fn checked(&self) -> Option<Timestamp> {
        self.checked.map(Timestamp::from_unix)
    }

    /// Returns when it last worked.
    pub fn last_ok(&self) -> Option<Timestamp> {
        self.last_ok.map(Timestamp::from_unix)
    }

    /// Returns the number of failures that count towards the verdict that it is dead.
    pub fn strikes(&self) -> u8 {
        self.strikes
    }

    /// Returns where it has moved, if that is the verdict.
    pub fn moved_to(&self) -> Option<&WebUrl> {
        let moved = self.moved.as_ref();
        moved
            .filter(|_| self.verdict == Verdict::Moved)
            .map(|moved| &moved.to)
    }

    /// Returns where it has moved, if that was observed twice, at least the strike interval apart.
    pub fn confirmed_move(&self, policy: Policy) -> Option<&WebUrl> {
        let since = self.moved.as_ref()?.since;
        let lasted = elapsed(since, self.checked?);
        self.moved_to()
            .filter(|_| lasted >= policy.strike_interval() && !lasted.is_zero())
    }

    /// Returns the last result.
    pub fn seen(&self) -> Option<Seen> {
        self.history.last().map(|&(_, seen)| seen)
    }

    /// Returns the changes of the result with their times, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = (Timestamp, Seen)> {
        let history = self.history.iter();
        history.map(|&(since, seen)| (Timestamp::from_unix(since), seen))
    }

    /// Returns whether the next request should use a new connection, because a failure would make
    /// the link dead.
    pub fn wants_fresh(&self, policy: Policy) -> bool {
        self.strikes.saturating_add(1) >= policy.strikes()
    }

    /// Returns the time from the last check to the next one, if the host of the target has a number
    /// of links.
    pub fn next_check(&self, policy: Policy, target: &str, links: u64) -> Duration {
        match self.checked {
            None => Duration::ZERO,
            Some(checked) if self.verdict.is_ok() => policy.after_success(target, checked, links),
            Some(_) => policy.after_failures(self.failures, links),
        }
    }

    /// Records an observation.
    pub fn observe(&mut self, observation: &Observation, now: Timestamp, policy: Policy) {
        let now = now.unix();
        self.forget_the_future(now);
        let evidence = observation.seen.evidence();
        if evidence.refutes_failures() {
            self.strikes = 0;
        }
        let verdict = match evidence {
            Evidence::Works => self.works(observation.moved_to.as_ref(), now),
            Evidence::Fails => self.fails(observation, now, policy),
            Evidence::Gone => Verdict::Gone,
            Evidence::Blocked => Verdict::Blocked,
            Evidence::SoftNotFound => Verdict::SoftNotFound,
            Evidence::Disallowed => Verdict::RobotsDisallowed,
            Evidence::Insecure => Verdict::Insecure,
            Evidence::Unclear | Evidence::None => Verdict::Unchecked,
        };
        self.failures = match verdict.is_ok() {
            true => 0,
            false => self.failures.saturating_add(1),
        };
        let goes_on =
            verdict == self.verdict || (self.verdict, verdict) == (Verdict::Failing, Verdict::Dead);
        if self.checked.is_none() || !goes_on {
            self.since = now;
        }
        self.verdict = verdict;
        self.checked = Some(now);
        if self.seen() != Some(observation.seen) {
            if self.history.len() >= MAX_HISTORY {
                self.history.drain(..=self.history.len() - MAX_HISTORY);
            }
            self.history.push((now, observation.seen));
        }
    }

    /// Moves times in the future to now: a clock was wrong once. Otherwise no failure would count
    /// until then.
    fn forget_the_future(&mut self, now: i64) {
        let moved = self.moved.as_mut().map(|moved| &mut moved.since);
        let times = [&mut self.since, &mut self.struck];
        let times = times.into_iter().chain(moved).chain(&mut self.last_ok);
        times.for_each(|time| *time = now.min(*time));
    }

    fn works(&mut self, moved_to: Option<&WebUrl>, now: i64) -> Verdict {
        self.last_ok = Some(now);
        let Some(to) = moved_to else {
            self.moved = None;
            return Verdict::Ok;
        };
        if self.moved.as_ref().is_none_or(|moved| moved.to != *to) {
            self.moved = Some(Move {
                to: to.clone(),
                since: now,
            });
        }
        Verdict::Moved
    }

    /// Counts a failure if it is far enough from the last one that counts. The one that makes a
    /// link dead must be definite.
    fn fails(&mut self, observation: &Observation, now: i64, policy: Policy) -> Verdict {
        let is_further = self.strikes == 0 || elapsed(self.struck, now) >= policy.strike_interval();
        let is_last = self.wants_fresh(policy);
        let is_certain = observation.is_fresh && observation.seen.is_definite();
        if is_further && self.strikes < policy.strikes() && (is_certain || !is_last) {
            self.strikes += 1;
            self.struck = now;
        }
        if self.strikes >= policy.strikes() {
            Verdict::Dead
        } else {
            Verdict::Failing
        }
    }

    /// Writes it into a few bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        let encoded = postcard::to_extend(self, Vec::new());
        // Nothing in it is of unknown length, the only thing that postcard cannot write.
        bytes.extend(encoded.unwrap_or_default());
        bytes
    }

    /// Reads it from what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    ///
    /// Fails if it was written by a later version, or by something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, UnreadableRecord> {
        match bytes {
            [VERSION, encoded @ ..] => match postcard::take_from_bytes(encoded) {
                Ok((record, [])) => Ok(record),
                _ => Err(UnreadableRecord::Damaged),
            },
            [version, ..] => Err(UnreadableRecord::Version { version: *version }),
            [] => Err(UnreadableRecord::Damaged),
        }
    }
}

/// Returns the time between two moments; zero if the clock went back.
fn elapsed(from: i64, to: i64) -> Duration {
    let seconds = u64::try_from(to.saturating_sub(from)).unwrap_or_default();
    Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linkcheck::request::{CertificateProblem, Failure, RedirectProblem};

    const DAY: i64 = 86_400;
    const START: i64 = 1_700_000_000;

    fn at(time: i64) -> Timestamp {
        Timestamp::from_unix(START + time)
    }

    fn observation(seen: Seen) -> Observation {
        Observation::without_request(seen)
    }

    fn moved(to: &str) -> Observation {
        Observation {
            moved_to: Some(WebUrl::parse(to).unwrap()),
            ..observation(Seen::Answered(200))
        }
    }

    /// Observes a sequence, each at a day, and returns the verdicts.
    fn verdicts(record: &mut LinkRecord, seen: &[(i64, Seen)]) -> Vec<Verdict> {
        let observe = |&(day, seen): &(i64, Seen)| {
            record.observe(&observation(seen), at(day * DAY), Policy::default());
            record.verdict()
        };
        seen.iter().map(observe).collect()
    }

    const OK: Seen = Seen::Answered(200);
    const MISSING: Seen = Seen::Answered(404);
    const NO_NAME: Seen = Seen::Failed(Failure::NoSuchName);
    const NO_SERVER: Seen = Seen::Failed(Failure::NoNameServer);

    #[test]
    fn three_strikes_over_days_make_a_link_dead() {
        use Verdict::{Dead, Failing, Ok};
        let mut record = LinkRecord::default();
        let days = [
            (0, OK),
            (1, MISSING),
            (2, MISSING),
            (4, NO_NAME),
            (6, MISSING),
            (7, MISSING),
        ];
        let expected = [Ok, Failing, Failing, Failing, Failing, Dead];
        assert_eq!(verdicts(&mut record, &days), expected);
        assert_eq!(record.strikes(), 3);
        assert_eq!(record.since(), Some(at(DAY)));
        assert_eq!(record.last_ok(), Some(at(0)));
        assert_eq!(record.checked(), Some(at(7 * DAY)));
        // A success resets everything.
        let days = [(8, MISSING), (9, OK), (10, MISSING), (20, MISSING)];
        assert_eq!(verdicts(&mut record, &days), [Dead, Ok, Failing, Failing]);
        assert_eq!(record.strikes(), 2);
    }

    #[test]
    fn many_failures_in_a_short_time_are_one() {
        let mut record = LinkRecord::default();
        for hour in 0..71 {
            record.observe(&observation(MISSING), at(hour * 3600), Policy::default());
        }
        assert_eq!((record.verdict(), record.strikes()), (Verdict::Failing, 1));
        // Nor with a clock that goes back.
        record.observe(&observation(MISSING), at(-100 * DAY), Policy::default());
        assert_eq!(record.strikes(), 1);
    }

    #[test]
    fn the_last_strike_is_beyond_doubt() {
        let mut record = LinkRecord::default();
        verdicts(&mut record, &[(0, MISSING)]);
        assert!(!record.wants_fresh(Policy::default()));
        verdicts(&mut record, &[(3, NO_SERVER)]);
        assert_eq!(record.strikes(), 2);
        assert!(record.wants_fresh(Policy::default()));
        // Not while DNS does not answer, which may be the fault of this machine.
        let expected = [Verdict::Failing; 2];
        assert_eq!(
            verdicts(&mut record, &[(6, NO_SERVER), (60, NO_SERVER)]),
            expected
        );
        let used = Observation {
            is_fresh: false,
            ..observation(MISSING)
        };
        record.observe(&used, at(63 * DAY), Policy::default());
        assert_eq!(record.verdict(), Verdict::Failing);
        assert_eq!(verdicts(&mut record, &[(63, MISSING)]), [Verdict::Dead]);
    }

    #[test]
    fn what_is_no_failure_is_no_strike_and_no_success() {
        let certificate = Seen::Failed(Failure::Certificate(CertificateProblem::Expired));
        // The host is reachable again, or inconclusive, or reports the target as missing.
        let (refuted, kept) = (Verdict::Failing, Verdict::Dead);
        for (seen, verdict, after_failures) in [
            (Seen::Answered(403), Verdict::Blocked, refuted),
            (Seen::Wall(503), Verdict::Blocked, refuted),
            (
                Seen::Astray(RedirectProblem::WantsCookie),
                Verdict::Blocked,
                refuted,
            ),
            (Seen::Disallowed, Verdict::RobotsDisallowed, refuted),
            (Seen::CrawlDelayTooLong, Verdict::Unchecked, refuted),
            (
                Seen::Failed(Failure::HeadTooLarge),
                Verdict::Unchecked,
                refuted,
            ),
            (certificate, Verdict::Insecure, refuted),
            (Seen::Answered(410), Verdict::Gone, kept),
            (Seen::NotFoundPage, Verdict::SoftNotFound, kept),
            (
                Seen::Failed(Failure::PrivateAddress),
                Verdict::Unchecked,
                kept,
            ),
            (Seen::Failed(Failure::Local), Verdict::Unchecked, kept),
        ] {
            let mut record = LinkRecord::default();
            let days: Vec<_> = (0..30).map(|day| (day, seen)).collect();
            assert_eq!(verdicts(&mut record, &days), [verdict; 30], "{seen:?}");
            assert_eq!((record.strikes(), record.last_ok()), (0, None));
            assert_eq!(record.since(), Some(at(0)));
            // After two strikes.
            let mut record = LinkRecord::default();
            let days = [(0, MISSING), (3, MISSING), (6, seen), (9, MISSING)];
            let last = verdicts(&mut record, &days).pop();
            assert_eq!(last, Some(after_failures), "{seen:?}");
        }
    }

    #[test]
    fn a_move_is_confirmed_when_it_is_seen_again_days_later() {
        let policy = Policy::default();
        let mut record = LinkRecord::default();
        let to = "https://b.example/";
        record.observe(&moved(to), at(0), policy);
        assert_eq!(record.verdict(), Verdict::Moved);
        assert_eq!(record.moved_to().map(WebUrl::as_str), Some(to));
        record.observe(&moved(to), at(2 * DAY), policy);
        assert_eq!(record.confirmed_move(policy), None);
        record.observe(&observation(MISSING), at(3 * DAY), policy);
        assert_eq!(record.moved_to(), None);
        record.observe(&moved(to), at(3 * DAY), policy);
        assert_eq!(record.confirmed_move(policy).map(WebUrl::as_str), Some(to));
        // Another destination, or none, starts from the beginning.
        record.observe(&moved("https://c.example/"), at(9 * DAY), policy);
        assert_eq!(record.confirmed_move(policy), None);
        // However short the interval is, one failure is not two.
        let soon = policy.with_strike_interval(Duration::ZERO);
        assert_eq!(record.confirmed_move(soon), None);
        record.observe(&observation(OK), at(10 * DAY), policy);
        record.observe(&moved("https://c.example/"), at(20 * DAY), policy);
        assert_eq!(record.confirmed_move(policy), None);
    }

    #[test]
    fn history_keeps_the_last_changes() {
        let mut record = LinkRecord::default();
        let days: Vec<_> = (0..20)
            .flat_map(|day| [(2 * day, OK), (2 * day + 1, OK)])
            .collect();
        verdicts(&mut record, &days);
        assert_eq!(record.history().collect::<Vec<_>>(), [(at(0), OK)]);
        let changes: Vec<_> = (50..70)
            .map(|day| (day, Seen::Answered(if day % 2 == 0 { 404 } else { 500 })))
            .collect();
        verdicts(&mut record, &changes);
        let kept: Vec<_> = record.history().map(|(time, _)| time).collect();
        let last: Vec<_> = (62..70).map(|day| at(day * DAY)).collect();
        assert_eq!(kept, last);
        assert_eq!(record.seen(), Some(Seen::Answered(500)));
    }

    #[test]
    fn checks_follow_the_verdict() {
        let policy = Policy::default();
        let day = Duration::from_secs(86_400);
        let mut record = LinkRecord::default();
        let next = |record: &LinkRecord| record.next_check(policy, "https://e.example/", 1);
        assert_eq!(next(&record), Duration::ZERO);
        let mut intervals = Vec::new();
        for time in [0, 1, 2, 3] {
            record.observe(&observation(Seen::Wall(403)), at(time), policy);
            intervals.push(next(&record));
        }
        assert_eq!(intervals, [day / 24, day, 3 * day, 3 * day]);
        record.observe(&observation(OK), at(4), policy);
        assert!(next(&record) > 12 * day);
        record.observe(&observation(Seen::Answered(410)), at(5), policy);
        assert_eq!(next(&record), day / 24);
    }

    #[test]
    fn the_usual_checks_of_a_dead_link_find_it_within_days() {
        let policy = Policy::default();
        let mut record = LinkRecord::default();
        let mut now = 0;
        let mut checks = 0;
        while record.verdict() != Verdict::Dead {
            record.observe(&observation(NO_NAME), at(now), policy);
            let next = record.next_check(policy, "https://e.example/", 1);
            now += i64::try_from(next.as_secs()).unwrap();
            checks += 1;
            assert!(checks <= 5);
        }
        assert_eq!(record.checked(), Some(at(7 * DAY + 3600)));
    }

    #[test]
    fn a_record_takes_few_bytes() {
        let mut record = LinkRecord::default();
        verdicts(&mut record, &[(0, OK), (300, OK)]);
        assert_eq!(record.to_bytes().len(), 32);
        verdicts(
            &mut record,
            &[(301, MISSING), (304, NO_NAME), (307, MISSING)],
        );
        assert_eq!(record.verdict(), Verdict::Dead);
        assert_eq!(record.to_bytes().len(), 59);
        let changes: Vec<_> = (400..420)
            .map(|day| {
                (
                    day,
                    if day % 2 == 0 {
                        Seen::Answered(999)
                    } else {
                        MISSING
                    },
                )
            })
            .collect();
        verdicts(&mut record, &changes);
        assert_eq!(record.to_bytes().len(), 92);
    }

    #[test]
    fn a_foreign_record_is_refused() {
        let mut record = LinkRecord::default();
        verdicts(&mut record, &[(0, OK), (1, MISSING)]);
        let bytes = record.to_bytes();
        assert_eq!(LinkRecord::from_bytes(&bytes), Ok(record));
        for end in 0..bytes.len() {
            assert_eq!(
                LinkRecord::from_bytes(&bytes[..end]),
                Err(UnreadableRecord::Damaged)
            );
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(
            LinkRecord::from_bytes(&longer),
            Err(UnreadableRecord::Damaged)
        );
        let newer = [&[VERSION + 1], &bytes[1..]].concat();
        let version = VERSION + 1;
        assert_eq!(
            LinkRecord::from_bytes(&newer),
            Err(UnreadableRecord::Version { version })
        );
    }

    fn any_seen() -> impl Strategy<Value = Seen> {
        prop_oneof![
            (100_u16..1000).prop_map(Seen::Answered),
            (100_u16..1000).prop_map(Seen::Wall),
            Just(NO_NAME),
            Just(NO_SERVER),
            Just(Seen::Failed(Failure::Local)),
            Just(Seen::Astray(RedirectProblem::Loop)),
            Just(Seen::NotFoundPage),
            Just(Seen::Disallowed),
        ]
    }

    proptest! {
        #[test]
        fn a_dead_link_has_failed_three_times_over_six_days(
            seen in proptest::collection::vec((any_seen(), 0..5 * DAY, any::<bool>()), 0..40),
        ) {
            let policy = Policy::default();
            let mut record = LinkRecord::default();
            let mut now = 0;
            let mut failed = Vec::new();
            for (seen, pause, is_fresh) in seen {
                now += pause;
                let observation = Observation { is_fresh, ..observation(seen) };
                match seen.evidence() {
                    Evidence::Fails => failed.push(now),
                    evidence if evidence.refutes_failures() => failed.clear(),
                    _ => (),
                }
                record.observe(&observation, at(now), policy);
                if record.verdict() == Verdict::Dead {
                    prop_assert!(failed.len() >= 3);
                    prop_assert!(now - failed[0] >= 6 * DAY);
                }
                prop_assert!(record.strikes() <= 3);
                prop_assert!(record.history.len() <= MAX_HISTORY);
                prop_assert!(record.next_check(policy, "x", 1) > Duration::ZERO);
                prop_assert_eq!(LinkRecord::from_bytes(&record.to_bytes()), Ok(record.clone()));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            LinkRecord::from_bytes(&bytes).ok();
            LinkRecord::from_bytes(&[&[VERSION], &bytes[..]].concat()).ok();
        }
    }
}
