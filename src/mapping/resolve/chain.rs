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
    let mut location = entry.target()?.into_owned();
    let mut links: Vec<String> = Vec::new();
    loop {
        let url = Url::parse(&location).ok().filter(|url| table.is_own(url));
        let Some(url) = url else {
            return (!links.is_empty()).then_some(End::Elsewhere(location));
        };
        if is_server_page(url.path()) {
            return Some(End::Page);
        }
        let comes_round = links.contains(&location);
        links.push(location);
        if comes_round || links.len() > MAX_LINKS {
            return Some(End::Loop(links));
        }
        let request = Request {
            host: url.host_str(),
            path: url.path(),
            query: url.query(),
        };
        location = match table.resolve(&request, now) {
            Outcome::Redirect(redirect) => redirect.location.into(),
            Outcome::Landing(_) | Outcome::Preview(_) => return Some(End::Page),
            Outcome::Gone(_) => return Some(End::Gone),
            // The prefix that a forwarding target is need not exist as its own link.
            Outcome::NotFound(_) if links.len() == 1 && entry.forward().path() => {
                return Some(End::Page);
            }
            Outcome::NotFound(_) | Outcome::Misdirected => return Some(End::Nothing),
        };
    }
}

fn is_server_page(path: &str) -> bool {
    ServerPage::at(path).is_some() || path.starts_with("/-/")
}
