//! Checking targets: asking each politely and safely, and concluding a verdict.
//!
//! `polite` knows what a host allows, `ask` sends one request at a time, `conclude` turns what is seen
//! into verdicts, and `check` does that for all targets of a table. When which host may be asked is
//! for `frontier` to know.

mod ask;
mod check;
mod conclude;
mod polite;

pub use self::ask::{
    CertificateProblem, Client, Ending, Failure, Finding, Hop, Inquiry, InvalidContact, Limits,
    MAX_HOPS, MAX_PAGE_BYTES, Question, RedirectProblem, Reply, Resolve, Resolving, Rest,
    RoundTrip, Scope, Session, Step, SystemResolver, Trust, TrustError, UrlProblem, UserAgent,
    WebUrl,
};
pub use self::check::{
    Ask, Asking, Change, CheckOptions, Checker, FileState, Link, LinkUse, Links, MemoryState,
    Progress, Resolution, Row, Space, State,
};
pub use self::conclude::{
    Endings, Observation, Policy, Record, Seen, Sibling, UnreadableRecord, Verdict,
};
pub use self::polite::{
    CrawlDelayTooLong, MAX_ADAPTATION, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, Pace, Robots, retry_after,
};
