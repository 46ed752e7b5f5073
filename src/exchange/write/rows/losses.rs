//! The features of a table that a format cannot represent, counted by kind.

use crate::mapping::{Case, DEFAULT_MAX_AGE, Forward, Site, Status, Timestamp};

use super::order::{CodeRow, SortedEntries};

/// A property of an entry besides its code and its target, or of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// A redirect status other than 302.
    Status,
    /// The path or the query is carried over.
    Forward,
    /// Paths below the code lead to a URL of their own.
    Below,
    /// A caching time other than the default.
    CacheMaxAge,
    /// A future time from which the entry is gone.
    End,
    /// The entry answers 410 now.
    Gone,
    /// Several codes belong to one entry.
    Aliases,
    /// A title.
    Title,
    /// The owner.
    Owner,
    /// Tags.
    Tags,
    /// An archived copy of the target.
    Archive,
    /// Other targets for some media types.
    Variants,
    /// A URL or path that is longer than the format's readers accept.
    Length,
    /// The base URL itself leads elsewhere.
    Home,
    /// Unknown paths lead elsewhere.
    Fallback,
    /// Codes are found in any case.
    Case,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 16] = [
        Self::Status,
        Self::Forward,
        Self::Below,
        Self::CacheMaxAge,
        Self::End,
        Self::Gone,
        Self::Aliases,
        Self::Title,
        Self::Owner,
        Self::Tags,
        Self::Archive,
        Self::Variants,
        Self::Length,
        Self::Home,
        Self::Fallback,
        Self::Case,
    ];

    /// Returns the word for the feature in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Forward => "forward",
            Self::Below => "below",
            Self::CacheMaxAge => "cache-max-age",
            Self::End => "expires or retired later",
            Self::Gone => "expired or retired",
            Self::Aliases => "aliases",
            Self::Title => "title",
            Self::Owner => "owner",
            Self::Tags => "tags",
            Self::Archive => "archive",
            Self::Variants => "variants",
            Self::Length => "links too long for this form",
            Self::Home => "home",
            Self::Fallback => "fallback",
            Self::Case => "case",
        }
    }
}

/// The number of codes of a site with each feature that a format cannot represent; 1 for a feature
/// of the site itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Losses([usize; Feature::ALL.len()]);

impl Losses {
    /// Counts the losses for a site as it is at `now`, where rows that do not fit are omitted.
    /// `fits` is called only if lengths are limited.
    pub(crate) fn count(
        site: &Site,
        now: Timestamp,
        carries: impl Fn(Feature) -> bool,
        fits: impl Fn(&CodeRow<'_>) -> bool,
    ) -> Self {
        let mut losses = Self::default();
        let of_site = [
            (Feature::Home, site.about().home().is_some()),
            (Feature::Fallback, site.about().fallback().is_some()),
            (Feature::Case, site.about().case() == Case::Fold),
        ];
        for (feature, is_set) in of_site {
            losses.0[feature as usize] = usize::from(is_set && !carries(feature));
        }
        let is_of_site = |it| of_site.iter().any(|(feature, _)| *feature == it);
        if Feature::ALL
            .into_iter()
            .all(|it| is_of_site(it) || carries(it))
        {
            return losses;
        }

        for row in SortedEntries::of(site).rows() {
            let entry = row.entry;
            let is_gone = entry.is_gone(now);
            let is_gone_too = is_gone && !carries(Feature::Gone);
            let is_too_long = !is_gone_too && !carries(Feature::Length) && !fits(&row);
            for feature in Feature::ALL {
                let is_lost = match feature {
                    Feature::Gone => is_gone,
                    Feature::Length => is_too_long,
                    // An omitted row loses nothing more.
                    _ if is_gone_too || is_too_long => false,
                    Feature::Status => !is_gone && entry.status() != Status::Found,
                    Feature::Forward => !is_gone && entry.forward() != Forward::None,
                    Feature::Below => !is_gone && entry.below().is_some(),
                    Feature::CacheMaxAge => !is_gone && entry.cache_max_age() != DEFAULT_MAX_AGE,
                    Feature::End => !is_gone && entry.gone_from().is_some(),
                    Feature::Aliases => row.code != entry.code(),
                    Feature::Title => entry.title().is_some(),
                    Feature::Owner => entry.owner().is_some(),
                    Feature::Tags => entry.tags().next().is_some(),
                    Feature::Archive => entry.archive().is_some(),
                    Feature::Variants => !is_gone && entry.has_variants(),
                    Feature::Home | Feature::Fallback | Feature::Case => false,
                };
                losses.0[feature as usize] += usize::from(is_lost && !carries(feature));
            }
        }
        losses
    }

    /// Returns the number of codes that lose a feature.
    pub fn of(&self, feature: Feature) -> usize {
        self.0[feature as usize]
    }
}
