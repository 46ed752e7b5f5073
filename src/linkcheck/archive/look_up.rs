//! Look-ups with the availability API of the Wayback Machine
//! (<https://archive.org/help/wayback_api.php>), which others offer too.
//!
//! The answer of an archive is not trusted: a copy is accepted only if it is at the archive's own
//! host and the page had worked.

use serde::Deserialize;

use super::answer::{ArchiveAnswer, ArchiveProblem};
use crate::linkcheck::request::{Ending, Finding, UrlProblem, WebUrl};
use crate::mapping::Target;

/// The API of the Wayback Machine.
pub const WAYBACK_MACHINE: &str = "https://archive.org/wayback/available";

/// The API of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive(WebUrl);

/// An answer, with only the needed fields.
#[derive(Deserialize)]
struct Availability {
    archived_snapshots: ArchiveSnapshots,
}

#[derive(Deserialize)]
struct ArchiveSnapshots {
    closest: Option<ArchiveSnapshot>,
}

#[derive(Deserialize)]
struct ArchiveSnapshot {
    available: bool,
    url: String,
    status: String,
}

impl std::str::FromStr for Archive {
    type Err = UrlProblem;

    fn from_str(url: &str) -> Result<Self, UrlProblem> {
        WebUrl::parse(url).map(Self)
    }
}

impl Archive {
    /// Returns the archive that was queried at a URL.
    pub(crate) fn at(url: &WebUrl) -> Self {
        Self(url.clone())
    }

    /// Returns the URL that queries a copy of a page, unless it is too long.
    pub(crate) fn question(&self, page: &WebUrl) -> Option<WebUrl> {
        let mut url = self.0.url().clone();
        let others = url.query_pairs().into_owned();
        let others: Vec<_> = others.filter(|(name, _)| name != "url").collect();
        url.query_pairs_mut()
            .clear()
            .extend_pairs(others)
            .append_pair("url", page.without_fragment());
        WebUrl::parse(url.as_str()).ok()
    }

    /// Returns the answer from the end of an inquiry.
    pub(crate) fn answer(&self, finding: &Finding) -> ArchiveAnswer {
        self.copy(finding)
            .map_or_else(ArchiveAnswer::Failed, |copy| {
                copy.map_or(ArchiveAnswer::NoCopy, ArchiveAnswer::Copy)
            })
    }

    fn copy(&self, finding: &Finding) -> Result<Option<String>, ArchiveProblem> {
        match finding.ending {
            Ending::Answered { status: 200, .. } => {}
            Ending::Answered { status, .. } => return Err(ArchiveProblem::Status(status)),
            Ending::Failed(failure) => return Err(ArchiveProblem::Failed(failure)),
            Ending::Astray(problem) => return Err(ArchiveProblem::Astray(problem)),
        }
        if !self.is_own(finding.url()) {
            return Err(ArchiveProblem::Foreign);
        }
        if !finding.is_whole {
            return Err(ArchiveProblem::TooLong);
        }
        let answer: Availability =
            serde_json::from_slice(&finding.body).map_err(|_| ArchiveProblem::Unreadable)?;
        let closest = answer.archived_snapshots.closest;
        let Some(copy) = closest.filter(|it| it.available && it.status == "200") else {
            return Ok(None);
        };
        let url = WebUrl::parse(&copy.url).ok().filter(|url| self.is_own(url));
        let url = url.ok_or(ArchiveProblem::Foreign)?;
        let target = Target::parse(url.as_str()).map_err(|_| ArchiveProblem::Unreadable)?;
        Ok(Some(target.as_str().to_owned()))
    }

