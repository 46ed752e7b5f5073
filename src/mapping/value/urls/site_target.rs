//! Site targets: URLs to which a key of a site leads, such as `home`, and where they are written.

use super::target::Target;
use crate::mapping::value::diagnostics::Place;

/// A URL to which a key of a site leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteTarget {
    pub(crate) url: Target<'static>,
    /// Where it is written first.
    pub(crate) place: Place,
}

impl SiteTarget {
    /// Returns the URL in canonical form.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns where it is written.
    pub fn place(&self) -> &Place {
        &self.place
    }
}
