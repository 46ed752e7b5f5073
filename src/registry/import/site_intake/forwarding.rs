//! Checks of what a link forwards: its URLs, and those of its variants, must be able to take it.

use crate::exchange::read::ImportedLink;
use crate::mapping::{Forward, Misfit, OwnedVariant, Target};
use crate::registry::decide::RegistrationRefusal;

/// The URLs of a link.
pub(super) struct LinkUrls<'l> {
    pub(super) url: Option<&'l Target<'l>>,
    pub(super) below: Option<&'l Target<'l>>,
    pub(super) variants: &'l [OwnedVariant],
}

impl LinkUrls<'_> {
    /// Checks that they allow the forwarding that a link requests, or the default of its document.
    pub(super) fn check_forward(
        &self,
        forward: Option<Forward>,
        default: Option<Forward>,
    ) -> Result<(), RegistrationRefusal> {
        let own = forward.unwrap_or_default();
        let is_alone = self.below.is_none() && !own.takes_below();
        if is_alone && self.variants.iter().any(|it| it.below.is_some()) {
            return Err(RegistrationRefusal::BelowOfVariantOnly);
        }
        if let Some(misfit) = self.misfit(own) {
            return Err(misfit.into());
        }
        let default = default.filter(|_| forward.is_none());
        match default.and_then(|forward| self.misfit(forward)) {
            Some(misfit) => Err(RegistrationRefusal::DefaultMisfit(misfit)),
            None => Ok(()),
        }
    }

    /// Returns the first reason why this cannot be forwarded to one of them.
    fn misfit(&self, forward: Forward) -> Option<Misfit> {
        let some_lack_below = self.variants.iter().any(|it| it.below.is_none());
        let own = match (self.below, self.url) {
            (Some(below), _) if some_lack_below => {
                Misfit::of_below(forward.besides_all(), below.as_str())
            }
            (Some(below), _) => Misfit::of_below(forward, below.as_str()),
            (None, Some(url)) => Misfit::of(forward, url.as_str()),
            (None, None) => None,
        };
        let mut of_variants = self.variants.iter().filter_map(|it| match &it.below {
            Some(below) => Misfit::of_below(forward.besides_all(), below.as_str()),
            None => Misfit::of(forward, it.target.as_str()),
        });
        own.or_else(|| of_variants.next())
    }
}

/// Checks that a link without a target has no other URL, which would lead nowhere.
pub(super) fn check_without_url(link: &ImportedLink) -> Result<(), RegistrationRefusal> {
    let others = [
        ("below", link.below.is_some()),
        ("archive", link.archive.is_some()),
        ("variants", !link.variants.is_empty()),
    ];
    match others.into_iter().find(|(_, is_there)| *is_there) {
        Some((key, _)) if link.url.is_none() => Err(RegistrationRefusal::NoUrlBut { key }),
        _ => Ok(()),
    }
}
