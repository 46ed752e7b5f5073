//! The base URL of the short links in a foreign format, which determines their codes.

use percent_encoding::percent_decode_str;
use url::Url;

use super::row::{RowError, excerpt};
use crate::mapping::BaseUrl;

/// The base URL of the site that was exported to a foreign format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkOrigin<'o> {
    pub(crate) base_url: &'o BaseUrl,
}

impl LinkOrigin<'_> {
    /// Returns the code of a short link: a URL, with or without its scheme, or the code alone.
    pub(crate) fn code(self, text: &str) -> Result<String, RowError> {
        if text.contains("://") {
            return self.code_of_url(text);
        }
        let own = self.base_url.as_str();
        let (_, own) = own.split_once("://").unwrap_or_default();
        match text.strip_prefix(own) {
            Some(code) => Ok(without_slashes(code).to_owned()),
            None => Ok(without_slashes(text).to_owned()),
        }
    }

    /// Returns the code of an absolute short link; `http` and `https` are one.
    pub(crate) fn code_of_url(self, text: &str) -> Result<String, RowError> {
        let url = Url::parse(text).map_err(|_| self.elsewhere(text))?;
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        if host != self.base_url.host() || url.port() != self.base_url.port() {
            return Err(self.elsewhere(text));
        }
        if url.query().is_some() {
            return Err(RowError::NoLink("no code contains a query"));
        }
        self.code_of_path(url.path())
    }

    /// Returns the code of a path from the host's root, which may be percent-encoded.
    pub(crate) fn code_of_path(self, path: &str) -> Result<String, RowError> {
        let decoded = percent_decode_str(path).decode_utf8();
        let decoded = decoded.map_err(|_| RowError::NotUtf8)?;
        let base = percent_decode_str(self.base_url.path()).decode_utf8_lossy();
        let code = decoded.strip_prefix(&*base);
        let code = code.ok_or_else(|| self.elsewhere(path))?;
        match code.strip_suffix('/').unwrap_or(code) {
            "" => Err(RowError::NoLink("this is the base URL itself, and no code")),
            code => Ok(code.to_owned()),
        }
    }

    /// Reports a base URL that differs from this one.
    pub(crate) fn check_base_url(self, text: &str) -> Result<(), RowError> {
        let is_own = BaseUrl::parse(text).is_ok_and(|base_url| {
            base_url.host() == self.base_url.host()
                && base_url.port() == self.base_url.port()
                && base_url.path() == self.base_url.path()
        });
        is_own.then_some(()).ok_or_else(|| self.elsewhere(text))
    }

    fn elsewhere(self, short_link: &str) -> RowError {
        RowError::Elsewhere {
            short_link: excerpt(short_link),
            base_url: self.base_url.as_str().to_owned(),
        }
    }
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
            base_url: &base_url,
        };
        for text in [
            "a/b",
            "/a/b/",
            "short.code/go/a/b",
            "https://short.code/go/a/b",
            "http://SHORT.code./go/a%2Fb/",
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
        assert!(origin.code("https://short.code/go/a?b").is_err());
    }

    #[test]
    fn a_base_url_is_the_same_with_another_scheme() {
        let base_url = BaseUrl::parse("https://short.code/").unwrap();
        let origin = LinkOrigin {
            base_url: &base_url,
        };
        assert_eq!(origin.check_base_url("http://short.code/"), Ok(()));
        for text in ["https://short.code/go/", "https://other.code/", ""] {
            assert!(origin.check_base_url(text).is_err(), "{text}");
        }
    }
}
