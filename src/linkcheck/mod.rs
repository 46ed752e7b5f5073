//! Checking targets: requesting each politely and safely, and concluding a verdict.
//!
//! `polite` has the rules of hosts, `request` sends one request at a time, `conclude` turns
//! observations into verdicts, `archive` looks up dead links in a web archive, and `check` does all
//! this for the targets of a table; `report` has the results. Each imports only those before it.
//! `frontier` decides when which host may be requested.
//!
//! `tests/e2e/linkcheck` runs the program in a network namespace where every name resolves to a
//! farm of fake hosts, and proves its politeness from the farm's log.
//!
//! # Invariants
//!
//! - `polite` and `conclude` are pure: their decisions depend only on their arguments.
//! - A connection goes to an address that was checked after the name was resolved; a name with any
//!   forbidden address is not contacted at all.
//! - A request is sent once: nothing is repeated and no redirect followed without a pause in
//!   between, which only the caller can keep.
//! - A lease is for one request at most. A redirect to another host is queued there with its chain,
//!   so no worker waits for a lease while holding one.
//! - An answer and the end of its lease are written together: after a crash a request is repeated,
//!   and nothing is lost.
//! - Everything a host sends is bounded in size and time.
//! - A link is dead after several failures over days, without evidence in between that it may work;
//!   this machine cannot have caused the last one.
//! - The state of a target is small: 32 bytes for one that has always worked, under a key of 12.
//!   The texts of links stay in the table.

mod archive;
mod check;
mod conclude;
mod polite;
mod report;
mod request;

pub use self::archive::{Archive, ArchiveAnswer, ArchiveProblem, WAYBACK_MACHINE, may_be_named};
#[cfg(feature = "valkey")]
pub use self::check::ValkeyState;
pub use self::check::{
    CheckOptions, CheckProgress, CheckState, Checker, FileState, LinkRole, LinkUse, Links,
    MemoryState, PendingReply, QueueRow, RequestResult, Requester, Resolution, Space, StateRow,
    StateWrite, TableLink, WriteState,
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
pub use self::request::{
    CertificateProblem, Ending, Failure, Finding, Hop, Inquiry, InvalidContact, Limits, MAX_HOPS,
    MAX_PAGE_BYTES, Question, RedirectProblem, Reply, RequestClient, Resolve, Resolving, Rest,
    RoundTrip, Scope, Session, Step, SystemResolver, Trust, TrustError, UrlProblem, UserAgent,
    WebUrl,
};
