//! The lines of a robots.txt, and which of them are for one product (RFC 9309, section 2.2).

use std::time::Duration;

use super::pattern::PathPattern;
use super::rules::{PathRule, Robots};

/// How much of a robots.txt is read, in bytes (RFC 9309, section 2.5).
pub const MAX_ROBOTS_BYTES: usize = 500 << 10;

/// The longest `Crawl-delay` that is distinguished from longer ones: a day.
const MAX_CRAWL_DELAY: f64 = 86_400.0;

/// Reads the rules for a product: those of all groups that name it, or else of all groups for `*`.
pub(super) fn parse(product: &str, body: &[u8]) -> Robots {
    let mut named = Robots::default();
    let mut others = Robots::default();
    let mut is_named = false;
    let mut group = AgentGroup::default();
    for line in lines(body) {
        let Some((key, value)) = record(line) else {
            continue;
        };
        if key.eq_ignore_ascii_case(b"user-agent") {
            group.begin();
            group.names_all |= matches!(value, b"*" | [b'*', b' ' | b'\t', ..]);
            group.names_product |= token(value).eq_ignore_ascii_case(product.as_bytes());
            is_named |= group.names_product;
            continue;
        }
        let addressed = [
            group.names_product.then_some(&mut named),
            group.names_all.then_some(&mut others),
        ];
        let allows = key.eq_ignore_ascii_case(b"allow");
        if allows || key.eq_ignore_ascii_case(b"disallow") {
            group.has_rules = true;
            // An empty value is a rule that matches nothing.
            if let Some(pattern) = PathPattern::parse(value) {
                let rule = PathRule { pattern, allows };
                addressed
                    .into_iter()
                    .flatten()
                    .for_each(|robots| robots.rules.push(rule.clone()));
            }
        } else if key.eq_ignore_ascii_case(b"crawl-delay") {
            // Other records do not interfere with groups (section 2.2.4).
            let delay = seconds(value);
            for robots in addressed.into_iter().flatten() {
                robots.crawl_delay = robots.crawl_delay.max(delay);
            }
        }
    }
    if is_named { named } else { others }
}

/// The products that the current group addresses.
#[derive(Default)]
struct AgentGroup {
    names_product: bool,
    names_all: bool,
    has_rules: bool,
}

impl AgentGroup {
    /// Begins a group, or adds a line to its beginning.
    fn begin(&mut self) {
        if self.has_rules {
            *self = Self::default();
        }
    }
}

/// Returns the lines that are read. The last one is skipped if the file was cut in it: a part of a
/// path would match more than the path.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let read = match body.get(..MAX_ROBOTS_BYTES) {
        Some(cut) if body.len() > MAX_ROBOTS_BYTES => {
            let end = cut.iter().rposition(is_end);
            &cut[..end.unwrap_or_default()]
        }
        _ => body,
    };
    read.split(is_end)
}

/// Splits a line into its key and its value, without comment and white space.
fn record(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|byte| *byte == b'#').next()?;
    let colon = memchr::memchr(b':', line)?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// Returns the product token that a value begins with, without a version.
fn token(value: &[u8]) -> &[u8] {
    let is_token = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let end = value.iter().position(|byte| !is_token(byte));
    &value[..end.unwrap_or(value.len())]
}

/// Reads a number of seconds, perhaps with a fraction.
fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = str::from_utf8(value).ok()?.parse().ok()?;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    Duration::try_from_secs_f64(seconds.min(MAX_CRAWL_DELAY)).ok()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn refuses(text: &str, path: &str) -> bool {
        let url = Url::parse(&format!("https://e.example{path}")).unwrap();
        !parse("waypost", text.as_bytes()).allows(&url)
    }

    #[test]
    fn groups_begin_after_rules_and_are_merged() {
        let text = "\
Disallow: /early
User-agent: other
User-agent: Waypost/2.0 (checks links)
Sitemap: https://e.example/sitemap.xml
Disallow: /a
User-agent: *
Disallow: /others
user-agent:waypost
DISALLOW:/b
";
        assert!(refuses(text, "/a"));
        assert!(refuses(text, "/b"));
        assert!(!refuses(text, "/others"));
        assert!(!refuses(text, "/early"));
        // A longer or shorter name is another product.
        for other in ["waypostbot", "way", "waypost-images"] {
            let text = format!("User-agent: {other}\nDisallow: /");
            assert!(!refuses(&text, "/"), "{other}");
        }
        assert!(refuses("User-agent: * # all\nDisallow: /", "/"));
        assert!(refuses("User-agent: * all\nDisallow: /", "/"));
    }

    #[test]
    fn an_empty_group_permits_everything() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: waypost\n";
        assert!(!refuses(text, "/"));
        assert!(!refuses("User-agent: waypost\nDisallow:\n", "/"));
        let page = "<!DOCTYPE html>\n<title>Just a moment...</title>\n<script>a: b</script>\n";
        assert!(!refuses(page, "/"));
    }

    #[test]
    fn lines_end_and_begin_in_every_way() {
        for text in [
            "\u{feff}User-agent: *\r\nDisallow: /a\r\n",
            "User-agent: *\rDisallow: /a",
            "  User-agent :\t*  \n\t Disallow :  /a  # not for robots",
            "<html>\n:\nUser-agent: *\nnonsense\n: x\nDisallow: /a",
        ] {
            assert!(refuses(text, "/a"), "{text:?}");
            assert!(!refuses(text, "/b"), "{text:?}");
        }
        let mut bytes = b"User-agent: *\nDisallow: /\xff\xfe".to_vec();
        assert_eq!(parse("waypost", &bytes).rules.len(), 1);
        bytes.insert(0, 0xff);
        assert_eq!(parse("waypost", &bytes), Robots::default());
    }

    #[test]
    fn a_line_that_is_cut_is_no_rule() {
        let mut text = "User-agent: *\nDisallow: /kept\n".to_owned();
        let rule = "Disallow: /private/secret\n";
        text += &"#".repeat(MAX_ROBOTS_BYTES - text.len() - 12);
        text.push('\n');
        text += rule;
        assert!(text[..MAX_ROBOTS_BYTES].ends_with("\nDisallow: /"));
        assert!(refuses(&text, "/kept"));
        assert!(!refuses(&text, "/other"));
        assert!(!refuses(&text, "/private/secret"));
    }

    #[test]
    fn a_crawl_delay_is_of_its_group() {
        let delay = |text: &str| parse("waypost", text.as_bytes()).crawl_delay();
        let text = "User-agent: *\nCrawl-delay: 9\nUser-agent: waypost\nCrawl-delay: 2.5\n";
        // Both are one group, but the first delay is not for the second name.
        assert_eq!(delay(text), Some(Duration::from_millis(2500)));
        let text = "User-agent: waypost\nCrawl-delay: 9\nUser-agent: *\nCrawl-delay: 2.5\n";
        assert_eq!(delay(text), Some(Duration::from_secs(9)));
        let text =
            "User-agent: *\nCrawl-delay: 9\nDisallow:\nUser-agent: waypost\nCrawl-delay: 2.5";
        assert_eq!(delay(text), Some(Duration::from_millis(2500)));
        for (value, expected) in [
            ("10", Some(10)),
            ("0", Some(0)),
            ("1e9", Some(86_400)),
            ("inf", Some(86_400)),
            ("-1", None),
            ("NaN", None),
            ("ten", None),
            ("", None),
        ] {
            let text = format!("User-agent: *\nCrawl-delay: {value}\n");
            assert_eq!(delay(&text), expected.map(Duration::from_secs), "{value}");
        }
    }
}
