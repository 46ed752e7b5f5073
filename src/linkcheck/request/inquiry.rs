//! From a URL to its final response, one request at a time: `HEAD`, `GET` if the answer to `HEAD`
//! is not reliable, and the hops of a redirect.
//!
//! An inquiry does no I/O: it returns the next request, and its caller reserves the host, pauses,
//! sends it and passes in the reply. It can be stored between two requests.

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

/// The purpose of an inquiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Purpose {
    /// Whether a page exists.
    Page,
    /// The content of a page.
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
    /// Whether `HEAD` was answered here, but not reliably.
    after_head: bool,
    /// Whether a new connection is required.
    wants_fresh: bool,
    /// Whether a redirect set a cookie.
    has_cookie: bool,
}

/// Why a redirect cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Error)]
pub enum RedirectProblem {
    /// It names no location.
    #[error("a redirect has no Location header")]
    NoLocation,
    /// It leads to a URL that cannot be checked.
    #[error("a redirect leads to a URL that cannot be checked: {0}")]
    Url(UrlProblem),
    /// It leads back to a previous URL.
    #[error("the redirects form a loop")]
    Loop,
    /// Too many follow one another.
    #[error("there are more than {MAX_HOPS} redirects")]
    TooMany,
    /// It loops or is too long, and would end for a client that keeps cookies.
    #[error("the redirects require cookies")]
    WantsCookie,
}

/// The end of an inquiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A reply that is not a redirect.
    Answered {
        /// Its status.
        status: u16,
        /// Whether it comes from a wall that blocks programs.
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
    /// Its end.
    pub ending: Ending,
    /// The URL with which it began.
    pub from: WebUrl,
    /// The redirects that were followed.
    pub hops: Vec<Hop>,
    /// Whether the last reply came over a new connection. For a failure, this is always true.
    pub is_fresh: bool,
    /// The beginning of the page, if it was requested.
    pub body: Bytes,
    /// Whether that is the whole page.
    pub is_whole: bool,
}

/// The step after a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Another request: after a pause, if it is to the same host, or otherwise once its host is
    /// reserved.
    Send(Inquiry),
    /// Nothing.
    Done(Box<Finding>),
}

impl Inquiry {
    /// Begins an inquiry about whether a page exists.
    pub fn of_page(url: WebUrl) -> Self {
        Self::new(Purpose::Page, url)
    }

    /// Begins an inquiry about the content of a page.
    pub fn of_body(url: WebUrl) -> Self {
        Self::new(Purpose::Body, url)
    }

    /// Begins an inquiry about the robots.txt of the host of a URL.
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

    /// Uses only new connections.
    #[must_use]
    pub fn fresh(self) -> Self {
        Self {
            wants_fresh: true,
            ..self
        }
    }

    /// Returns the URL of the next request.
    pub fn url(&self) -> &WebUrl {
        self.hops.last().map_or(&self.from, |hop| &hop.to)
    }

    /// Returns the next request.
    pub fn question(&self) -> Question {
        Question {
            url: self.url().clone(),
            wants_body: self.purpose != Purpose::Page || self.after_head,
            max_body_bytes: match self.purpose {
                Purpose::Robots => MAX_ROBOTS_BYTES,
                Purpose::Page | Purpose::Body => MAX_PAGE_BYTES,
            },
            wants_fresh: self.wants_fresh,
        }
    }

    /// Returns the next request, by `GET`, for a host known for misleading answers to `HEAD`.
    pub fn question_by_get(&self) -> Question {
        Question {
            wants_body: true,
            ..self.question()
        }
    }

