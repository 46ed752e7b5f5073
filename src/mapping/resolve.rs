//! Resolving (stub: the types are final).

use std::borrow::Cow;

use super::{Entry, Site, Status, Table, Timestamp};

/// What of a request decides its outcome.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The host as the client named it, with or without a port; `None` if it named none.
    pub host: Option<&'r str>,
    /// The raw path, percent-encoded as sent.
    pub path: &'r str,
    /// The raw query, without its `?`.
    pub query: Option<&'r str>,
}

/// What a request resolves to.
pub enum Outcome<'t> {
    /// A short link was followed.
    Redirect(Redirect<'t>),
    /// A short link with `+` behind it: shown, not followed.
    Preview(Entry<'t>),
    /// The base URL itself.
    Landing(&'t Site),
    /// A retired or expired entry.
    Gone(Entry<'t>),
    /// No such code in this site.
    NotFound(&'t Site),
    /// No site of this table has this host and base path.
    Misdirected,
}

/// A redirect: everything its response needs.
pub struct Redirect<'t> {
    /// The entry that was hit.
    pub entry: Entry<'t>,
    /// The status to answer with.
    pub status: Status,
    /// The absolute URL to send, ASCII and safe in a header.
    pub location: Cow<'t, str>,
    /// How long the answer may be cached, in seconds; 0 means `no-store`.
    pub max_age: u32,
    /// How the code was found.
    pub via: Via,
}

/// How a code was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// Exactly as written, or in another spelling of the same code.
    Code,
    /// As a forwarding prefix of the path.
    Forward,
    /// After repairing what a linkifier broke.
    Repair,
}

impl Table {
    /// Decides what a request gets. Total, and without any effect.
    pub fn resolve(&self, _request: &Request<'_>, _now: Timestamp) -> Outcome<'_> {
        todo!()
    }
}
