//! How a host answers for a page that it never had: most send 404, some a page with status 200, or
//! a redirect to one and the same page.
//!
//! One name is tried per host and month. If the host reports that it has no such page, its
//! successes are trusted. Otherwise a success that leads to the same page, or has the same body, is
//! not a success. The text of a page is not interpreted.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use super::Observation;
use crate::linkcheck::request::{Finding, WebUrl};
use crate::mapping::Timestamp;

/// The longest ending of a name that is treated as a file extension, with its dot.
const MAX_EXTENSION: usize = 6;

/// The answer of a host for a nonexistent page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sibling {
    /// It did not answer with a success: its successes are trusted.
    Refused,
    /// It answered with a success.
    Accepted {
        /// The digest of the URL to which it redirected, if it did.
        ending: Option<u64>,
        /// The digest of the page, if it was short enough to be read as a whole.
        body: Option<u64>,
    },
}

impl Sibling {
    /// Returns the URL of a nonexistent page next to a target, the same for all workers in one
    /// month. A home page has none.
    pub fn url(target: &WebUrl, now: Timestamp) -> Option<WebUrl> {
        if target.is_home() {
            return None;
        }
        let mut url = target.url().clone();
        let name = name(url.host_str()?, now)?;
        let path = url.path();
        // The sibling of a directory is a directory, too.
        let (path, end) = match path.strip_suffix('/') {
            Some(directory) => (directory, "/"),
            None => (path, extension(path)),
        };
        let parent = path.rfind('/').map_or("", |slash| &path[..slash]);
        let path = format!("{parent}/{name}{end}");
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        WebUrl::parse(url.as_str()).ok()
    }

    /// Judges the end of an inquiry into such a page.
    pub fn of(finding: &Finding) -> Self {
        if !Observation::of(finding).is_success() {
            return Self::Refused;
        }
        Self::Accepted {
            ending: ending(finding),
            body: body(finding),
        }
    }

    /// Returns whether the pages of the host must be read to know which exist.
    pub fn wants_body(self) -> bool {
        matches!(self, Self::Accepted { body: Some(_), .. })
    }

    /// Returns whether the host has answered for a target as for a nonexistent page.
    pub fn is_like(self, finding: &Finding) -> bool {
        let Self::Accepted {
            ending: other_ending,
            body: other_body,
        } = self
        else {
            return false;
        };
        let is_same = |one: Option<u64>, other| one.is_some() && one == other;
        !finding.from.is_home()
            && (is_same(ending(finding), other_ending) || is_same(body(finding), other_body))
    }
}

/// Returns the name to try at a host in the month of a time.
fn name(host: &str, now: Timestamp) -> Option<String> {
    let now = OffsetDateTime::from_unix_timestamp(now.unix()).ok()?;
    let mut hash = Sha256::new();
    hash.update(now.year().to_le_bytes());
    hash.update([now.month().into()]);
    hash.update(host);
    let letters = hash.finalize();
    let letter = |byte: u8| char::from(b'a' + byte % 26);
    Some(letters.iter().take(16).copied().map(letter).collect())
}

/// Returns the extension of the last segment of a path, with its dot, if it has one.
fn extension(path: &str) -> &str {
    let segment = path.rfind('/').map_or(path, |slash| &path[slash + 1..]);
    let extension = segment.rfind('.').map_or("", |dot| &segment[dot..]);
    let is_plain = extension.len() <= MAX_EXTENSION
        && extension
            .bytes()
            .skip(1)
            .all(|byte| byte.is_ascii_alphanumeric());
    if is_plain { extension } else { "" }
}

fn ending(finding: &Finding) -> Option<u64> {
    let last = finding.hops.last()?;
    Some(digest(last.to.without_fragment().as_bytes()))
}

fn body(finding: &Finding) -> Option<u64> {
    let is_page = finding.is_whole && !finding.body.is_empty();
    is_page.then(|| digest(&finding.body))
}

