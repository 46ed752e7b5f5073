//! The three versions in a merge: the base, ours, and theirs.

use std::collections::HashSet;
use std::hash::Hash;

/// Something in three versions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides<T> {
    pub(super) base: T,
    pub(super) ours: T,
    pub(super) theirs: T,
}

impl<T> Sides<T> {
    /// Applies a function to each version.
    pub(super) fn map<U>(self, mut f: impl FnMut(T) -> U) -> Sides<U> {
        Sides {
            base: f(self.base),
            ours: f(self.ours),
            theirs: f(self.theirs),
        }
    }

    /// Returns both sides, the leading one first: theirs if `is_theirs`, otherwise ours.
    pub(super) fn led_by(self, is_theirs: bool) -> (T, T) {
        if is_theirs {
            (self.theirs, self.ours)
        } else {
            (self.ours, self.theirs)
        }
    }

    /// Returns references to each version.
    pub(super) fn each(&self) -> Sides<&T> {
        Sides {
            base: &self.base,
            ours: &self.ours,
            theirs: &self.theirs,
        }
    }
}

impl<T> Sides<Option<T>> {
    /// Returns all versions if all are present.
    pub(super) fn all(self) -> Option<Sides<T>> {
        Some(Sides {
            base: self.base?,
            ours: self.ours?,
            theirs: self.theirs?,
        })
    }
}

impl<T: PartialEq> Sides<T> {
    /// Returns the version that applies unless both sides made different changes: the changed one,
    /// or ours if both are equal.
    pub(super) fn settled(self) -> Option<T> {
        if self.ours == self.theirs || self.theirs == self.base {
            Some(self.ours)
        } else if self.ours == self.base {
            Some(self.theirs)
        } else {
            None
        }
    }
}

impl<T: Eq + Hash + Copy> Sides<Vec<T>> {
    /// Returns the items of a list that both sides may have changed: those of ours without what
    /// theirs removed, then what theirs added.
    pub(super) fn items(&self) -> Vec<T> {
        let known = self
            .each()
            .map(|items| items.iter().collect::<HashSet<_>>());
        let Sides { base, ours, theirs } = &known;
        let kept = self
            .ours
            .iter()
            .filter(|it| theirs.contains(it) || !base.contains(it));
        let added = self
            .theirs
            .iter()
            .filter(|it| !ours.contains(it) && !base.contains(it));
        kept.chain(added).copied().collect()
    }
}
