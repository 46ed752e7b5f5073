//! Observations of a target at one time, and their kinds of evidence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::linkcheck::request::{
    Ending, Failure, Finding, Hop, RedirectProblem, UrlProblem, WebUrl,
};

/// The result of a request for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Seen {
    /// A reply with this status.
    Answered(u16),
    /// A reply with this status, from a wall that blocks programs.
    Wall(u16),
    /// No reply.
    Failed(Failure),
    /// A redirect that cannot be followed.
    Astray(RedirectProblem),
    /// The host's page for missing pages, sent as a success.
    NotFoundPage,
    /// It was not requested, because robots.txt does not permit it.
    Disallowed,
    /// It was not requested, because the Crawl-delay in robots.txt is too long.
    CrawlDelayTooLong,
}

/// The kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The target works.
    Works,
    /// It does not.
    Fails,
    /// Its host reports that it is permanently gone.
    Gone,
    /// Its host blocks automated requests.
    Blocked,
    /// Its host reports success, but seems to do so for any URL.
    SoftNotFound,
    /// The robots.txt of its host disallows it.
    Disallowed,
    /// Its host cannot prove its identity.
    Insecure,
    /// Its host is reachable, but the answer is inconclusive for this program.
    Unclear,
    /// No evidence: no request was sent, or this machine is at fault.
    None,
}

impl Evidence {
    /// Returns whether earlier failures no longer count: the host is reachable again, and does not
    /// report the target as missing.
    pub(super) fn refutes_failures(self) -> bool {
        match self {
            Self::Works | Self::Blocked | Self::Disallowed | Self::Insecure | Self::Unclear => true,
            Self::Fails | Self::Gone | Self::SoftNotFound | Self::None => false,
        }
    }
}

/// An observation of a target, and its reliability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The result of the request.
    pub seen: Seen,
    /// Whether it came over a new connection.
    pub is_fresh: bool,
    /// Where the target has moved permanently: the end of the initial sequence of permanent
    /// redirects.
    pub moved_to: Option<WebUrl>,
}

impl Observation {
    /// Observes the end of an inquiry.
    pub fn of(finding: &Finding) -> Self {
        let seen = match finding.ending {
            Ending::Answered {
                status,
                is_wall: true,
            } => Seen::Wall(status),
            Ending::Answered { status, .. } => Seen::Answered(status),
            Ending::Failed(failure) => Seen::Failed(failure),
            Ending::Astray(problem) => Seen::Astray(problem),
        };
        let is_permanent = |hop: &&Hop| matches!(hop.status, 301 | 308);
        let last = finding.hops.iter().take_while(is_permanent).last();
        Self {
            seen,
            is_fresh: finding.is_fresh,
            moved_to: last.map(|hop| hop.to.clone()),
        }
    }

    /// Observes something that was concluded without an inquiry into the target.
    pub fn without_request(seen: Seen) -> Self {
        Self {
            seen,
            is_fresh: true,
            moved_to: None,
        }
    }

    /// Changes a success to the host's page for missing pages.
    #[must_use]
    pub fn as_not_found_page(self) -> Self {
        Self {
            seen: Seen::NotFoundPage,
            moved_to: None,
            ..self
        }
    }

    /// Returns whether the target works, as far as its status says.
    pub fn is_success(&self) -> bool {
        self.seen.evidence() == Evidence::Works
    }
}

impl Seen {
    /// Returns the status, if there was a reply.
    pub fn status(self) -> Option<u16> {
        match self {
            Self::Answered(status) | Self::Wall(status) => Some(status),
            Self::Failed(_)
            | Self::Astray(_)
            | Self::NotFoundPage
            | Self::Disallowed
            | Self::CrawlDelayTooLong => None,
        }
    }

    pub(super) fn evidence(self) -> Evidence {
        match self {
            Self::Answered(status) => match status {
                // A choice of pages, and an unmodified page, exist.
                200..=300 | 304 => Evidence::Works,
                410 => Evidence::Gone,
                // HTTP has no status of 600 or more, but walls do.
                401..=403 | 407 | 429 | 451 | 600.. => Evidence::Blocked,
                _ => Evidence::Fails,
            },
            Self::Wall(_) | Self::Astray(RedirectProblem::WantsCookie) => Evidence::Blocked,
            Self::Failed(failure) => of_failure(failure),
            // These are not for web clients.
            Self::Astray(RedirectProblem::Url(
                UrlProblem::Scheme | UrlProblem::Credentials | UrlProblem::TooLong,
            ))
            | Self::CrawlDelayTooLong => Evidence::Unclear,
            Self::Astray(_) => Evidence::Fails,
            Self::NotFoundPage => Evidence::SoftNotFound,
            Self::Disallowed => Evidence::Disallowed,
        }
    }

    /// Returns whether it cannot be caused by this machine's network.
    pub(super) fn is_definite(self) -> bool {
        self != Self::Failed(Failure::NoNameServer)
    }
}

