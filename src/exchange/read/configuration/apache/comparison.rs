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
    pub(super) fn agrees(&self, types: &[&str], alone: &[(&str, String)]) -> Result<(), RowError> {
        for accept in ["", "*/*"].iter().chain(&BROWSERS) {
            self.agrees_for(accept)?;
        }
        for it in types.iter().chain(&TYPES) {
            self.agrees_for(it)?;
            // A condition may depend on what follows a type.
            self.agrees_for(&format!("{it};q=0.5"))?;
        }
        for one in types {
            for other in types.iter().chain(&OTHERS) {
                for comma in [",", ", "] {
                    self.agrees_for(&format!("{one}{comma}{other}"))?;
                    self.agrees_for(&format!("{other}{comma}{one}"))?;
                }
            }
            self.agrees_for(&format!("{one}, */*;q=0.1"))?;
            self.agrees_for(&format!("{one};q=0.9,*/*;q=0.1"))?;
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
        let backwards: Vec<_> = types.iter().rev().copied().collect();
        self.agrees_for(&types.join(", "))?;
        self.agrees_for(&backwards.join(", "))
    }

    fn agrees_for(&self, accept: &str) -> Result<(), RowError> {
        let Some(found) = self.clients.answer(accept)? else {
            return Ok(());
        };
        match found.url == self.chosen(accept) && found.is_like(self.location) {
            true => Ok(()),
            false => Err(OTHERWISE),
        }
    }

    /// Returns where the entry leads a request with this `Accept`.
    fn chosen(&self, accept: &str) -> String {
        (self.url)(preferred_variant(self.variants, &accept))
    }
}
