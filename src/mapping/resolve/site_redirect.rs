//! Redirects that a key of the site decides, and no entry.

use std::borrow::Cow;

use super::location;
use super::path::{Decoded, has_dot_segments};
use crate::mapping::packed::Site;
use crate::mapping::value::{DEFAULT_MAX_AGE, SiteTarget, is_reserved};

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
    /// `fallback`: where a path that is not found leads, for requests that only read.
    Fallback,
}

impl SiteKey {
    /// Every key.
    pub const ALL: [Self; 2] = [Self::Home, Self::Fallback];

    /// Returns the URL to which it leads in a site.
    pub fn target(self, site: &Site) -> Option<&SiteTarget> {
        match self {
            Self::Home => site.about().home(),
            Self::Fallback => site.about().fallback(),
        }
    }

    /// Returns the key as it is written in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Fallback => "fallback",
        }
    }

    /// Returns the time for which a redirect may be cached, in seconds; 0 means `no-store`.
    pub fn max_age(self) -> u32 {
        match self {
            Self::Home => DEFAULT_MAX_AGE,
            // Any of these paths may become a code.
            Self::Fallback => 0,
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

    /// Returns the redirect for a raw path after the base path that is not found, if the site has any.
    ///
    /// Paths that no code may have, because the server uses them or they are not sound, are only not
    /// found.
    pub(super) fn fallback_redirect(&self, rest: &str, query: &str) -> Option<SiteRedirect<'_>> {
        let fallback = self.about().fallback()?;
        let path = Decoded::new(rest)?;
        let first = path.as_str().split('/').next().unwrap_or_default();
        if is_reserved(first) || has_dot_segments(rest) {
            return None;
        }
        Some(SiteRedirect {
            site: self,
            key: SiteKey::Fallback,
            target: fallback,
            location: Cow::Owned(location::extend(("", fallback.url()), rest, query)),
        })
    }
}
