//! URLs that may be requested: `http` or `https`, without credentials, not longer than a target.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

use crate::mapping::{MAX_TARGET_BYTES, Target};

/// A URL that may be requested.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebUrl(Url);

/// Why a URL may not be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Error)]
pub enum UrlProblem {
    /// It is not a URL.
    #[error("it is not a URL")]
    Invalid,
    /// Its scheme is neither `http` nor `https`.
    #[error("it is neither http nor https")]
    Scheme,
    /// It contains a user name or a password.
    #[error("it contains a user name or a password")]
    Credentials,
    /// It is longer than a target can be.
    #[error("it is too long")]
    TooLong,
}

impl WebUrl {
    /// Reads an absolute URL.
    ///
    /// # Errors
    ///
    /// Fails if it may not be requested; a [`Target`] always may.
    pub fn parse(text: &str) -> Result<Self, UrlProblem> {
        Self::admit(Url::parse(text).map_err(|_| UrlProblem::Invalid)?)
    }

    /// Returns where a redirect leads from here. The fragment is kept, unless the redirect has one
    /// of its own (RFC 9110, section 10.2.2).
    ///
    /// # Errors
    ///
    /// Fails if that may not be requested.
    pub fn redirected(&self, location: &str) -> Result<Self, UrlProblem> {
        if location.len() > MAX_TARGET_BYTES {
            return Err(UrlProblem::TooLong);
        }
        let mut url = self.0.join(location).map_err(|_| UrlProblem::Invalid)?;
        if url.fragment().is_none() {
            url.set_fragment(self.0.fragment());
        }
        Self::admit(url)
    }

    fn admit(url: Url) -> Result<Self, UrlProblem> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlProblem::Scheme);
        }
        if !url.has_host() {
            return Err(UrlProblem::Invalid);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlProblem::Credentials);
        }
        if url.as_str().len() > MAX_TARGET_BYTES {
            return Err(UrlProblem::TooLong);
        }
        Ok(Self(url))
    }

    /// Returns the URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the URL without its fragment, which is what a host sees.
    pub fn without_fragment(&self) -> &str {
        &self.0[..url::Position::AfterQuery]
    }

    /// Returns whether it is the home page of its host.
    pub fn is_home(&self) -> bool {
        self.0.path() == "/" && self.0.query().is_none()
    }
}

impl TryFrom<String> for WebUrl {
    type Error = UrlProblem;

    fn try_from(text: String) -> Result<Self, UrlProblem> {
        Self::parse(&text)
    }
}

impl TryFrom<&Target<'_>> for WebUrl {
    type Error = UrlProblem;

    fn try_from(target: &Target<'_>) -> Result<Self, UrlProblem> {
        Self::parse(target.as_str())
    }
}

impl From<WebUrl> for String {
    fn from(url: WebUrl) -> Self {
        url.0.into()
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_redirect_is_resolved_as_browsers_do() {
        let from = WebUrl::parse("https://a.example/b/c?d#e").unwrap();
        for (location, to) in [
            ("", "https://a.example/b/c?d#e"),
            ("x", "https://a.example/b/x#e"),
            ("/x", "https://a.example/x#e"),
            ("?x", "https://a.example/b/c?x#e"),
            ("#x", "https://a.example/b/c?d#x"),
            ("//B.example", "https://b.example/#e"),
            ("http://a.example/x#", "http://a.example/x#"),
            ("/a b/ä", "https://a.example/a%20b/%C3%A4#e"),
        ] {
            assert_eq!(
                from.redirected(location).unwrap().as_str(),
                to,
                "{location}"
            );
        }
    }

    #[test]
    fn a_url_that_may_not_be_requested_is_refused() {
        let from = WebUrl::parse("https://a.example/").unwrap();
        for (location, problem) in [
            ("mailto:a@b.example", UrlProblem::Scheme),
            ("intent://a.example/#Intent;end", UrlProblem::Scheme),
            ("file:///etc/passwd", UrlProblem::Scheme),
            ("gopher://a.example/", UrlProblem::Scheme),
            ("https://u@a.example/", UrlProblem::Credentials),
            ("//u:p@a.example/", UrlProblem::Credentials),
            ("http://", UrlProblem::Invalid),
            ("http://a b/", UrlProblem::Invalid),
            ("http://[::1", UrlProblem::Invalid),
        ] {
            assert_eq!(from.redirected(location), Err(problem), "{location}");
        }
        let long = "ä".repeat(MAX_TARGET_BYTES / 2);
        assert_eq!(from.redirected(&long), Err(UrlProblem::TooLong));
        assert_eq!(WebUrl::parse("/a"), Err(UrlProblem::Invalid));
    }

    proptest! {
        #[test]
        fn any_location_is_resolved_or_refused(location in "\\PC{0,30}|[:/?#@a.\\\\%]{0,12}") {
            let from = WebUrl::parse("https://a.example/b").unwrap();
            if let Ok(to) = from.redirected(&location) {
                prop_assert!(to.as_str().starts_with("http"));
                prop_assert!(to.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(WebUrl::parse(to.as_str()), Ok(to));
            }
        }

        #[test]
        fn any_target_may_be_requested(text in "https?://[a-z.:0-9]{1,12}/\\PC{0,20}") {
            if let Ok(target) = Target::parse(&text) {
                prop_assert!(WebUrl::try_from(&target).is_ok());
            }
        }
    }
}
