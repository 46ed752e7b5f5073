//! The comparison of what Apache answers to a path with what an entry with variants would answer.

use super::answer::Location;
use super::clients::Clients;
use super::probes::{BROWSERS, OTHERS, TYPES};
use crate::exchange::read::rows::RowError;
use crate::mapping::{OwnedVariant, preferred_variant};

const OTHERWISE: RowError = RowError::NoLink("a table would choose another media type than Apache");

/// An entry with variants that a table would have for a path.
pub(super) struct Comparison<'c> {
    pub(super) clients: &'c Clients<'c>,
    /// Where the entry itself leads.
    pub(super) location: &'c Location,
    pub(super) variants: &'c [OwnedVariant],
    /// Returns the URL to which a variant leads the path, or the entry itself.
    pub(super) url: &'c dyn Fn(Option<&OwnedVariant>) -> String,
}

impl Comparison<'_> {
    /// Checks that the table leads requests where Apache does: those that name none of the types that its
    /// conditions look for, one of them or, with the same quality, several of them. Those that lead
    /// somewhere alone come with that URL, too.
    ///
    /// Beside a range of a lower quality, such as `*/*;q=0.1`, a table always chooses what it does for
    /// the types alone.
    pub(super) fn agrees(&self, types: &[&str], alone: &[(&str, String)]) -> Result<(), RowError> {
        let has_default = self.clients.has_default()?;
        if !has_default {
            self.agrees_for("")?;
        }
        for accept in ["*/*"].iter().chain(&BROWSERS) {
            self.agrees_for(accept)?;
        }
        let others = TYPES.iter().filter(|it| !types.contains(it));
        // A condition may depend on what follows a type.
        let with_quality = |it: &str| [it.to_owned(), format!("{it};q=0.5")];
        for accept in types.iter().flat_map(|it| with_quality(it)) {
            self.agrees_for(&accept)?;
        }
        for accept in others.flat_map(|it| with_quality(it)) {
            // What Apache answers to one without `Accept`, a table answers to none.
            if !has_default || self.clients.answer(&accept)? != self.clients.answer("")? {
                self.agrees_for(&accept)?;
            }
        }
        for one in types {
            for other in types.iter().chain(&OTHERS) {
                for comma in [",", ", "] {
                    self.agrees_in_any_order(&[one, other], comma)?;
                }
            }
        }
        // Apache ignores the qualities; the table must not.
        for (one, url) in alone {
            for (other, _) in alone {
                let is_preferred = self.chosen(&format!("{one}, {other};q=0.5")) == *url;
                if one != other && !is_preferred {
                    return Err(OTHERWISE);
                }
            }
        }
        // A condition may be one on several types.
        self.agrees_in_any_order(types, ", ")
    }

    /// Checks the answer to a request that names types with the same quality. Their order has no meaning
    /// (RFC 9110, section 12.5.1): if Apache's answer depends on it, the table must give one of these.
    fn agrees_in_any_order(&self, types: &[&str], comma: &str) -> Result<(), RowError> {
        let backwards: Vec<_> = types.iter().rev().copied().collect();
        let orders = [types.join(comma), backwards.join(comma)];
        if let [Some(one), Some(other)] = [
            self.clients.answer(&orders[0])?,
            self.clients.answer(&orders[1])?,
        ] && one != other
        {
            let chosen = self.chosen(&orders[0]);
            let is_one = [&one, &other].iter().any(|it| it.url == chosen);
            let are_like = one.fits(self.location) && other.fits(self.location);
            return match is_one && are_like {
                true => Ok(()),
                false => Err(OTHERWISE),
            };
        }
        orders.iter().try_for_each(|it| self.agrees_for(it))
    }

    fn agrees_for(&self, accept: &str) -> Result<(), RowError> {
        let Some(found) = self.clients.answer(accept)? else {
            return Ok(());
        };
        match found.url == self.chosen(accept) && found.fits(self.location) {
            true => Ok(()),
            false => Err(OTHERWISE),
        }
    }

    /// Returns where the entry leads a request with this `Accept`.
    fn chosen(&self, accept: &str) -> String {
        (self.url)(preferred_variant(self.variants, &accept))
    }
}