    /// Returns the step after the reply to a request.
    pub fn next(mut self, question: &Question, round_trip: RoundTrip) -> Step {
        let is_fresh = round_trip.is_fresh;
        let reply = match round_trip.result {
            Ok(reply) => reply,
            // The host may only have closed a connection that was idle.
            Err(_) if !is_fresh => return Step::Send(self.fresh()),
            Err(failure) if !question.wants_body && failure.is_after_request() => {
                self.after_head = true;
                return Step::Send(self);
            }
            Err(failure) => return self.done(Ending::Failed(failure), is_fresh, None),
        };
        match self.redirect(&reply) {
            Some(Ok(hop)) => {
                self.hops.push(hop);
                self.after_head = false;
                Step::Send(self)
            }
            _ if !question.wants_body && !is_believed(&reply) => {
                self.after_head = true;
                Step::Send(self)
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

    /// Returns whether a request with `GET` shows that an answer to `HEAD` was misleading here.
    pub fn shows_misled_head(&self, question: &Question, round_trip: &RoundTrip) -> bool {
        let is_fine = |reply: &Reply| matches!(reply.status, 200..=399);
        self.after_head && question.wants_body && round_trip.result.as_ref().is_ok_and(is_fine)
    }

    /// Returns the redirect of a reply, if it is one.
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

/// Returns whether an answer to `HEAD` equals that to `GET`, or is at least a reason not to send
/// another request.
fn is_believed(reply: &Reply) -> bool {
    matches!(reply.status, 200..=299 | 401 | 407 | 429 | 451) || reply.retry_after.is_some()
}

impl Finding {
    /// Returns the URL at which it ended.
    pub fn url(&self) -> &WebUrl {
        self.hops.last().map_or(&self.from, |hop| &hop.to)
    }

    /// Returns the rules of a requested robots.txt.
    ///
    /// # Errors
    ///
    /// Fails if the host cannot be reached: then any request to it fails in the same way.
    pub fn robots(&self) -> Result<Robots, Failure> {
        match self.ending {
            Ending::Answered { status, .. } => {
                // The missing rest of an incomplete line could have made it narrower.
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

    /// Runs an inquiry, and returns its requests and its end.
    fn play(mut inquiry: Inquiry, trips: Vec<RoundTrip>) -> (Vec<String>, Box<Finding>) {
        let mut requests = Vec::new();
        let mut trips = trips.into_iter();
        loop {
            let question = inquiry.question();
            let method = if question.wants_body { "GET" } else { "HEAD" };
            requests.push(format!("{method} {}", question.url));
            match inquiry.next(&question, trips.next().unwrap()) {
                Step::Send(next) => inquiry = next,
                Step::Done(finding) => {
                    assert_eq!(trips.len(), 0);
                    return (requests, finding);
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
            let (requests, finding) = page(vec![status(code)]);
            assert_eq!(requests, ["HEAD https://a.example/x"]);
            assert_eq!(finding.ending, answered(code));
        }
        let busy = trip(Ok(Reply {
            status: 503,
            retry_after: Some(Duration::ZERO),
            ..Reply::default()
        }));
        assert_eq!(page(vec![busy]).1.ending, answered(503));
        for code in [300, 304, 400, 403, 404, 405, 410, 500, 501, 503, 999] {
            let (requests, finding) = page(vec![status(code), status(200)]);
            let both = ["HEAD https://a.example/x", "GET https://a.example/x"];
            assert_eq!(requests, both, "{code}");
            assert_eq!(finding.ending, answered(200));
        }
        assert_eq!(page(vec![status(404), status(404)]).1.ending, answered(404));
        // The redirects of HEAD may differ from those of GET.
        let (_, finding) = page(vec![status(302), to(302, "/y"), status(200)]);
        assert_eq!(finding.url(), &url("https://a.example/y"));
    }

    #[test]
    fn a_host_that_does_not_answer_head_is_checked_with_get() {
        for failure in [Failure::Closed, Failure::AnswerTimeout, Failure::Malformed] {
            let (requests, finding) = page(vec![trip(Err(failure)), status(200)]);
            assert_eq!(requests.len(), 2);
            assert_eq!(finding.ending, answered(200));
        }
        for failure in [Failure::NoSuchName, Failure::Refused, Failure::TlsTimeout] {
            let (requests, finding) = page(vec![trip(Err(failure))]);
            assert_eq!(requests.len(), 1);
            assert_eq!(finding.ending, Ending::Failed(failure));
        }
    }

    #[test]
    fn misleading_answers_to_head_are_noticed() {
        let inquiry = Inquiry::of_page(url("https://a.example/"));
        let by_head = inquiry.question();
        assert!(!inquiry.shows_misled_head(&by_head, &status(404)));
        let Step::Send(inquiry) = inquiry.next(&by_head, status(404)) else {
            panic!("it should be sent again");
        };
        let by_get = inquiry.question();
        assert!(inquiry.shows_misled_head(&by_get, &status(200)));
        assert!(inquiry.shows_misled_head(&by_get, &to(301, "/x")));
        assert!(!inquiry.shows_misled_head(&by_get, &status(404)));
        assert!(!inquiry.shows_misled_head(&by_get, &trip(Err(Failure::Closed))));
        // If that is known, GET comes first.
        let inquiry = Inquiry::of_page(url("https://a.example/"));
        let known = inquiry.question_by_get();
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
        let question = inquiry.question();
        assert!(!question.wants_fresh);
        let Step::Send(again) = inquiry.next(&question, used) else {
            panic!("it should be sent again");
        };
        // HEAD is not to blame.
        let question = again.question();
        assert!(question.wants_fresh && !question.wants_body);
    }

    #[test]
    fn redirects_are_followed_one_question_at_a_time() {
        let (requests, finding) = page(vec![
            to(301, "/y#z"),
            to(302, "http://b.example/"),
            status(405),
            status(200),
        ]);
        assert_eq!(
            requests,
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
        let (requests, finding) = page(many);
        // The last of them is requested with GET, too.
        assert_eq!(requests.len(), MAX_HOPS + 2);
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
    fn a_robots_txt_is_requested_with_get_over_five_redirects() {
        let robots = || Inquiry::of_robots(&url("https://a.example:8443/x?y#z"));
        let body = trip(Ok(Reply {
            status: 200,
            body: Bytes::from_static(b"User-agent: *\nDisallow: /"),
            is_whole: true,
            ..Reply::default()
        }));
        let hops = |count| (0..count).map(|hop| to(301, &format!("/{hop}")));
        let (requests, finding) = play(robots(), hops(5).chain([body.clone()]).collect());
        assert_eq!(requests[0], "GET https://a.example:8443/robots.txt");
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
        // Treated as if there were no robots.txt.
        assert!(!refuses(&play(robots(), hops(6).collect()).1));
        assert!(refuses(&play(robots(), vec![status(500)]).1));
        assert!(!refuses(&play(robots(), vec![status(404)]).1));
        let finding = play(robots(), vec![trip(Err(Failure::Refused))]).1;
        assert_eq!(finding.robots(), Err(Failure::Refused));
    }

    #[test]
    fn an_inquiry_can_be_stored_between_two_questions() {
        let inquiry = Inquiry::of_page(url("https://a.example/x"));
        let question = inquiry.question();
        let Step::Send(inquiry) = inquiry.next(&question, to(301, "/y")) else {
            panic!("it should be sent again");
        };
        let text = serde_json::to_string(&inquiry).unwrap();
        assert_eq!(serde_json::from_str::<Inquiry>(&text).unwrap(), inquiry);
        let other = text.replace("https://a.example/y", "file:///etc/passwd");
        assert!(serde_json::from_str::<Inquiry>(&other).is_err());
    }
}