fn of_failure(failure: Failure) -> Evidence {
    match failure {
        Failure::NoSuchName
        | Failure::NoNameServer
        | Failure::Refused
        | Failure::Unreachable
        | Failure::ConnectTimeout
        | Failure::Tls
        | Failure::TlsTimeout
        | Failure::AnswerTimeout
        | Failure::Closed
        | Failure::Malformed => Evidence::Fails,
        // Browsers still support some versions and ciphers that rustls does not.
        Failure::Certificate(_) | Failure::TlsIncompatible => Evidence::Insecure,
        Failure::ClientCertificate => Evidence::Blocked,
        // Browsers accept larger heads.
        Failure::HeadTooLarge => Evidence::Unclear,
        Failure::PrivateAddress | Failure::ForbiddenAddress | Failure::Local | Failure::NoTls => {
            Evidence::None
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(status) => write!(f, "status {status}"),
            Self::Wall(status) => write!(f, "a bot challenge, status {status}"),
            Self::Failed(failure) => failure.fmt(f),
            Self::Astray(problem) => problem.fmt(f),
            Self::NotFoundPage => f.write_str("other URLs of its host lead to the same page"),
            Self::Disallowed => f.write_str("disallowed by robots.txt"),
            Self::CrawlDelayTooLong => f.write_str("the Crawl-delay in robots.txt is too long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::linkcheck::request::CertificateProblem;

    fn moved_to(hops: &[(u16, &str)]) -> Option<String> {
        let url = |text: &str| WebUrl::parse(text).unwrap();
        let hops = hops.iter().map(|&(status, to)| Hop {
            status,
            to: url(to),
        });
        let finding = Finding {
            ending: Ending::Answered {
                status: 200,
                is_wall: false,
            },
            from: url("https://a.example/"),
            hops: hops.collect(),
            is_fresh: true,
            body: Bytes::new(),
            is_whole: true,
        };
        let observation = Observation::of(&finding);
        assert!(observation.is_success());
        observation.moved_to.map(String::from)
    }

    #[test]
    fn a_target_moves_by_permanent_redirects_alone() {
        let (b, c) = ("https://b.example/", "https://c.example/");
        assert_eq!(moved_to(&[]), None);
        for status in [301, 308] {
            assert_eq!(moved_to(&[(status, b)]).as_deref(), Some(b));
            assert_eq!(moved_to(&[(status, b), (301, c)]).as_deref(), Some(c));
            // Up to the first one that is not.
            assert_eq!(moved_to(&[(status, b), (302, c)]).as_deref(), Some(b));
            assert_eq!(moved_to(&[(302, b), (status, c)]), None);
        }
        for status in [302, 303, 307] {
            assert_eq!(moved_to(&[(status, b)]), None);
        }
    }

    #[test]
    fn each_sight_is_evidence_of_one_kind() {
        for (seen, evidence) in [
            (Seen::Answered(200), Evidence::Works),
            (Seen::Answered(204), Evidence::Works),
            (Seen::Answered(300), Evidence::Works),
            (Seen::Answered(400), Evidence::Fails),
            (Seen::Answered(401), Evidence::Blocked),
            (Seen::Answered(403), Evidence::Blocked),
            (Seen::Answered(404), Evidence::Fails),
            (Seen::Answered(407), Evidence::Blocked),
            (Seen::Answered(410), Evidence::Gone),
            (Seen::Answered(429), Evidence::Blocked),
            (Seen::Answered(451), Evidence::Blocked),
            (Seen::Answered(500), Evidence::Fails),
            (Seen::Answered(503), Evidence::Fails),
            (Seen::Answered(999), Evidence::Blocked),
            (Seen::Wall(200), Evidence::Blocked),
            (Seen::Wall(503), Evidence::Blocked),
            (Seen::Failed(Failure::NoSuchName), Evidence::Fails),
            (Seen::Failed(Failure::ConnectTimeout), Evidence::Fails),
            (Seen::Failed(Failure::HeadTooLarge), Evidence::Unclear),
            (Seen::Failed(Failure::PrivateAddress), Evidence::None),
            (Seen::Failed(Failure::Local), Evidence::None),
            (Seen::Failed(Failure::NoTls), Evidence::None),
            (Seen::Failed(Failure::TlsIncompatible), Evidence::Insecure),
            (Seen::Failed(Failure::ClientCertificate), Evidence::Blocked),
            (
                Seen::Failed(Failure::Certificate(CertificateProblem::Expired)),
                Evidence::Insecure,
            ),
            (Seen::Astray(RedirectProblem::Loop), Evidence::Fails),
            (
                Seen::Astray(RedirectProblem::WantsCookie),
                Evidence::Blocked,
            ),
            (
                Seen::Astray(RedirectProblem::Url(UrlProblem::Scheme)),
                Evidence::Unclear,
            ),
            (Seen::NotFoundPage, Evidence::SoftNotFound),
            (Seen::Disallowed, Evidence::Disallowed),
            (Seen::CrawlDelayTooLong, Evidence::Unclear),
        ] {
            assert_eq!(seen.evidence(), evidence, "{seen:?}");
            assert!(!seen.to_string().is_empty());
        }
    }
}
