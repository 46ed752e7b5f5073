//! A URL in parts, so that people see which host it leads to.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// A URL in parts, with the host as the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownUrl<'u> {
    /// The part before the host: the scheme.
    pub before: &'u str,
    /// The host, without a port; in ASCII, if it is internationalised.
    pub host: &'u str,
    /// The part after the host.
    pub after: &'u str,
    /// The host in Unicode, if it is internationalised. Its letters may resemble others, so it is
    /// only shown next to the other form.
    pub unicode: Option<String>,
}

impl<'u> ShownUrl<'u> {
    /// Takes a canonical URL apart.
    pub fn of(url: &'u str) -> Self {
        let start = url.find("://").map_or(0, |at| at + 3);
        let authority_end = url[start..]
            .find(['/', '?', '#'])
            .map_or(url.len(), |at| start + at);
        // A target has no user information; if it had, that would not be mistaken for the host.
        let start = url[start..authority_end]
            .rfind('@')
            .map_or(start, |at| start + at + 1);
        let authority = &url[start..authority_end];
        let port = match authority.rfind(']') {
            Some(bracket) => authority[bracket..].find(':').map(|at| bracket + at),
            None => authority.find(':'),
        };
        let end = start + port.unwrap_or(authority.len());
        let host = &url[start..end];
        Self {
            before: &url[..start],
            host,
            after: &url[end..],
            unicode: unicode(host),
        }
    }

    /// Returns the host as people name it: without a leading `www.`.
    pub fn name(&self) -> &'u str {
        let bare = self.host.strip_prefix("www.");
        bare.filter(|bare| bare.contains('.')).unwrap_or(self.host)
    }
}

/// Returns the Unicode form of an internationalised host, if every character of it is visible.
fn unicode(host: &str) -> Option<String> {
    if !host.split('.').any(|label| label.starts_with("xn--")) {
        return None;
    }
    let (unicode, valid) = idna::domain_to_unicode(host);
    let is_visible = |c: char| c.general_category_group() != GeneralCategoryGroup::Other;
    let is_shown = valid.is_ok() && unicode != host && unicode.chars().all(is_visible);
    is_shown.then_some(unicode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_the_browser_asks() {
        for (url, before, host, after) in [
            ("https://www.gnu.org/a?b", "https://", "www.gnu.org", "/a?b"),
            ("http://gnu.org:8080/", "http://", "gnu.org", ":8080/"),
            ("https://gnu.org?a://b", "https://", "gnu.org", "?a://b"),
            (
                "https://a.example/@b.example/",
                "https://",
                "a.example",
                "/@b.example/",
            ),
            ("https://b@a.example/", "https://b@", "a.example", "/"),
            (
                "https://[2001:db8::1]:81/x",
                "https://",
                "[2001:db8::1]",
                ":81/x",
            ),
            ("https://[2001:db8::1]/x", "https://", "[2001:db8::1]", "/x"),
        ] {
            let shown = ShownUrl::of(url);
            assert_eq!(
                (shown.before, shown.host, shown.after),
                (before, host, after)
            );
            assert_eq!(shown.unicode, None);
        }
    }

    #[test]
    fn a_name_has_no_www() {
        for (url, name) in [
            ("https://www.gnu.org/", "gnu.org"),
            ("https://ftp.gnu.org/", "ftp.gnu.org"),
            ("https://www.org/", "www.org"),
            ("https://wwwgnu.org/", "wwwgnu.org"),
        ] {
            assert_eq!(ShownUrl::of(url).name(), name);
        }
    }

    #[test]
    fn an_internationalised_host_has_two_forms() {
        for (host, unicode) in [
            ("xn--mnchen-3ya.de", Some("münchen.de")),
            // It looks like another name, and so is only shown next to the form in ASCII.
            ("www.xn--80ak6aa92e.com", Some("www.аррӏе.com")),
            ("xn--a.example", None),
        ] {
            let url = format!("https://{host}/");
            let shown = ShownUrl::of(&url);
            assert_eq!((shown.host, shown.unicode.as_deref()), (host, unicode));
        }
    }
}