/// Returns a short digest, for comparing two pages of one host; nothing depends on secrecy.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    let first = digest.first_chunk().copied();
    u64::from_le_bytes(first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::linkcheck::request::{Ending, Hop};

    const NOVEMBER: Timestamp = Timestamp::from_unix(1_795_305_600);

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    fn finding(status: u16, from: &str, to: Option<&str>, body: &'static str) -> Finding {
        let is_wall = false;
        let hop = to.map(|to| Hop {
            status: 302,
            to: url(to),
        });
        Finding {
            ending: Ending::Answered { status, is_wall },
            from: url(from),
            hops: hop.into_iter().collect(),
            is_fresh: true,
            body: Bytes::from_static(body.as_bytes()),
            is_whole: true,
        }
    }

    #[test]
    fn a_sibling_looks_like_its_target() {
        let name = name("e.example", NOVEMBER).unwrap();
        assert!(name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_lowercase()));
        for (target, path) in [
            ("/a", format!("/{name}")),
            ("/a/b/c", format!("/a/b/{name}")),
            ("/a/b/c/", format!("/a/b/{name}/")),
            ("/a/", format!("/{name}/")),
            ("/a/b.html?c#d", format!("/a/{name}.html")),
            ("/a/b.tar.gz", format!("/a/{name}.gz")),
            ("/a/b.c%20d", format!("/a/{name}")),
            ("/a/Mr._Smith_and_others", format!("/a/{name}")),
            ("/?p=1", format!("/{name}/")),
        ] {
            let target = url(&format!("https://e.example{target}"));
            let expected = url(&format!("https://e.example{path}"));
            assert_eq!(Sibling::url(&target, NOVEMBER), Some(expected), "{target}");
        }
        for home in ["https://e.example", "https://e.example/#a"] {
            assert_eq!(Sibling::url(&url(home), NOVEMBER), None);
        }
    }

    #[test]
    fn a_sibling_is_one_per_host_and_month() {
        let month = 31 * 86_400;
        let first = name("e.example", NOVEMBER);
        let later = |seconds| name("e.example", Timestamp::from_unix(NOVEMBER.unix() + seconds));
        assert_eq!(first, later(86_400));
        assert_ne!(first, later(month));
        assert_ne!(first, later(12 * month));
        assert_ne!(first, name("f.example", NOVEMBER));
        assert_eq!(name("e.example", Timestamp::MIN), None);
    }

    #[test]
    fn a_host_that_knows_what_it_lacks_is_trusted() {
        let target = finding(200, "https://e.example/a", None, "page");
        for status in [404, 410, 403, 500] {
            let sibling = finding(status, "https://e.example/x", None, "page");
            let sibling = Sibling::of(&sibling);
            assert_eq!(sibling, Sibling::Refused);
            assert!(!sibling.is_like(&target) && !sibling.wants_body());
        }
    }

    #[test]
    fn a_host_that_has_everything_is_not() {
        let from = "https://e.example/a";
        let sibling = Sibling::of(&finding(200, "https://e.example/x", None, "not found"));
        assert!(sibling.wants_body());
        assert!(sibling.is_like(&finding(200, from, None, "not found")));
        assert!(!sibling.is_like(&finding(200, from, None, "page")));
        // Without a page there is nothing to compare.
        assert!(!sibling.is_like(&finding(200, from, None, "")));
        let home = "https://e.example/";
        assert!(!sibling.is_like(&finding(200, home, None, "not found")));
        let mut cut = finding(200, from, None, "not found");
        cut.is_whole = false;
        assert!(!sibling.is_like(&cut));
    }

    #[test]
    fn a_host_that_redirects_all_missing_pages_to_one_page_is_not() {
        let lost = Some("https://e.example/lost");
        let sibling = Sibling::of(&finding(200, "https://e.example/x", lost, ""));
        assert!(!sibling.wants_body());
        assert!(sibling.is_like(&finding(200, "https://e.example/a", lost, "")));
        let lost = Some("https://e.example/lost#a");
        assert!(sibling.is_like(&finding(200, "https://e.example/a#a", lost, "")));
        let found = Some("https://e.example/b");
        assert!(!sibling.is_like(&finding(200, "https://e.example/a", found, "")));
        // The page itself exists.
        let itself = finding(200, "https://e.example/lost", None, "");
        assert!(!sibling.is_like(&itself));
    }
}
