//! The stored facts about a host and its origins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::millis::millis;
use crate::frontier::Host;
use crate::linkcheck::conclude::Sibling;
use crate::linkcheck::polite::Robots;
use crate::linkcheck::request::{Ending, Failure, Finding, WebUrl};

/// How long a robots.txt is valid (RFC 9309, section 2.4).
const ROBOTS: Duration = Duration::from_secs(24 * 3600);

/// How long a first failure to fetch a robots.txt is valid: until the links are requested again.
const NOT_FETCHED: Duration = Duration::from_secs(1800);

/// How long the answer for a nonexistent page is valid.
const SIBLING: Duration = Duration::from_secs(30 * 86_400);

/// How long others wait for an answer that is under way elsewhere.
const PENDING: Duration = Duration::from_secs(3600);

/// The stored facts about a host.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostState {
    /// Whether its answers to `HEAD` mislead.
    pub(crate) head_misleads: bool,
}

/// A fact that is requested from a host from time to time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DatedAnswer<T> {
    /// The answer; missing while it is under way, perhaps through another host.
    pub(crate) answer: Option<T>,
    /// When it was requested or answered, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// The state of such a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known<T> {
    /// The answer is known.
    Answer(T),
    /// An answer is under way; it is abandoned at this time, in milliseconds.
    Pending(u64),
    /// It must be requested.
    Unknown,
}

/// The rules of an origin, or why there are none.
pub(crate) type RobotsResult = Result<Robots, Failure>;

/// The result of fetching the robots.txt of an origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RobotsAnswer {
    result: RobotsResult,
    /// The number of consecutive fetches without an answer, or with one that reports trouble.
    failures: u8,
}

impl RobotsAnswer {
    /// Returns the answer after an earlier one; an answer with a status of 500 or more, or with
    /// 429, is only temporary.
    pub(crate) fn after(before: Option<&Self>, finding: &Finding) -> Self {
        let status = match finding.ending {
            Ending::Answered { status, .. } => Some(status),
            Ending::Failed(_) | Ending::Astray(_) => None,
        };
        let result = finding.robots();
        let is_failure = result.is_err() || status.is_some_and(|it| it == 429 || it >= 500);
        let failures = match is_failure {
            true => before.map_or(0, |it| it.failures).saturating_add(1),
            false => 0,
        };
        Self { result, failures }
    }

    /// Returns the answer that permits everything.
    pub(crate) fn without_rules() -> Self {
        Self {
            result: Ok(Robots::default()),
            failures: 0,
        }
    }

    /// Returns the rules, if there are any.
    pub(crate) fn rules(&self) -> Option<&Robots> {
        self.result.as_ref().ok()
    }

    /// Returns how long it is valid: a failed fetch is tried again after half an hour, then after
    /// twice as long each time.
    fn lasts(&self) -> Duration {
        match self.failures {
            0 => ROBOTS,
            failures => {
                let doublings = u32::from(failures - 1).min(8);
                (NOT_FETCHED * (1 << doublings)).min(ROBOTS)
            }
        }
    }
}

impl<T> DatedAnswer<T> {
    fn known(self, now: u64, lasts: impl Fn(&T) -> Duration) -> Known<T> {
        // One from the future, from a clock that was wrong, is valid for as long as one from the
        // past.
        let age = Duration::from_millis(now.abs_diff(self.at));
        match self.answer {
            Some(answer) if age < lasts(&answer) => Known::Answer(answer),
            None if age < PENDING => Known::Pending(self.at.saturating_add(millis(PENDING))),
            _ => Known::Unknown,
        }
    }
}

/// Returns the state of a robots.txt at a time.
pub(crate) fn known_robots(
    row: Option<DatedAnswer<RobotsAnswer>>,
    now: u64,
) -> Known<RobotsResult> {
    match row.map(|row| row.known(now, RobotsAnswer::lasts)) {
        Some(Known::Answer(answer)) => Known::Answer(answer.result),
        Some(Known::Pending(until)) => Known::Pending(until),
        Some(Known::Unknown) | None => Known::Unknown,
    }
}

/// Returns the state of a sibling at a time.
pub(crate) fn known_sibling(row: Option<DatedAnswer<Sibling>>, now: u64) -> Known<Sibling> {
    row.map_or(Known::Unknown, |row| row.known(now, |_| SIBLING))
}

