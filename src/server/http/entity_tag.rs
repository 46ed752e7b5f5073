//! Entity tags: whether a client already has the current content (RFC 9110 section 13.1.2).

use hyper::HeaderMap;
use hyper::header::{HeaderValue, IF_NONE_MATCH};

/// Returns whether a client has the content with that tag.
pub(crate) fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let tag = tag.to_str().map(opaque).unwrap_or_default();
    let known = headers.get_all(IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|value| value.to_str().ok());
    // Our tags contain no comma, and tags that do are not ours.
    known.any(|value| {
        let mut tags = value.split(',').map(str::trim);
        tags.any(|known| known == "*" || opaque(known) == tag)
    })
}
