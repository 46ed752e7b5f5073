//! The states of links, by which they are selected.

use crate::mapping::packed::{Entry, Term};
use crate::mapping::value::{Retired, Timestamp};

/// The state of a link at some point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// It redirects.
    Live,
    /// It was withdrawn, whether or not it has expired too.
    Retired,
    /// Its validity has ended.
    Expired,
}

impl LinkState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Live, Self::Retired, Self::Expired];

    /// Returns the state with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Retired => "retired",
            Self::Expired => "expired",
        }
    }

    /// Returns the state of an entry at the given time.
    pub fn of(entry: Entry<'_>, now: Timestamp) -> Self {
        Self::of_term(entry.term(), now)
    }

    /// Returns the state of an entry with a term at the given time.
    pub(super) fn of_term(term: Term, now: Timestamp) -> Self {
        match term.retired {
            Some(Retired::Always) => return Self::Retired,
            Some(Retired::From(time)) if time <= now => return Self::Retired,
            _ => {}
        }
        match term.expires {
            Some(time) if time <= now => Self::Expired,
            _ => Self::Live,
        }
    }
}
