//! The rules of a robots.txt for one product.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::{Position, Url};

use super::pattern::{PathPattern, normal_path};

/// The rules of a robots.txt for Waypost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    pub(super) rules: Vec<PathRule>,
    pub(super) crawl_delay: Option<Duration>,
}

/// One line `Allow` or `Disallow`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathRule {
    pub(super) pattern: PathPattern,
    pub(super) allows: bool,
}

impl Robots {
    /// Returns rules that permit nothing.
    pub(super) fn nothing() -> Self {
        Self {
            rules: vec![PathRule {
                pattern: PathPattern::everything(),
                allows: false,
            }],
            crawl_delay: None,
        }
    }

    /// Returns whether a URL of the host may be requested: the longest matching rule decides, of
    /// equally long ones the one that allows.
    pub fn allows(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" || self.rules.is_empty() {
            return true;
        }
        let path = normal_path(url[Position::BeforePath..Position::AfterQuery].as_bytes());
        let matching = (self.rules.iter()).filter(|rule| rule.pattern.matches(&path));
        let longest = matching.max_by_key(|rule| (rule.pattern.len(), rule.allows));
        longest.is_none_or(|rule| rule.allows)
    }

    /// Returns the `Crawl-delay`, which the RFC does not define but many hosts rely on.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }
}