/// Returns the host of a URL, unless its name is impossible for a host.
pub(crate) fn host_of(url: &WebUrl) -> Option<Host> {
    let url = url.url();
    let name = url.host_str()?;
    let text = match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    Host::parse(&text).ok()
}

/// Returns the host of a URL in its canonical form, unless its name is impossible for a host.
pub(crate) fn host_of_target(target: &str) -> Option<Host> {
    Host::parse(authority(target)).ok()
}

/// Returns the name and the port of the host of a URL in its canonical form, without credentials.
pub(super) fn authority(target: &str) -> &str {
    let rest = target
        .split_once("//")
        .map_or(target, |(_scheme, rest)| rest);
    let end = rest.find(['/', '?', '#']);
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns the origin of a URL, which has its own robots.txt (RFC 9309, section 2.3).
pub(crate) fn origin_of(url: &WebUrl) -> String {
    url.url().origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_schemes_of_a_host_are_one_host_and_two_origins() {
        let url = |text| WebUrl::parse(text).unwrap();
        let (plain, secure) = (url("http://a.example/b"), url("https://a.example:443/c"));
        assert_eq!(host_of(&plain), host_of(&secure));
        assert_eq!(origin_of(&plain), "http://a.example");
        assert_eq!(origin_of(&secure), "https://a.example");
        let other = url("https://[::1]:8443/");
        assert_eq!(host_of(&other).unwrap().as_str(), "[::1]:8443");
        assert_eq!(origin_of(&other), "https://[::1]:8443");
    }

    #[test]
    fn an_answer_counts_for_a_time() {
        let hour = 3_600_000;
        let row = |answer| Some(DatedAnswer { answer, at: hour });
        let rules = row(Some(RobotsAnswer::without_rules()));
        assert_eq!(known_robots(None, 0), Known::Unknown);
        let answer = Known::Answer(Ok(Robots::default()));
        assert_eq!(known_robots(rules.clone(), 25 * hour - 1), answer);
        assert_eq!(known_robots(rules, 25 * hour), Known::Unknown);
        let ahead = row(Some(RobotsAnswer::without_rules()));
        let ahead = ahead.map(|row| DatedAnswer {
            at: 100 * hour,
            ..row
        });
        assert_eq!(known_robots(ahead, hour), Known::Unknown);
        let pending = Known::Pending(2 * hour);
        assert_eq!(known_robots(row(None), 2 * hour - 1), pending);
        assert_eq!(known_robots(row(None), 2 * hour), Known::Unknown);
    }

    #[test]
    fn what_could_not_be_fetched_counts_for_longer_each_time() {
        let finding = |ending| Finding {
            ending,
            from: WebUrl::parse("https://a.example/robots.txt").unwrap(),
            hops: Vec::new(),
            is_fresh: true,
            body: bytes::Bytes::new(),
            is_whole: true,
        };
        let answered = |status| {
            finding(Ending::Answered {
                status,
                is_wall: false,
            })
        };
        let refused = finding(Ending::Failed(Failure::Refused));
        let mut answer = None;
        let mut lasts = Vec::new();
        let findings = [
            answered(503),
            refused.clone(),
            answered(429),
            answered(500),
            answered(404),
            refused,
        ];
        for finding in &findings {
            let next = RobotsAnswer::after(answer.as_ref(), finding);
            lasts.push(next.lasts().as_secs() / 60);
            answer = Some(next);
        }
        assert_eq!(lasts, [30, 60, 120, 240, 24 * 60, 30]);
        for _ in 0..300 {
            answer = Some(RobotsAnswer::after(answer.as_ref(), &findings[0]));
        }
        assert_eq!(answer.unwrap().lasts(), ROBOTS);
    }

    proptest! {
        #[test]
        fn the_host_of_a_target_is_that_of_its_url(
            host in "[a-z0-9._-]{1,12}|\\[::[0-9a-f]{1,4}\\]|[a-zäß]{1,8}",
            port in "|:80|:443|:0|:[1-9][0-9]{0,4}",
            rest in "|/|[/?#][a-z@:/?#]{0,8}",
            is_secure: bool,
        ) {
            let scheme = if is_secure { "https" } else { "http" };
            let Ok(url) = WebUrl::parse(&format!("{scheme}://{host}{port}{rest}")) else {
                return Ok(());
            };
            prop_assert_eq!(host_of_target(url.as_str()), host_of(&url));
        }
    }
}
