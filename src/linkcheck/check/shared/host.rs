//! What is remembered of a host and of its origins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::millis::millis;
use crate::frontier::Host;
use crate::linkcheck::ask::{Failure, WebUrl};
use crate::linkcheck::conclude::Sibling;
use crate::linkcheck::polite::Robots;

/// How long a robots.txt counts (RFC 9309, section 2.4).
const ROBOTS: Duration = Duration::from_secs(24 * 3600);

/// How long it counts that a robots.txt could not be fetched: until the links are asked again.
const UNREACHED: Duration = Duration::from_secs(1800);

/// How long it counts what a host did with a name that it cannot know.
const SIBLING: Duration = Duration::from_secs(30 * 86_400);

/// How long others wait for an answer that was under way elsewhere.
const PENDING: Duration = Duration::from_secs(3600);

/// What is remembered of a host.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostState {
    /// Whether its answers to `HEAD` mislead.
    pub(crate) head_misleads: bool,
}

/// What is known of something that a host is asked once in a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked<T> {
    /// The answer; missing while it is on its way, perhaps over another host.
    pub(crate) answer: Option<T>,
    /// When it was asked or answered, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// What is to be done about such a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known<T> {
    /// This is known.
    Answer(T),
    /// An answer is on its way; at this time, in milliseconds, it is given up.
    Pending(u64),
    /// It is to be asked.
    Unknown,
}

/// The rules of an origin, or why there are none.
pub(crate) type RobotsAnswer = Result<Robots, Failure>;

impl<T> Asked<T> {
    fn known(self, now: u64, lasts: impl Fn(&T) -> Duration) -> Known<T> {
        let age = Duration::from_millis(now.saturating_sub(self.at));
        match self.answer {
            Some(answer) if age < lasts(&answer) => Known::Answer(answer),
            None if age < PENDING => Known::Pending(self.at.saturating_add(millis(PENDING))),
            _ => Known::Unknown,
        }
    }
}

/// Returns what is known of a robots.txt at a time.
pub(crate) fn known_robots(row: Option<Asked<RobotsAnswer>>, now: u64) -> Known<RobotsAnswer> {
    let lasts = |answer: &RobotsAnswer| match answer {
        Ok(_) => ROBOTS,
        Err(_) => UNREACHED,
    };
    row.map_or(Known::Unknown, |row| row.known(now, lasts))
}

/// Returns what is known of a sibling at a time.
pub(crate) fn known_sibling(row: Option<Asked<Sibling>>, now: u64) -> Known<Sibling> {
    row.map_or(Known::Unknown, |row| row.known(now, |_| SIBLING))
}

/// Returns the host of a URL, unless its name is one that no host can have.
pub(crate) fn host_of(url: &WebUrl) -> Option<Host> {
    let url = url.url();
    let name = url.host_str()?;
    let text = match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    Host::parse(&text).ok()
}

/// Returns the origin of a URL, which has a robots.txt of its own (RFC 9309, section 2.3).
pub(crate) fn origin_of(url: &WebUrl) -> String {
    url.url().origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
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
        let row = |answer| Some(Asked { answer, at: hour });
        let rules = row(Some(Ok(Robots::default())));
        assert_eq!(known_robots(None, 0), Known::Unknown);
        let answer = Known::Answer(Ok(Robots::default()));
        assert_eq!(known_robots(rules.clone(), 25 * hour - 1), answer);
        assert_eq!(known_robots(rules, 25 * hour), Known::Unknown);
        let failed = row(Some(Err(Failure::Refused)));
        assert_eq!(known_robots(failed, 2 * hour), Known::Unknown);
        let pending = Known::Pending(2 * hour);
        assert_eq!(known_robots(row(None), 2 * hour - 1), pending);
        assert_eq!(known_robots(row(None), 2 * hour), Known::Unknown);
    }
}
