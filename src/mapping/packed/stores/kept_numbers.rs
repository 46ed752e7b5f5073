//! The new numbers of the entries that two versions of a site have in common.

use super::renumbering::Renumbering;

/// The new numbers of kept entries.
#[derive(Debug)]
pub(crate) enum KeptNumbers {
    /// The versions have the same base, whose numbers stay.
    AfterBase { base_end: u32, added: Renumbering },
    /// The new number of each, by its old one.
    Each(Vec<u32>),
}

impl KeptNumbers {
    /// Returns the new number of an entry that was kept, given its old one.
    #[inline]
    pub(crate) fn of(&self, old: u32) -> u32 {
        match self {
            Self::AfterBase { base_end, .. } if old < *base_end => old,
            Self::AfterBase { base_end, added } => base_end + added.of(old - base_end),
            Self::Each(numbers) => numbers[old as usize],
        }
    }
}
