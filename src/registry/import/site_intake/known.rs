//! Known links: those whose code answers already as they say.
//!
//! What a format does not say of a link is not compared: most have no variants, and no forwarding.

use super::SiteIntake;
use crate::exchange::read::ImportedLink;
use crate::mapping::{Code, Forward, OwnedVariant, Retired, Status, Target, Timestamp};

/// What else than its URLs decides what is answered to a link.
struct Answered {
    status: Status,
    forward: Forward,
    expires: Option<Timestamp>,
    retired: Option<Retired>,
    is_gone: bool,
}

impl SiteIntake<'_> {
    /// Returns whether a code leads where a link does, by the table or by a taken link, or both are gone.
    pub(super) fn answers_already(
        &self,
        code: &Code,
        [url, below]: [&Option<Target<'static>>; 2],
        link: &ImportedLink,
        is_gone: bool,
    ) -> bool {
        if let Some(entry) = self.site.lookup_in_any_case(code.as_str()) {
            let own = entry.variants().map(|it| it.to_string());
            let answered = Answered {
                status: entry.status(),
                forward: entry.forward(),
                expires: entry.expires(),
                retired: entry.retired(),
                is_gone: entry.is_gone(self.now),
            };
            return entry.target().as_deref() == url.as_ref().map(Target::as_str)
                && entry.below() == below.as_ref().map(Target::as_str)
                && are_those_of(link, own)
                && answered.is_that_of(link, is_gone);
        }
        let Some(holding) = self.codes.get(&self.compared_form(code)) else {
            return false;
        };
        let entry = holding.entry.and_then(|entry| self.entries.get(entry));
        entry.is_some_and(|entry| {
            let answered = Answered {
                status: entry.status.or(self.defaults.status).unwrap_or_default(),
                forward: entry.forward.or(self.defaults.forward).unwrap_or_default(),
                expires: entry.expires.as_ref().map(|it| it.end()),
                retired: entry.retired.as_ref().map(|it| it.meaning()),
                is_gone: holding.is_gone,
            };
            (&entry.url, &entry.below) == (url, below)
                && are_those_of(link, entry.variants.iter().map(OwnedVariant::to_string))
                && answered.is_that_of(link, is_gone)
        })
    }
}

impl Answered {
    /// Returns whether a link says nothing else; of links that are gone, the dates do not matter.
    fn is_that_of(&self, link: &ImportedLink, is_gone: bool) -> bool {
        if self.is_gone || is_gone {
            return self.is_gone && is_gone;
        }
        let expires = link.expires.as_ref().map(|it| it.end());
        let retired = link.retired.as_ref().map(|it| it.meaning());
        link.status.is_none_or(|it| it == self.status)
            && link.forward.is_none_or(|it| it == self.forward)
            && (expires.is_none() || expires == self.expires)
            && (retired.is_none() || retired == self.retired)
    }
}

/// Returns whether variants are those of a link, if it has some.
fn are_those_of(link: &ImportedLink, variants: impl Iterator<Item = String>) -> bool {
    link.variants.is_empty() || variants.eq(link.variants.iter().map(OwnedVariant::to_string))
}
