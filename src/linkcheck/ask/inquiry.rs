//! From a URL to what it leads to, one question at a time: `HEAD`, `GET` where `HEAD` is not
//! believed, and the hops of a redirect.
//!
//! An inquiry sends nothing: it says what to ask next, and its caller reserves the host, pauses, asks
//! and hands in the reply. It can be stored between two questions.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::client::{MAX_PAGE_BYTES, Question};
use super::{Failure, Reply, RoundTrip, UrlProblem, WebUrl};
use crate::linkcheck::polite::{MAX_ROBOTS_BYTES, Robots};

/// How many redirects are followed.
pub const MAX_HOPS: usize = 10;

/// How many are followed to a robots.txt (RFC 9309, section 2.3.1.2).
const MAX_ROBOTS_HOPS: usize = 5;

/// What an inquiry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Purpose {
    /// Whether a page is there.
    Page,
    /// What is on a page.
    Body,
    /// The robots.txt of a host.
    Robots,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Its status.
    pub status: u16,
    /// Where it leads.
    pub to: WebUrl,
}

/// An inquiry under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inquiry {
    purpose: Purpose,
    from: WebUrl,
    hops: Vec<Hop>,
    /// Whether `HEAD` was answered here, but that is not believed.
    after_head: bool,
    /// Whether a new connection is wanted.
    wants_fresh: bool,
    /// Whether a redirect came with a cookie.
    has_cookie: bool,
}

/// Why a redirect leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Error)]
pub enum RedirectProblem {
    /// It does not say where it leads.
    #[error("a redirect has no Location header")]
    NoLocation,
    /// It leads to what is not asked.
    #[error("a redirect leads to a URL that cannot be checked: {0}")]
    Url(UrlProblem),
    /// It leads to where it came from.
    #[error("the redirects form a loop")]
    Loop,
    /// Too many follow one another.
    #[error("there are more than {MAX_HOPS} redirects")]
    TooMany,
    /// It leads in a circle or too far, and would end for a client that keeps cookies.
    #[error("the redirects require cookies")]
    WantsCookie,
}

/// What an inquiry comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A reply that is no redirect.
    Answered {
        /// Its status.
        status: u16,
        /// Whether it comes from a wall that keeps programs out.
        is_wall: bool,
    },
    /// No reply.
    Failed(Failure),
    /// A redirect that is not followed.
    Astray(RedirectProblem),
}

/// An inquiry that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it came to.
    pub ending: Ending,
    /// The URL that it began with.
    pub from: WebUrl,
    /// The redirects that were followed.
    pub hops: Vec<Hop>,
    /// Whether the last reply came over a new connection. A failure always does.
    pub is_fresh: bool,
    /// The beginning of the page, if it was asked for.
    pub body: Bytes,
    /// Whether that is the whole page.
    pub is_whole: bool,
}

/// What comes after a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Another question: after a pause, if it is to the same host, or else once its host is reserved.
    Ask(Inquiry),
    /// Nothing.
    Done(Box<Finding>),
}

impl Inquiry {
    /// Asks whether a page is there.
    pub fn of_page(url: WebUrl) -> Self {
        Self::new(Purpose::Page, url)
    }

    /// Asks what is on a page.
    pub fn of_body(url: WebUrl) -> Self {
        Self::new(Purpose::Body, url)
    }

    /// Asks for the robots.txt of the host of a URL.
    pub fn of_robots(url: &WebUrl) -> Self {
        let mut robots = url.url().clone();
        robots.set_path("/robots.txt");
        robots.set_query(None);
        robots.set_fragment(None);
        // It is as valid as the other.
        let robots = WebUrl::parse(robots.as_str()).unwrap_or_else(|_| url.clone());
        Self::new(Purpose::Robots, robots)
    }

    fn new(purpose: Purpose, from: WebUrl) -> Self {
        Self {
            purpose,
            from,
            hops: Vec::new(),
            after_head: false,
            wants_fresh: false,
            has_cookie: false,
        }
    }

    /// Asks over new connections only.
    #[must_use]
    pub fn fresh(self) -> Self {
        Self {
            wants_fresh: true,
            ..self
        }
    }

    /// Returns the URL that is to be asked now.
    pub fn url(&self) -> &WebUrl {
        self.hops.last().map_or(&self.from, |hop| &hop.to)
    }

    /// Returns what to ask, by `GET` if the host is known for answers to `HEAD` that mislead.
    pub fn question(&self, head_misleads: bool) -> Question {
        Question {
            url: self.url().clone(),
            wants_body: self.purpose != Purpose::Page || self.after_head || head_misleads,
            max_body_bytes: match self.purpose {
                Purpose::Robots => MAX_ROBOTS_BYTES,
                Purpose::Page | Purpose::Body => MAX_PAGE_BYTES,
            },
            wants_fresh: self.wants_fresh,
        }
    }