    /// Returns whether a URL is at the host of the interface, or at one whose name ends in its name.
    fn is_own(&self, url: &WebUrl) -> bool {
        let (own, url) = (self.0.url(), url.url());
        let (Some(host), Some(name)) = (url.host_str(), own.host_str()) else {
            return false;
        };
        let is_below = || {
            let above = host.strip_suffix(name);
            own.domain().is_some() && above.is_some_and(|above| above.ends_with('.'))
        };
        url.port() == own.port() && (host == name || is_below())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn wayback() -> Archive {
        WAYBACK_MACHINE.parse().unwrap()
    }

    fn finding(body: &[u8]) -> Finding {
        Finding {
            ending: Ending::Answered {
                status: 200,
                is_wall: false,
            },
            from: WebUrl::parse(WAYBACK_MACHINE).unwrap(),
            hops: Vec::new(),
            is_fresh: true,
            body: Bytes::copy_from_slice(body),
            is_whole: true,
        }
    }

    fn closest(url: &str, status: &str) -> String {
        format!(
            r#"{{"url": "e.org", "archived_snapshots": {{"closest": {{"status": "{status}",
            "available": true, "url": "{url}", "timestamp": "20060101064348"}}}}}}"#
        )
    }

    #[test]
    fn a_page_is_looked_up_by_its_whole_url() {
        let page = WebUrl::parse("http://e.org/a?b=c&d=%2F#e").unwrap();
        let request = wayback().question(&page).unwrap();
        assert_eq!(
            request.as_str(),
            "https://archive.org/wayback/available?url=http%3A%2F%2Fe.org%2Fa%3Fb%3Dc%26d%3D%252F"
        );
        let other: Archive = "http://127.0.0.1:8080/find?key=k&url=".parse().unwrap();
        let request = other.question(&WebUrl::parse("http://e.org/").unwrap());
        assert_eq!(
            request.unwrap().as_str(),
            "http://127.0.0.1:8080/find?key=k&url=http%3A%2F%2Fe.org%2F"
        );
        let longest = format!("http://e.org/{}", "/".repeat(8000));
        let longest = WebUrl::parse(&longest).unwrap();
        assert_eq!(wayback().question(&longest), None);
    }

    #[test]
    fn only_a_copy_that_worked_at_its_own_host_is_taken() {
        let copy = "http://web.archive.org/web/20060101064348/http://e.org:80/a";
        let answer = |body: &str| wayback().answer(&finding(body.as_bytes()));
        assert_eq!(
            answer(&closest(copy, "200")),
            ArchiveAnswer::Copy(copy.to_owned())
        );
        for none in [
            closest(copy, "404"),
            closest(copy, "200").replace("true", "false"),
            r#"{"archived_snapshots": {}}"#.to_owned(),
        ] {
            assert_eq!(answer(&none), ArchiveAnswer::NoCopy, "{none}");
        }
        for (body, problem) in [
            (
                closest("https://evil.example/", "200"),
                ArchiveProblem::Foreign,
            ),
            (
                closest("https://notarchive.org/", "200"),
                ArchiveProblem::Foreign,
            ),
            (
                closest("https://archive.org:8443/", "200"),
                ArchiveProblem::Foreign,
            ),
            (
                closest("https://a:b@archive.org/", "200"),
                ArchiveProblem::Foreign,
            ),
            (
                closest("javascript:alert(1)", "200"),
                ArchiveProblem::Foreign,
            ),
            (
                closest(copy, "200")[1..].to_owned(),
                ArchiveProblem::Unreadable,
            ),
            ("[]".to_owned(), ArchiveProblem::Unreadable),
        ] {
            assert_eq!(answer(&body), ArchiveAnswer::Failed(problem), "{body}");
        }
        let body = closest(copy, "200");
        let mut cut = finding(body.as_bytes());
        cut.is_whole = false;
        let mut led = finding(body.as_bytes());
        led.from = WebUrl::parse("https://evil.example/").unwrap();
        let mut refused = finding(body.as_bytes());
        refused.ending = Ending::Answered {
            status: 503,
            is_wall: false,
        };
        for (finding, problem) in [
            (cut, ArchiveProblem::TooLong),
            (led, ArchiveProblem::Foreign),
            (refused, ArchiveProblem::Status(503)),
        ] {
            assert_eq!(wayback().answer(&finding), ArchiveAnswer::Failed(problem));
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read_or_refused(
            url in "(https?://)?([a-z.]{0,8}archive[.]org|[a-z.@:]{1,8})\\PC{0,12}",
            tail in "\\PC{0,6}",
        ) {
            let body = closest(&url.replace(['"', '\\'], ""), "200") + &tail;
            if let ArchiveAnswer::Copy(copy) = wayback().answer(&finding(body.as_bytes())) {
                let copy = url::Url::parse(&copy).unwrap();
                let host = copy.host_str().unwrap();
                prop_assert!(host == "archive.org" || host.ends_with(".archive.org"), "{}", copy);
            }
        }
    }
}
