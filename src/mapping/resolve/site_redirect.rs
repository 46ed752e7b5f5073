//! Redirects that a key of the site decides, and no entry.

use std::borrow::Cow;

use crate::mapping::packed::Site;
use crate::mapping::value::{DEFAULT_MAX_AGE, SiteTarget};

/// A redirect of a site itself, always with status 302.
#[derive(Debug)]
pub struct SiteRedirect<'t> {
    /// The site.
    pub site: &'t Site,
    /// The key that decided it.
    pub key: SiteKey,
    /// The URL that the key names, and where.
    pub target: &'t SiteTarget,
    /// The absolute URL to send, ASCII and safe in a header.
    pub location: Cow<'t, str>,
}

/// A key of a site by which it redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKey {
    /// `home`: where the base URL itself leads.
    Home,
}

impl SiteKey {
    /// Returns the key as it is written in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
        }
    }

    /// Returns the time for which a redirect may be cached, in seconds; 0 means `no-store`.
    pub fn max_age(self) -> u32 {
        match self {
            Self::Home => DEFAULT_MAX_AGE,
        }
    }
}

impl Site {
    /// Returns the redirect from the base URL, if the site has any.
    pub(super) fn home_redirect(&self) -> Option<SiteRedirect<'_>> {
        let home = self.about().home()?;
        Some(SiteRedirect {
            site: self,
            key: SiteKey::Home,
            target: home,
            location: Cow::Borrowed(home.url()),
        })
    }
}
