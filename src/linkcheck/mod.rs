//! Checking targets: asking each politely and safely, and concluding a verdict.
//!
//! `polite` knows what a host allows, `ask` sends one request at a time, `conclude` turns what is seen
//! into verdicts, and `check` does that for all targets of a table; `report` has what is then known of
//! them. When which host may be asked is for `frontier` to know.

mod archive;
mod ask;
mod check;
mod conclude;
mod polite;
mod report;

pub use self::archive::{Archive, ArchiveAnswer, ArchiveProblem, WAYBACK_MACHINE, may_be_named};
pub use self::ask::{
    AskClient, CertificateProblem, Ending, Failure, Finding, Hop, Inquiry, InvalidContact, Limits,
    MAX_HOPS, MAX_PAGE_BYTES, Question, RedirectProblem, Reply, Resolve, Resolving, Rest,
    RoundTrip, Scope, Session, Step, SystemResolver, Trust, TrustError, UrlProblem, UserAgent,
    WebUrl,
};
#[cfg(feature = "valkey")]
pub use self::check::ValkeyState;
pub use self::check::{
    Ask, Asking, CheckOptions, CheckProgress, CheckState, Checker, FileState, LinkUse, Links,
    MemoryState, RequestResult, Resolution, Row, Space, StateRow, StateWrite, TableLink,
    WriteState,
};
pub use self::conclude::{
    Endings, LinkRecord, Observation, Policy, Seen, Sibling, UnreadableRecord, Verdict,
};
pub use self::polite::{
    CrawlDelayTooLong, HostPace, MAX_ADAPTATION, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, Robots,
    retry_after,
};
pub use self::report::{
    Conclusion, Day, KnownLinks, LinkSummary, ReportedLink, VerdictCounts, troubled_links,
};
