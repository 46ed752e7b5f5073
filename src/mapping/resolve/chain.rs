//! Chains: targets that are themselves short links of the table, followed to their end.

use url::Url;

use super::accept::AcceptFields;
use super::request::{Outcome, Request};
use super::server_page::ServerPage;
use super::site_redirect::SiteKey;
use crate::mapping::packed::{Entry, Table, Variant};
use crate::mapping::value::Timestamp;

/// The maximum number of links of a chain: browsers give up after about
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
    /// The links of a loop, the last of which is one of the others, or of a chain that is too long.
    Loop(Vec<String>),
}

/// Returns what the links of [`End::Loop`] are: a chain of different links can be too long, too.
pub(crate) fn name_of_loop(links: &[String]) -> String {
    match links.split_last() {
        Some((last, before)) if !before.contains(last) => {
            format!("a chain of more than {MAX_LINKS} short links")
        }
        _ => "a loop of short links".to_owned(),
    }
}

/// Follows an entry's target at a time; `None` if it does not lead back into the table then.
pub(crate) fn follow(table: &Table, entry: Entry<'_>, now: Timestamp) -> Option<End> {
    if entry.is_gone(now) {
        return None;
    }
    let target = entry.target()?.into_owned();
    let followed = follow_url(table, target, None, now)?;
    Some(end_of(entry, followed))
}

/// Follows a variant of an entry at a time, with each of its media types; `None` if it does not lead
/// back into the table then. Of several ends, a loop is returned.
pub(crate) fn follow_variant(
    table: &Table,
    entry: Entry<'_>,
    variant: Variant<'_>,
    now: Timestamp,
) -> Option<End> {
    if entry.is_gone(now) {
        return None;
    }
    let followed = follow_url_for(table, variant.target(), variant, now)?;
    Some(end_of(entry, followed))
}

/// Follows a URL at a time with each of the media types of a variant; `None` if it does not lead into the
/// table then. Of several ends, a loop is returned.
pub(crate) fn follow_url_for(
    table: &Table,
    url: &str,
    variant: Variant<'_>,
    now: Timestamp,
) -> Option<Followed> {
    let types = variant.types();
    let all = types.filter_map(|accept| follow_url(table, url.to_owned(), Some(&accept), now));
    all.reduce(|first, other| match other.end {
        End::Loop(_) => other,
        _ => first,
    })
}

/// Follows a URL to which paths below the codes of an entry are appended, at a time; `None` if it does not lead back
/// into the table then.
pub(crate) fn follow_below(
    table: &Table,
    entry: Entry<'_>,
    below: String,
    now: Timestamp,
) -> Option<End> {
    if entry.is_gone(now) {
        return None;
    }
    let followed = follow_url(table, below, None, now)?;
    Some(followed.end_of_prefix())
}

/// Returns the end of an entry's target, which was followed.
fn end_of(entry: Entry<'_>, followed: Followed) -> End {
    match entry.forward().path() {
        true => followed.end_of_prefix(),
        false => followed.end,
    }
}

/// A URL that was followed.
pub(crate) struct Followed {
    pub(crate) end: End,
    /// Whether the URL itself is anything that the table or the server has.
    pub(crate) is_link: bool,
}

impl Followed {
    /// Returns the end of a URL to which paths are appended, which need not exist as a link of its own.
    fn end_of_prefix(self) -> End {
        match self.is_link {
            true => self.end,
            false => End::Page,
        }
    }
}

/// Follows a URL at a time, for a client that accepts some media types; `None` if it does not lead into the table then.
pub(crate) fn follow_url(
    table: &Table,
    mut location: String,
    accept: Option<&dyn AcceptFields>,
    now: Timestamp,
) -> Option<Followed> {
    let mut links: Vec<String> = Vec::new();
    let mut is_link = true;
    let ended = |end, is_link| Some(Followed { end, is_link });
    loop {
        let url = Url::parse(&location).ok().filter(|url| table.is_own(url));
        let Some(url) = url else {
            return ended(End::Elsewhere(location), is_link).filter(|_| !links.is_empty());
        };
        if is_server_page(url.path()) {
            return ended(End::Page, is_link);
        }
        let comes_round = links.contains(&location);
        links.push(location);
        if comes_round || links.len() > MAX_LINKS {
            return ended(End::Loop(links), is_link);
        }
        let request = Request {
            host: url.host_str(),
            path: url.path(),
            query: url.query(),
            accept,
        };
        let end = match table.resolve(&request, now) {
            Outcome::Redirect(redirect) => {
                location = redirect.location.into();
                continue;
            }
            Outcome::SiteRedirect(redirect) => {
                is_link &= links.len() > 1 || redirect.key != SiteKey::Fallback;
                location = redirect.location.into_owned();
                continue;
            }
            Outcome::Landing(_) | Outcome::Preview(_) => End::Page,
            Outcome::Gone(_) => End::Gone,
            Outcome::NotFound(_) | Outcome::Misdirected => {
                is_link &= links.len() > 1;
                End::Nothing
            }
        };
        return ended(end, is_link);
    }
}

fn is_server_page(path: &str) -> bool {
    ServerPage::at(path).is_some() || path.starts_with("/-/")
}
