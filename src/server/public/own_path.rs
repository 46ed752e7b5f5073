//! Paths of the server's own: those under `/-/`, at the root of a host or under the base path of a
//! site. No code has a segment `-`, so none of them is a short link.

use crate::mapping::{Request, Site, Table};

/// A path of the server's own.
pub(super) struct OwnPath<'t, 'r> {
    /// The site that host and base path choose; `None` if there are several, and none has this host.
    pub(super) site: Option<&'t Site>,
    /// The rest after the first `-/`.
    pub(super) rest: &'r str,
}

impl<'t, 'r> OwnPath<'t, 'r> {
    /// Reads a path; `None` if it belongs to the table.
    pub(super) fn read(table: &'t Table, asked: &Request<'r>) -> Option<Self> {
        // Nearly all requests are for something else, and end here.
        if !asked.path.contains("/-/") {
            return None;
        }
        let site = table.site_of(asked.host, asked.path);
        let base = site.map_or("/", |site| site.base_url().path());
        let under = |base: &str| asked.path.strip_prefix(base)?.strip_prefix("-/");
        let rest = under(base).or_else(|| under("/"))?;
        Some(Self { site, rest })
    }
}
