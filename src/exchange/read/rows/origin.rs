//! The base URL of the short links in a foreign format, which determines their codes.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::row::{RowError, excerpt};
use crate::mapping::{BaseUrl, Case};

/// How many base URLs a message names.
const SHOWN: usize = 3;

/// The base URLs of the sites that were exported to a foreign format: at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkOrigin<'o> {
    pub(crate) base_urls: &'o [&'o BaseUrl],
    /// Whether case counts in the codes of all these sites.
    pub(crate) case: Case,
}

/// A short link in a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShortLink {
    /// Which base URL it is under; `None` if the row has only a code.
    pub(crate) site: Option<usize>,
    pub(crate) code: String,
}

impl LinkOrigin<'_> {
    /// Returns which base URL a row is under that names this one, or none.
    pub(crate) fn site(self, named: Option<usize>) -> Result<usize, RowError> {
        match (named, self.base_urls) {
            (Some(site), _) => Ok(site),
            (None, [_]) => Ok(0),
            (None, _) => Err(RowError::NoSite),
        }
    }

    /// Returns a short link: a URL, with or without its scheme, or a code alone.
    pub(crate) fn short_link(self, text: &str) -> Result<ShortLink, RowError> {
        if text.contains("://") {
            return self.of_url(text);
        }
        if let (true, Ok(found)) = (names_host(text), self.of_url(&format!("https://{text}"))) {
            return Ok(found);
        }
        let bare = |base_url: &BaseUrl| {
            let (_, own) = base_url.as_str().split_once("://")?;
            text.strip_prefix(own)
        };
        let under = self.base_urls.iter().enumerate();
        let under = under.filter_map(|(site, base_url)| Some((site, bare(base_url)?)));
        let (site, code) = match under.min_by_key(|(_, code)| code.len()) {
            Some((site, code)) => (Some(site), code),
            None => (None, text),
        };
        let code = without_slashes(code);
        Ok(ShortLink {
            site,
            // A path is written as it is requested.
            code: match text.starts_with('/') {
                true => decoded(code)?.into_owned(),
                false => code.to_owned(),
            },
        })
    }

    /// Returns a short link as [`short_link`](Self::short_link) does, where another host may precede the
    /// code: `bit.ly/x` is no code.
    pub(crate) fn short_url(self, text: &str) -> Result<ShortLink, RowError> {
        let found = self.short_link(text)?;
        match found.site.is_none() && names_host(text) {
            true => Err(self.elsewhere(text)),
            false => Ok(found),
        }
    }

    /// Returns the code of a short link under the only base URL.
    pub(crate) fn code(self, text: &str) -> Result<String, RowError> {
        Ok(self.short_link(text)?.code)
    }

    /// Returns the code of an absolute short link under the only base URL.
    pub(crate) fn code_of_url(self, text: &str) -> Result<String, RowError> {
        Ok(self.of_url(text)?.code)
    }

    /// Returns an absolute short link; `http` and `https` are one. Of several base URLs, the longest
    /// path counts.
    fn of_url(self, text: &str) -> Result<ShortLink, RowError> {
        let url = Url::parse(text).map_err(|_| self.elsewhere(text))?;
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_of_host =
            |base_url: &BaseUrl| host == base_url.host() && url.port() == base_url.port();
        let sites = self.base_urls.iter().enumerate();
        let mut sites: Vec<_> = sites.filter(|(_, it)| is_of_host(it)).collect();
        sites.sort_by_key(|(_, base_url)| base_url.path().len());
        if sites.is_empty() {
            return Err(self.elsewhere(text));
        }
        if url.query().is_some() {
            return Err(RowError::NoLink("no code contains a query"));
        }
        while let Some((site, base_url)) = sites.pop() {
            match self.under(base_url, url.path()) {
                Err(RowError::Elsewhere { .. }) => {}
                found => {
                    let site = Some(site);
                    return found.map(|code| ShortLink { site, code });
                }
            }
        }
        Err(self.elsewhere(text))
    }

    /// Returns the code of a path from the host's root, which may be percent-encoded, under the only
    /// base URL.
    pub(crate) fn code_of_path(self, path: &str) -> Result<String, RowError> {
        self.under(self.base_urls[0], path)
    }

    /// Returns the code of a decoded path from the host's root, without its first slash, under the only
    /// base URL.
    pub(crate) fn code_of_decoded_path(self, path: &str) -> Result<String, RowError> {
        let encoded = utf8_percent_encode(path, NON_ALPHANUMERIC).to_string();
        self.code_of_path(&format!("/{}", encoded.replace("%2F", "/")))
    }

    /// Returns the URL of a path from the host's root, on the host of the only base URL.
    pub(crate) fn url_of_path(self, path: &str) -> String {
        let base_url = self.base_urls[0];
        let origin = base_url.as_str().strip_suffix(base_url.path());
        format!("{}{path}", origin.unwrap_or_default())
    }

    /// Returns whether a URL, which may contain what is replaced later, names the host of a base URL.
    pub(crate) fn has_host_of(self, url: &str) -> bool {
        let authority = url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.split(':').next().unwrap_or_default();
        let mut own = self.base_urls.iter().map(|it| it.host());
        own.any(|own| own.eq_ignore_ascii_case(host))
    }

    fn under(self, base_url: &BaseUrl, path: &str) -> Result<String, RowError> {
        let decoded = decoded(path)?;
        let base = percent_decode_str(base_url.path()).decode_utf8_lossy();
        let code = decoded.strip_prefix(&*base);
        let code = code.ok_or_else(|| self.elsewhere(path))?;
        match code.strip_suffix('/').unwrap_or(code) {
            "" => Err(RowError::BaseUrl),
            code => Ok(code.to_owned()),
        }
    }

    /// Returns which base URL this one is.
    pub(crate) fn site_with(self, text: &str) -> Result<usize, RowError> {
        let base_url = BaseUrl::parse(text).ok();
        let is_it = |own: &&BaseUrl| {
            base_url.as_ref().is_some_and(|it| {
                it.host() == own.host() && it.port() == own.port() && it.path() == own.path()
            })
        };
        let site = self.base_urls.iter().position(is_it);
        site.ok_or_else(|| self.elsewhere(text))
    }

    /// Returns the only base URL with this host.
    pub(crate) fn site_of_host(self, host: &str) -> Result<usize, RowError> {
        let mut sites = (0..self.base_urls.len()).filter(|site| self.has_host(*site, host));
        match (sites.next(), sites.next()) {
            (Some(site), None) => Ok(site),
            (Some(_), Some(_)) => Err(RowError::NoSite),
            (None, _) => Err(self.elsewhere(host)),
        }
    }

    /// Returns whether a base URL has this host, with or without a scheme before it.
    pub(crate) fn has_host(self, site: usize, host: &str) -> bool {
        let own = self.base_urls[site];
        let host = host.split_once("://").map_or(host, |(_, host)| host);
        Url::parse(&format!("https://{host}")).is_ok_and(|url| {
            let host = url.host_str().unwrap_or_default();
            let host = host.strip_suffix('.').unwrap_or(host);
            host == own.host() && url.port() == own.port()
        })
    }

    /// Returns whether a base URL has no path.
    pub(crate) fn is_at_root(self, site: usize) -> bool {
        self.base_urls[site].path() == "/"
    }

    /// Returns the error of a short link that is not under a base URL.
    pub(crate) fn elsewhere(self, short_link: &str) -> RowError {
        let named = self.base_urls.iter().take(SHOWN).map(|it| it.as_str());
        let mut base_urls = named.collect::<Vec<_>>().join(" or ");
        if self.base_urls.len() > SHOWN {
            base_urls += " or another site of the table";
        }
        RowError::Elsewhere {
            short_link: excerpt(short_link),
            base_urls,
        }
    }
}

