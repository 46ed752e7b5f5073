//! How a request for a new link is answered if the link exists.

use crate::registry::Holder;
use crate::server::fleet::RegisteredLink;

/// How a request for a new link is answered if the link exists.
#[derive(Debug, Default)]
pub(super) struct ExistingLink {
    /// Whether any existing link may be returned.
    pub(super) get_or_create: bool,
    /// The link that the same request registered earlier, as recorded by another replica.
    pub(super) registered: Option<RegisteredLink>,
}

impl ExistingLink {
    /// Returns whether a link is the one that the same request registered before.
    pub(super) fn is_registered(&self, holder: &Holder) -> bool {
        let registered = self.registered.as_ref();
        let is_it = |it: &RegisteredLink| it.site == holder.site && it.code == holder.code;
        !holder.is_gone && registered.is_some_and(is_it)
    }
}
