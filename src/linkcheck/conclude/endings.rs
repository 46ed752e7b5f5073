//! Where the deep links of a host end: if several unrelated links are redirected to one page, the
//! host uses that page as a replacement for missing ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Observation;
use super::sibling::digest;
use crate::linkcheck::request::{Finding, WebUrl};

/// How many different links must end at a page.
const SEVERAL: usize = 3;

/// How many pages of a host are remembered.
const MAX_PAGES: usize = 64;

/// Where the deep links of one host end: each page with the first links that did, as digests.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endings(BTreeMap<u64, Vec<u64>>);

impl Endings {
    /// Records where an inquiry ended, and returns whether several links of the host end there.
    ///
    /// A home page is not a deep link, and a change only of host, scheme, query or case is not a
    /// redirect elsewhere. Only a success counts as an end.
    pub fn note(&mut self, finding: &Finding) -> bool {
        let (from, to) = (&finding.from, finding.url());
        let link = digest(place(from).as_bytes());
        let page = digest(to.without_fragment().as_bytes());
        for (other, links) in &mut self.0 {
            // A page that several links share is kept as long as they do.
            if *other != page {
                links.retain(|other| *other != link);
            }
        }
        self.0.retain(|_, links| !links.is_empty());
        let is_led = !finding.hops.is_empty() && path(from) != path(to);
        if from.is_home() || !is_led || !Observation::of(finding).is_success() {
            return false;
        }
        if self.0.len() >= MAX_PAGES && !self.0.contains_key(&page) {
            let lonely = self.0.iter().find(|(_, links)| links.len() == 1);
            match lonely.map(|(page, _)| *page) {
                Some(lonely) => self.0.remove(&lonely),
                None => return false,
            };
        }
        let links = self.0.entry(page).or_default();
        if links.len() < SEVERAL && !links.contains(&link) {
            links.push(link);
        }
        links.len() >= SEVERAL
    }
}

/// Returns the part that distinguishes a link from others of its host.
fn place(url: &WebUrl) -> String {
    let query = url.url().query().unwrap_or_default();
    format!("{}?{query}", path(url))
}

/// Returns the path of a URL, without differences that hosts repair.
fn path(url: &WebUrl) -> String {
    url.url().path().trim_end_matches('/').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::linkcheck::request::{Ending, Hop};

    fn url(path: &str) -> WebUrl {
        WebUrl::parse("https://e.example/")
            .unwrap()
            .redirected(path)
            .unwrap()
    }

    fn finding(from: &str, to: &str) -> Finding {
        let hop = (from != to).then(|| Hop {
            status: 301,
            to: url(to),
        });
        Finding {
            ending: Ending::Answered {
                status: 200,
                is_wall: false,
            },
            from: url(from),
            hops: hop.into_iter().collect(),
            is_fresh: true,
            body: Bytes::new(),
            is_whole: true,
        }
    }

    fn notes(endings: &mut Endings, all: &[(&str, &str)]) -> Vec<bool> {
        let note = |(from, to): &(&str, &str)| endings.note(&finding(from, to));
        all.iter().map(note).collect()
    }

    #[test]
    fn several_links_that_end_at_one_page_are_lost() {
        let mut endings = Endings::default();
        let all = [
            ("/a", "/"),
            ("/b?c", "/"),
            ("/a", "/"),
            ("/A/", "/#x"),
            ("/d", "/"),
        ];
        let expected = [false, false, false, false, true];
        assert_eq!(notes(&mut endings, &all), expected);
        // All that end there, including the first ones and a different home page.
        assert_eq!(
            notes(&mut endings, &[("/a", "/"), ("/z", "/")]),
            [true, true]
        );
        assert_eq!(notes(&mut endings, &[("/z", "/other")]), [false]);
    }

    #[test]
    fn links_that_only_change_their_form_are_not_lost() {
        let mut endings = Endings::default();
        for from in [
            "/a",
            "/a/",
            "/A",
            "/a?b",
            "http://e.example/a",
            "//www.e.example/a",
        ] {
            assert!(!endings.note(&finding(from, "https://www.e.example/a/")));
        }
        for home in ["/", "http://e.example", "//www.e.example"] {
            assert!(!endings.note(&finding(home, "https://e.example/start")));
        }
        for page in ["/1", "/2", "/3", "/4"] {
            assert!(!endings.note(&finding(page, page)));
        }
        assert_eq!(endings, Endings::default());
    }

    #[test]
    fn a_link_that_works_again_is_forgotten() {
        let mut endings = Endings::default();
        notes(
            &mut endings,
            &[("/a", "/"), ("/b", "/"), ("/a", "/a"), ("/c", "/")],
        );
        assert_eq!(
            notes(&mut endings, &[("/b", "/"), ("/d", "/")]),
            [false, true]
        );
        notes(&mut endings, &[("/b", "/b")]);
        assert_eq!(notes(&mut endings, &[("/c", "/")]), [false]);
    }

    #[test]
    fn links_that_fail_do_not_end_at_a_page() {
        let mut endings = Endings::default();
        for from in ["/a", "/b", "/c", "/d"] {
            let mut failing = finding(from, "/missing");
            failing.ending = Ending::Answered {
                status: 404,
                is_wall: false,
            };
            assert!(!endings.note(&failing));
        }
    }

    #[test]
    fn only_so_many_pages_are_remembered() {
        let mut endings = Endings::default();
        notes(&mut endings, &[("/a", "/"), ("/b", "/")]);
        for number in 0..1000 {
            endings.note(&finding(&format!("/x{number}"), &format!("/y{number}")));
        }
        assert_eq!(endings.0.len(), MAX_PAGES);
        assert_eq!(notes(&mut endings, &[("/c", "/")]), [true]);
    }
}
