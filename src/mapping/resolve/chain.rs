//! Chains: targets that are themselves short links of the table, followed to their end.

use url::Url;

use super::request::{Outcome, Request};
use super::server_page::ServerPage;
use crate::mapping::packed::{Entry, Table};
use crate::mapping::value::Timestamp;

/// The number of links after which a chain is considered endless: browsers give up after about
/// twenty.
const MAX_LINKS: usize = 20;

/// The end of a chain.
pub(crate) enum End {
    /// A target outside the table.
    Elsewhere(String),
    /// A page of the table's own sites, or of the server.
    Page,
    /// A retired entry.
    Gone,
    /// No entry.
    Nothing,
    /// The links that lead to each other.
    Loop(Vec<String>),
}

/// Follows an entry's target at a time; `None` if it does not lead back into the table then.
pub(crate) fn follow(table: &Table, entry: Entry<'_>, now: Timestamp) -> Option<End> {
    if entry.is_gone(now) {
        return None;
    }
    let target = entry.target()?.into_owned();
    // The prefix that a forwarding target is need not exist as its own link.
    let may_miss = entry.forward().path();
    match follow_url(table, target, now)? {
        (End::Nothing, 1) if may_miss => Some(End::Page),
        (end, _) => Some(end),
    }
}

/// Follows a URL at a time, and returns its end and the number of links up to there; `None` if it does
/// not lead into the table then.
pub(crate) fn follow_url(
    table: &Table,
    mut location: String,
    now: Timestamp,
) -> Option<(End, usize)> {
    let mut links: Vec<String> = Vec::new();
    loop {
        let url = Url::parse(&location).ok().filter(|url| table.is_own(url));
        let Some(url) = url else {
            return (!links.is_empty()).then_some((End::Elsewhere(location), links.len()));
        };
        if is_server_page(url.path()) {
            return Some((End::Page, links.len()));
        }
        let comes_round = links.contains(&location);
        links.push(location);
        if comes_round || links.len() > MAX_LINKS {
            let count = links.len();
            return Some((End::Loop(links), count));
        }
        let request = Request {
            host: url.host_str(),
            path: url.path(),
            query: url.query(),
        };
        let end = match table.resolve(&request, now) {
            Outcome::Redirect(redirect) => {
                location = redirect.location.into();
                continue;
            }
            Outcome::SiteRedirect(redirect) => {
                location = redirect.location.into_owned();
                continue;
            }
            Outcome::Landing(_) | Outcome::Preview(_) => End::Page,
            Outcome::Gone(_) => End::Gone,
            Outcome::NotFound(_) | Outcome::Misdirected => End::Nothing,
        };
        return Some((end, links.len()));
    }
}

fn is_server_page(path: &str) -> bool {
    ServerPage::at(path).is_some() || path.starts_with("/-/")
}