    /// Returns what comes after the reply to a question.
    pub fn next(mut self, question: &Question, round_trip: RoundTrip) -> Step {
        let is_fresh = round_trip.is_fresh;
        let reply = match round_trip.result {
            Ok(reply) => reply,
            // The host may only have closed a connection that was idle.
            Err(_) if !is_fresh => return Step::Ask(self.fresh()),
            Err(failure) if !question.wants_body && failure.is_after_request() => {
                self.after_head = true;
                return Step::Ask(self);
            }
            Err(failure) => return self.done(Ending::Failed(failure), is_fresh, None),
        };
        match self.redirect(&reply) {
            Some(Ok(hop)) => {
                self.hops.push(hop);
                self.after_head = false;
                Step::Ask(self)
            }
            _ if !question.wants_body && !is_believed(&reply) => {
                self.after_head = true;
                Step::Ask(self)
            }
            Some(Err(problem)) => self.done(Ending::Astray(problem), is_fresh, None),
            None => {
                let ending = Ending::Answered {
                    status: reply.status,
                    is_wall: reply.is_wall,
                };
                self.done(ending, is_fresh, Some(reply))
            }
        }
    }

    /// Returns whether a question by `GET` shows that an answer to `HEAD` here was misleading.
    pub fn shows_misled_head(&self, question: &Question, round_trip: &RoundTrip) -> bool {
        let is_fine = |reply: &Reply| matches!(reply.status, 200..=399);
        self.after_head && question.wants_body && round_trip.result.as_ref().is_ok_and(is_fine)
    }

    /// Returns where a reply leads, if it is a redirect.
    fn redirect(&mut self, reply: &Reply) -> Option<Result<Hop, RedirectProblem>> {
        if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
            return None;
        }
        let Some(location) = &reply.location else {
            return Some(Err(RedirectProblem::NoLocation));
        };
        self.has_cookie |= reply.sets_cookie;
        let to = match self.url().redirected(location) {
            Ok(to) => to,
            Err(problem) => return Some(Err(RedirectProblem::Url(problem))),
        };
        let max_hops = match self.purpose {
            Purpose::Robots => MAX_ROBOTS_HOPS,
            Purpose::Page | Purpose::Body => MAX_HOPS,
        };
        let earlier = self.hops.iter().map(|hop| &hop.to).chain([&self.from]);
        let problem = if earlier
            .map(WebUrl::without_fragment)
            .any(|url| url == to.without_fragment())
        {
            RedirectProblem::Loop
        } else if self.hops.len() == max_hops {
            RedirectProblem::TooMany
        } else {
            let status = reply.status;
            return Some(Ok(Hop { status, to }));
        };
        Some(Err(match self.has_cookie {
            true => RedirectProblem::WantsCookie,
            false => problem,
        }))
    }

    fn done(self, ending: Ending, is_fresh: bool, reply: Option<Reply>) -> Step {
        let reply = reply.unwrap_or_default();
        Step::Done(Box::new(Finding {
            ending,
            from: self.from,
            hops: self.hops,
            is_fresh,
            body: reply.body,
            is_whole: reply.is_whole,
        }))
    }
}

/// Returns whether an answer to `HEAD` is what `GET` would be answered with, or at least a reason not
/// to ask again.
fn is_believed(reply: &Reply) -> bool {
    matches!(reply.status, 200..=299 | 401 | 407 | 429 | 451) || reply.retry_after.is_some()
}

impl Finding {
    /// Returns the URL that it ended at.
    pub fn url(&self) -> &WebUrl {
        self.hops.last().map_or(&self.from, |hop| &hop.to)
    }