/// Returns whether a text without a scheme begins with the name of a host, as `bit.ly/x` does.
fn names_host(text: &str) -> bool {
    let Some((host, _)) = text.split_once('/') else {
        return false;
    };
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let last = host.rsplit_once('.').map_or("", |(_, last)| last);
    let is_word = last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word && host.bytes().all(is_of_host)
}

/// Returns the text of a path that may be percent-encoded.
fn decoded(path: &str) -> Result<Cow<'_, str>, RowError> {
    if path.contains("%2F") || path.contains("%2f") {
        return Err(RowError::NoLink(
            "a slash in a path is percent-encoded, and a code with a slash is another path",
        ));
    }
    let decoded = percent_decode_str(path).decode_utf8();
    decoded.map_err(|_| RowError::NotUtf8)
}

/// Returns a code without the slashes that some programs write around it.
fn without_slashes(text: &str) -> &str {
    let text = text.strip_prefix('/').unwrap_or(text);
    text.strip_suffix('/').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_base_url() {
        let base_url = BaseUrl::parse("https://short.code/go/").unwrap();
        let origin = LinkOrigin {
            base_urls: &[&base_url],
            case: Case::Exact,
        };
        for text in [
            "a/b",
            "/a/b/",
            "short.code/go/a/b",
            "https://short.code/go/a/b",
            "http://SHORT.code./go/%61/b/",
            "/%61/b",
        ] {
            assert_eq!(origin.code(text).as_deref(), Ok("a/b"), "{text}");
        }
        assert_eq!(origin.code_of_path("/go/%C3%A9").as_deref(), Ok("é"));
        for text in [
            "https://short.code/a",
            "https://other.code/go/a",
            "https://short.code:8443/go/a",
            "ftp://",
        ] {
            let found = origin.code(text);
            assert!(matches!(found, Err(RowError::Elsewhere { .. })), "{text}");
        }
        assert!(origin.code_of_path("/go/").is_err());
        assert!(origin.code_of_path("/go/%FF").is_err());
        assert!(origin.code_of_path("/go/a%2Fb").is_err());
        assert!(origin.code("https://short.code/go/a?b").is_err());
    }

    #[test]
    fn another_host_is_no_part_of_a_code() {
        let base_url = BaseUrl::parse("https://short.code/").unwrap();
        let origin = LinkOrigin {
            base_urls: &[&base_url],
            case: Case::Exact,
        };
        for (text, code) in [
            ("Short.Code/Two", "Two"),
            ("docs/v1.2/x", "docs/v1.2/x"),
            ("v1.2/x", "v1.2/x"),
            ("a.b", "a.b"),
        ] {
            assert_eq!(origin.short_url(text).unwrap().code, code);
        }
        for text in ["bit.ly/x", "www.short.code/x", "bit.ly:8443/x"] {
            let found = origin.short_url(text);
            assert!(matches!(found, Err(RowError::Elsewhere { .. })), "{text}");
            // A code may look like that.
            assert_eq!(origin.short_link(text).unwrap().code, text);
        }
    }

    #[test]
    fn a_base_url_is_the_same_with_another_scheme() {
        let base_url = BaseUrl::parse("https://short.code/").unwrap();
        let origin = LinkOrigin {
            base_urls: &[&base_url],
            case: Case::Exact,
        };
        assert_eq!(origin.site_with("http://short.code/"), Ok(0));
        for text in ["https://short.code/go/", "https://other.code/", ""] {
            assert!(origin.site_with(text).is_err(), "{text}");
        }
    }

    #[test]
    fn of_several_base_urls_the_nearest_counts() {
        let base_urls = ["https://a.code/", "https://a.code/go/", "https://b.code/"];
        let base_urls = base_urls.map(|it| BaseUrl::parse(it).unwrap());
        let origin = LinkOrigin {
            base_urls: &base_urls.each_ref(),
            case: Case::Exact,
        };
        for (text, site, code) in [
            ("https://a.code/x", Some(0), "x"),
            ("http://a.code/go/x", Some(1), "x"),
            ("https://a.code/gone", Some(0), "gone"),
            ("b.code/x", Some(2), "x"),
            ("a.code/go/x", Some(1), "x"),
            ("x", None, "x"),
        ] {
            let found = origin.short_link(text).unwrap();
            assert_eq!((found.site, &*found.code), (site, code), "{text}");
        }
        assert_eq!(origin.site(Some(1)), Ok(1));
        assert_eq!(origin.site(None), Err(RowError::NoSite));
        let other = origin.short_link("https://c.code/x").err().unwrap();
        assert_eq!(
            other.to_string(),
            "\"https://c.code/x\" is not under https://a.code/ or https://a.code/go/ or https://b.code/"
        );
    }
}
