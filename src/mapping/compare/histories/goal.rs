//! Goals: the destination of a code as a text, as the promises of a history keep it.

use std::rc::Rc;

use crate::mapping::compare::compared::Destination;
use crate::mapping::packed::Entry;

/// The destination of a code, or none.
///
/// There is one for each code of a history, so it is a single text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Goal(Option<Rc<str>>);

impl Goal {
    /// Returns the destination of the codes of an entry.
    pub(super) fn of(entry: Entry<'_>) -> Self {
        Self(Destination::of(entry).map(|it| it.to_text().into()))
    }

    /// Returns whether it is the destination of the codes of an entry.
    pub(super) fn is_of(&self, entry: Entry<'_>) -> bool {
        self.destination() == Destination::of(entry)
    }

    /// Returns the destination.
    pub(super) fn destination(&self) -> Option<Destination<'_>> {
        self.0.as_deref().map(Destination::of_text)
    }

    /// Returns whether another destination is the same, except for further variants.
    pub(super) fn is_extended_by(&self, other: &Self) -> bool {
        match (self.destination(), other.destination()) {
            (Some(this), Some(other)) => this.is_extended_by(&other),
            (this, other) => this == other,
        }
    }
}
