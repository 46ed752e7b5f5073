//! robots.txt (RFC 9309): the paths of a host that may be requested.
//!
//! Only the rules for [`PRODUCT`] are kept. The age of a copy, and the limit of five redirects, are
//! handled where it is fetched.

mod pattern;
mod rules;
mod text;

pub use self::rules::Robots;
pub use self::text::MAX_ROBOTS_BYTES;

/// The name under which a robots.txt addresses Waypost.
const PRODUCT: &str = "waypost";

impl Robots {
    /// Parses the body of a robots.txt. Unknown lines are ignored.
    pub fn parse(body: &[u8]) -> Self {
        text::parse(PRODUCT, body)
    }

    /// Returns the rules from an answer to the request for a robots.txt: for a success, those of
    /// its body; none, if there is no file or too many redirects lead to it; otherwise, nothing may
    /// be requested (RFC 9309, section 2.3.1).
    ///
    /// A status of 429 means too many requests, and so permits nothing.
    pub fn answered(status: u16, body: &[u8]) -> Self {
        match status {
            200..=299 => Self::parse(body),
            429 => Self::nothing(),
            300..=499 => Self::default(),
            _ => Self::nothing(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::*;

    fn allows(robots: &Robots, path: &str) -> bool {
        robots.allows(&Url::parse(&format!("https://e.example{path}")).unwrap())
    }

    /// Section 5.1 of the RFC.
    const SIMPLE: &str = "\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
";

    #[test]
    fn the_rfc_s_simple_example() {
        for (token, allowed, refused) in [
            (
                "anybot",
                &["/", "/publications/", "/a.gifs", "/a.gif?x", "/robots.txt"][..],
                &["/a.gif", "/x/a.gif", "/example/", "/example/page.html"][..],
            ),
            (
                "foobot",
                &["/example/page.html", "/example/allowed.gif", "/robots.txt"],
                &["/", "/example/", "/publications/", "/a.gif"],
            ),
            (
                "barbot",
                &["/", "/example/", "/a.gif"],
                &["/example/page.html", "/example/page.html?q"],
            ),
            ("bazbot", &["/"], &["/example/page.html"]),
            ("QuxBot", &["/", "/example/page.html", "/a.gif"], &[]),
        ] {
            let robots = text::parse(token, SIMPLE.as_bytes());
            for path in allowed {
                assert!(allows(&robots, path), "{token} {path}");
            }
            for path in refused {
                assert!(!allows(&robots, path), "{token} {path}");
            }
        }
    }

    #[test]
    fn the_longest_rule_decides() {
        // Section 5.2.
        let robots = Robots::parse(
            b"User-Agent: waypost\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        );
        assert!(allows(&robots, "/example/page/"));
        assert!(!allows(&robots, "/example/page/disallowed.gif"));
        // Of two equally long ones, in either order, the one that allows.
        for text in ["Allow: /a\nDisallow: /a", "Disallow: /a\nAllow: /a"] {
            let robots = Robots::parse(format!("user-agent: *\n{text}").as_bytes());
            assert!(allows(&robots, "/a"));
        }
    }

    #[test]
    fn a_status_decides_without_a_body() {
        let rules = b"User-agent: *\nDisallow: /a";
        for (status, root, below) in [
            (200, true, false),
            (206, true, false),
            (301, true, true),
            (401, true, true),
            (404, true, true),
            (429, false, false),
            (500, false, false),
            (503, false, false),
            (999, false, false),
        ] {
            let robots = Robots::answered(status, rules);
            assert_eq!(allows(&robots, "/"), root, "{status}");
            assert_eq!(allows(&robots, "/a"), below, "{status}");
            assert!(allows(&robots, "/robots.txt"), "{status}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_answered(
            body in proptest::collection::vec(any::<u8>(), 0..400),
            path in "/\\PC{0,30}",
        ) {
            let Ok(url) = Url::parse(&format!("https://e.example{path}")) else {
                return Err(TestCaseError::reject("no URL"));
            };
            Robots::parse(&body).allows(&url);
        }

        #[test]
        fn any_file_of_known_lines_is_decided_as_by_trying_all(
            lines in proptest::collection::vec((any::<bool>(), "/[ab*/]{0,6}[$]?"), 0..8),
            path in "/[ab/]{0,8}",
        ) {
            let mut text = "User-agent: *\n".to_owned();
            for (allows, pattern) in &lines {
                let key = if *allows { "Allow" } else { "Disallow" };
                text += &format!("{key}: {pattern}\n");
            }
            let url = Url::parse(&format!("https://e.example{path}")).unwrap();
            let mut best = (0, true);
            for (allows, pattern) in &lines {
                if slowly(pattern.as_bytes(), url.path().as_bytes()) {
                    // A `*` and a `$` count like other characters; a `$` alone has three bytes
                    // wherever it is no sign.
                    best = best.max((pattern.len(), *allows));
                }
            }
            prop_assert_eq!(Robots::parse(text.as_bytes()).allows(&url), best.1);
        }
    }

    /// Matches as the RFC describes it, trying everything.
    fn slowly(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern.split_first(), path.split_first()) {
            (None, _) => true,
            (Some((b'$', [])), _) => path.is_empty(),
            (Some((b'*', rest)), None) => slowly(rest, path),
            (Some((b'*', rest)), Some((_, after))) => slowly(rest, path) || slowly(pattern, after),
            (Some((wanted, rest)), Some((byte, after))) => wanted == byte && slowly(rest, after),
            (Some(_), None) => false,
        }
    }
}
