//! Answers by which a host blocks programs, regardless of its status.
//!
//! They are recognised by their status and by fields that the operators of such walls document. The
//! text of a page is not used.

use hyper::header::{HeaderMap, SERVER};

/// Fields that mark a challenge or a block, and the value that does; `None` means any.
const MARKS: [(&str, Option<&str>); 3] = [
    ("cf-mitigated", Some("challenge")),
    ("x-amzn-waf-action", None),
    ("x-vercel-mitigated", None),
];

/// Returns whether an answer comes from a wall and not from the page.
pub(super) fn is_wall(status: u16, fields: &HeaderMap) -> bool {
    let value = |name: &str| fields.get(name).map(|value| value.as_bytes().trim_ascii());
    let is_marked = MARKS.iter().any(|(name, mark)| match (value(name), mark) {
        (Some(value), Some(mark)) => value.eq_ignore_ascii_case(mark.as_bytes()),
        (found, None) => found.is_some(),
        (None, Some(_)) => false,
    });
    // Cloudflare's older challenge page, and its answer while it protects a site under attack.
    let is_cloudflare =
        || value(SERVER.as_str()).is_some_and(|name| name.eq_ignore_ascii_case(b"cloudflare"));
    is_marked || (status == 503 && is_cloudflare())
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn walls_are_known_by_their_fields() {
        for (status, name, value, expected) in [
            (403, "cf-mitigated", "challenge", true),
            (200, "cf-mitigated", "Challenge", true),
            (200, "cf-mitigated", "none", false),
            (202, "x-amzn-waf-action", "challenge", true),
            (405, "x-amzn-waf-action", "captcha", true),
            (429, "x-vercel-mitigated", "challenge", true),
            (503, "server", "cloudflare", true),
            (503, "server", "nginx", false),
            (404, "server", "cloudflare", false),
            // The origin server behind Cloudflare does not answer.
            (522, "server", "cloudflare", false),
            (530, "server", "cloudflare", false),
        ] {
            let mut fields = HeaderMap::new();
            fields.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
            assert_eq!(
                is_wall(status, &fields),
                expected,
                "{status} {name}: {value}"
            );
        }
        assert!(!is_wall(503, &HeaderMap::new()));
    }
}