    /// Returns what a robots.txt that was asked for says.
    ///
    /// # Errors
    ///
    /// Fails if the host cannot be reached: then this is what asking it for anything comes to.
    pub fn robots(&self) -> Result<Robots, Failure> {
        match self.ending {
            Ending::Answered { status, .. } => {
                // Of a line that did not arrive as a whole, the rest could have made it narrower.
                let end = match self.is_whole {
                    true => Some(self.body.len()),
                    false => self.body.iter().rposition(|byte| *byte == b'\n'),
                };
                Ok(Robots::answered(
                    status,
                    &self.body[..end.unwrap_or_default()],
                ))
            }
            Ending::Failed(failure) => Err(failure),
            Ending::Astray(_) => Ok(Robots::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    fn trip(result: Result<Reply, Failure>) -> RoundTrip {
        RoundTrip {
            result,
            took: Duration::ZERO,
            is_fresh: true,
        }
    }

    fn status(status: u16) -> RoundTrip {
        trip(Ok(Reply {
            status,
            ..Reply::default()
        }))
    }

    fn to(status: u16, location: &str) -> RoundTrip {
        trip(Ok(Reply {
            status,
            location: Some(location.to_owned()),
            ..Reply::default()
        }))
    }

    /// Plays an inquiry, and returns what was asked and what it came to.
    fn play(mut inquiry: Inquiry, trips: Vec<RoundTrip>) -> (Vec<String>, Box<Finding>) {
        let mut asked = Vec::new();
        let mut trips = trips.into_iter();
        loop {
            let question = inquiry.question(false);
            let method = if question.wants_body { "GET" } else { "HEAD" };
            asked.push(format!("{method} {}", question.url));
            match inquiry.next(&question, trips.next().unwrap()) {
                Step::Ask(next) => inquiry = next,
                Step::Done(finding) => {
                    assert_eq!(trips.len(), 0);
                    return (asked, finding);
                }
            }
        }
    }

    fn page(trips: Vec<RoundTrip>) -> (Vec<String>, Box<Finding>) {
        play(Inquiry::of_page(url("https://a.example/x")), trips)
    }

    fn answered(status: u16) -> Ending {
        let is_wall = false;
        Ending::Answered { status, is_wall }
    }

    #[test]
    fn head_is_believed_when_nothing_speaks_against_it() {
        for code in [200, 204, 299, 401, 407, 429, 451] {
            let (asked, finding) = page(vec![status(code)]);
            assert_eq!(asked, ["HEAD https://a.example/x"]);
            assert_eq!(finding.ending, answered(code));
        }
        let busy = trip(Ok(Reply {
            status: 503,
            retry_after: Some(Duration::ZERO),
            ..Reply::default()
        }));
        assert_eq!(page(vec![busy]).1.ending, answered(503));
        for code in [300, 304, 400, 403, 404, 405, 410, 500, 501, 503, 999] {
            let (asked, finding) = page(vec![status(code), status(200)]);
            let both = ["HEAD https://a.example/x", "GET https://a.example/x"];
            assert_eq!(asked, both, "{code}");
            assert_eq!(finding.ending, answered(200));
        }
        assert_eq!(page(vec![status(404), status(404)]).1.ending, answered(404));
        // What HEAD leads to may be followed by GET alone.
        let (_, finding) = page(vec![status(302), to(302, "/y"), status(200)]);
        assert_eq!(finding.url(), &url("https://a.example/y"));
    }

    #[test]
    fn a_host_that_does_not_answer_head_is_asked_by_get() {
        for failure in [Failure::Closed, Failure::AnswerTimeout, Failure::Malformed] {
            let (asked, finding) = page(vec![trip(Err(failure)), status(200)]);
            assert_eq!(asked.len(), 2);
            assert_eq!(finding.ending, answered(200));
        }
        for failure in [Failure::NoSuchName, Failure::Refused, Failure::TlsTimeout] {
            let (asked, finding) = page(vec![trip(Err(failure))]);
            assert_eq!(asked.len(), 1);
            assert_eq!(finding.ending, Ending::Failed(failure));
        }
    }

    #[test]
    fn misleading_answers_to_head_are_noticed() {
        let inquiry = Inquiry::of_page(url("https://a.example/"));
        let by_head = inquiry.question(false);
        assert!(!inquiry.shows_misled_head(&by_head, &status(404)));
        let Step::Ask(inquiry) = inquiry.next(&by_head, status(404)) else {
            panic!("it should be asked again");
        };
        let by_get = inquiry.question(false);
        assert!(inquiry.shows_misled_head(&by_get, &status(200)));
        assert!(inquiry.shows_misled_head(&by_get, &to(301, "/x")));
        assert!(!inquiry.shows_misled_head(&by_get, &status(404)));
        assert!(!inquiry.shows_misled_head(&by_get, &trip(Err(Failure::Closed))));
        // Where that is known, GET comes first.
        let inquiry = Inquiry::of_page(url("https://a.example/"));
        let known = inquiry.question(true);
        assert!(known.wants_body);
        assert!(!inquiry.shows_misled_head(&known, &status(200)));
    }

    #[test]
    fn a_failure_on_a_used_connection_is_no_ending() {
        let used = RoundTrip {
            is_fresh: false,
            ..trip(Err(Failure::Closed))
        };
        let inquiry = Inquiry::of_page(url("https://a.example/"));
        let question = inquiry.question(false);
        assert!(!question.wants_fresh);
        let Step::Ask(again) = inquiry.next(&question, used) else {
            panic!("it should be asked again");
        };
        // HEAD is not to blame.
        let question = again.question(false);
        assert!(question.wants_fresh && !question.wants_body);
    }

    #[test]
    fn redirects_are_followed_one_question_at_a_time() {
        let (asked, finding) = page(vec![
            to(301, "/y#z"),
            to(302, "http://b.example/"),
            status(405),
            status(200),
        ]);
        assert_eq!(
            asked,
            [
                "HEAD https://a.example/x",
                "HEAD https://a.example/y#z",
                "HEAD http://b.example/#z",
                "GET http://b.example/#z"
            ]
        );
        let statuses: Vec<_> = finding.hops.iter().map(|hop| hop.status).collect();
        assert_eq!(statuses, [301, 302]);
        assert_eq!(finding.from, url("https://a.example/x"));
        assert_eq!(finding.url(), &url("http://b.example/#z"));
    }

    #[test]
    fn redirects_end() {
        let many: Vec<_> = (0..=MAX_HOPS)
            .map(|hop| to(302, &format!("/{hop}")))
            .chain([to(302, "/more")])
            .collect();
        let (asked, finding) = page(many);
        // The last of them is asked by GET, too.
        assert_eq!(asked.len(), MAX_HOPS + 2);
        assert_eq!(finding.ending, Ending::Astray(RedirectProblem::TooMany));
        for (locations, problem) in [
            (["/y", "/x#other"], RedirectProblem::Loop),
            (["/y", "/y"], RedirectProblem::Loop),
            (
                ["/y", "ftp://a.example/"],
                RedirectProblem::Url(UrlProblem::Scheme),
            ),
            (
                ["/y", "//u:p@a.example/"],
                RedirectProblem::Url(UrlProblem::Credentials),
            ),
        ] {
            let [first, second] = locations.map(|location| to(301, location));
            let finding = page(vec![first, second.clone(), second]).1;
            assert_eq!(finding.ending, Ending::Astray(problem), "{locations:?}");
        }
        let finding = page(vec![status(301), status(301)]).1;
        assert_eq!(finding.ending, Ending::Astray(RedirectProblem::NoLocation));
    }

    #[test]
    fn a_circle_of_cookies_is_known_as_one() {
        let mut circle = to(302, "/x");
        if let Ok(reply) = &mut circle.result {
            reply.sets_cookie = true;
        }
        let finding = page(vec![circle.clone(), circle]).1;
        assert_eq!(finding.ending, Ending::Astray(RedirectProblem::WantsCookie));
    }

    #[test]
    fn a_robots_txt_is_asked_for_by_get_over_five_redirects() {
        let robots = || Inquiry::of_robots(&url("https://a.example:8443/x?y#z"));
        let body = trip(Ok(Reply {
            status: 200,
            body: Bytes::from_static(b"User-agent: *\nDisallow: /"),
            is_whole: true,
            ..Reply::default()
        }));
        let hops = |count| (0..count).map(|hop| to(301, &format!("/{hop}")));
        let (asked, finding) = play(robots(), hops(5).chain([body.clone()]).collect());
        assert_eq!(asked[0], "GET https://a.example:8443/robots.txt");
        let refuses = |finding: &Finding| {
            let robots = finding.robots().unwrap();
            !robots.allows(url("https://a.example/x").url())
        };
        assert!(refuses(&finding));
        let mut part = body;
        if let Ok(reply) = &mut part.result {
            reply.is_whole = false;
        }
        assert!(!refuses(&play(robots(), vec![part]).1));
        // As if there were none.
        assert!(!refuses(&play(robots(), hops(6).collect()).1));
        assert!(refuses(&play(robots(), vec![status(500)]).1));
        assert!(!refuses(&play(robots(), vec![status(404)]).1));
        let finding = play(robots(), vec![trip(Err(Failure::Refused))]).1;
        assert_eq!(finding.robots(), Err(Failure::Refused));
    }

    #[test]
    fn an_inquiry_can_be_stored_between_two_questions() {
        let inquiry = Inquiry::of_page(url("https://a.example/x"));
        let question = inquiry.question(false);
        let Step::Ask(inquiry) = inquiry.next(&question, to(301, "/y")) else {
            panic!("it should be asked again");
        };
        let text = serde_json::to_string(&inquiry).unwrap();
        assert_eq!(serde_json::from_str::<Inquiry>(&text).unwrap(), inquiry);
        let other = text.replace("https://a.example/y", "file:///etc/passwd");
        assert!(serde_json::from_str::<Inquiry>(&other).is_err());
    }
}
