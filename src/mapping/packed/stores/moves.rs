//! The new places of a draft's targets after it was merged into something larger.

use super::arena::Text;

/// The places of targets before and after they moved.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// The places that they had, and the end of all; nothing if they have not moved.
    old: Vec<Text>,
    new: Vec<Text>,
    /// The distance by which all have moved, if they moved together.
    by: u32,
}

impl Moves {
    /// Adds the next target, or the end of all.
    pub(super) fn push(&mut self, old: Text, new: Text) {
        self.old.push(old);
        self.new.push(new);
    }

    /// Returns the moves after which all targets have moved by a distance.
    pub(crate) fn and_then(mut self, by: u32) -> Self {
        self.new
            .iter_mut()
            .for_each(|place| *place = place.moved(by));
        self.by = by;
        self
    }

    /// Returns where the target at a place, or the end, is now.
    pub(crate) fn of(&self, place: Text) -> Text {
        let at = self.old.partition_point(|old| *old < place);
        let moved = self.new.get(at).copied();
        moved.unwrap_or_else(|| place.moved(self.by))
    }

    /// Changes the places in values that are in the order of these.
    pub(crate) fn apply<V>(
        &self,
        values: &mut [V],
        place: impl Fn(&V) -> Text,
        set: impl Fn(&mut V, Text),
    ) {
        let mut at = 0;
        for value in values {
            let place = place(value);
            while self.old[at] < place {
                at += 1;
            }
            set(value, self.new[at]);
        }
    }
}
