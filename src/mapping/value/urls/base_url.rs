//! Base URLs: the URLs that the codes of a site follow.

use thiserror::Error;
use url::Url;

use super::target::{Target, TargetError};
use crate::mapping::value::diagnostics::Rule;

/// The base URL of a site: absolute `http` or `https`, with a path that ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Accepts a base URL as a person wrote it.
    ///
    /// # Errors
    ///
    /// Returns the reason why it cannot be one.
    pub fn parse(text: &str) -> Result<Self, BaseUrlError> {
        let target = Target::parse(text)?;
        let url = Url::parse(target.as_str()).map_err(TargetError::from)?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::QueryOrFragment);
        }
        if !url.path().ends_with('/') {
            return Err(BaseUrlError::NoFinalSlash {
                with_slash: format!("{url}/"),
            });
        }
        if url.path().starts_with("/-/") {
            return Err(BaseUrlError::Reserved);
        }
        Ok(Self(url))
    }

    /// Returns the canonical form.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the host in lower case, in ASCII if internationalised, without a final dot.
    pub fn host(&self) -> &str {
        let host = self.0.host_str().unwrap_or_default();
        host.strip_suffix('.').unwrap_or(host)
    }

    /// Returns whether it is `https`.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns the port, unless it is the scheme's default.
    pub fn port(&self) -> Option<u16> {
        self.0.port()
    }

    /// Returns the path, which begins and ends in `/`.
    pub fn path(&self) -> &str {
        self.0.path()
    }
}

/// The reason why a text cannot be a base URL.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BaseUrlError {
    /// It is not even a target.
    #[error(transparent)]
    Url(#[from] TargetError),
    /// It has a query or a fragment.
    #[error("a base URL cannot have a query or a fragment")]
    QueryOrFragment,
    /// Its path is reserved for the server.
    #[error("a base URL's path cannot begin with \"/-/\": the server uses these paths itself")]
    Reserved,
    /// Its path does not end in `/`.
    #[error("the path of a base URL must end in a slash")]
    NoFinalSlash {
        /// The same with a slash.
        with_slash: String,
    },
}

impl BaseUrlError {
    /// Returns the rule that the text breaks.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Url(error) => error.rule(),
            Self::QueryOrFragment => Rule::BaseUrlQuery,
            Self::Reserved => Rule::BaseUrlReserved,
            Self::NoFinalSlash { .. } => Rule::BaseUrlSlashMissing,
        }
    }

    /// Returns the remedy, if the message does not already name it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Url(error) => error.hint(),
            Self::NoFinalSlash { with_slash } => Some(format!("write {with_slash:?}")),
            Self::QueryOrFragment | Self::Reserved => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_a_path_that_ends_in_a_slash() {
        let base = BaseUrl::parse("https://Short.CODE./s/").unwrap();
        assert_eq!((base.host(), base.path()), ("short.code", "/s/"));
        assert_eq!(BaseUrl::parse("https://short.code").unwrap().path(), "/");
    }

    #[test]
    fn refuses_the_rest_with_a_reason() {
        assert_eq!(
            BaseUrl::parse("https://short.code/s").unwrap_err().hint(),
            Some("write \"https://short.code/s/\"".to_owned())
        );
        for text in [
            "https://short.code/?",
            "https://short.code/#x",
            "https://short.code/?a=b",
        ] {
            assert_eq!(BaseUrl::parse(text), Err(BaseUrlError::QueryOrFragment));
        }
        assert_eq!(
            BaseUrl::parse("https://short.code/-/"),
            Err(BaseUrlError::Reserved)
        );
        assert!(matches!(
            BaseUrl::parse("short.code/"),
            Err(BaseUrlError::Url(_))
        ));
    }
}
