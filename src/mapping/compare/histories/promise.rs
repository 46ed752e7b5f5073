//! The promise of one code: where it leads, since when it is broken, and where statements moved it.

use super::goal::Goal;
use crate::mapping::compare::breaches::Breach;
use crate::mapping::packed::Entry;

/// The promise of one code.
#[derive(Debug, Clone)]
pub(super) struct Promise {
    pub(super) goal: Goal,
    is_retired: bool,
    /// Whether the last published table has the code; only known for the first promise of a code.
    pub(super) is_current: bool,
    /// Whether an entry has dropped the target, which no output names any more.
    pub(super) is_taken_down: bool,
    /// The last commit that kept it, with the target if it has one; `None` for the last that was
    /// published.
    pub(super) kept: Option<usize>,
    /// Its former destinations, from which statements moved it.
    pub(super) left: Vec<Goal>,
}

impl Promise {
    pub(super) fn new(entry: Entry<'_>) -> Self {
        let mut promise = Self {
            goal: Goal::default(),
            is_retired: false,
            is_current: true,
            is_taken_down: false,
            kept: None,
            left: Vec::new(),
        };
        promise.keep(entry);
        promise
    }

    /// Records that it may not be kept after a commit that was published.
    pub(super) fn leave(&mut self, published: usize) {
        self.is_current = false;
        self.kept.get_or_insert(published);
    }

    pub(super) fn left_at(mut self, published: usize) -> Self {
        self.leave(published);
        self
    }

    /// Returns whether a statement has moved this promise away from the destination of the other.
    pub(super) fn supersedes(&self, other: &Self) -> bool {
        let has_left = self.has_left(&other.goal);
        let was_left = other.has_left(&self.goal);
        has_left && (!was_left || self.left.len() > other.left.len())
    }

    /// Returns whether a statement has moved this promise away from a destination, which may have further
    /// variants since.
    fn has_left(&self, goal: &Goal) -> bool {
        self.left.iter().any(|left| left.is_extended_by(goal))
    }

    /// Merges the same promise of another line of work.
    pub(super) fn unite(&mut self, other: &Self) {
        self.is_retired |= other.is_retired;
        self.is_taken_down |= other.is_taken_down;
        self.kept = self.kept.max(other.kept);
        for goal in &other.left {
            if !self.left.contains(goal) {
                self.left.push(goal.clone());
            }
        }
    }

    pub(super) fn breach(&self, now: Option<Entry<'_>>) -> Option<Breach> {
        Breach::of(self.goal.destination(), self.is_retired, now)
    }

    /// Updates the promise from an entry.
    pub(super) fn keep(&mut self, entry: Entry<'_>) {
        self.is_retired = entry.is_retired();
        if !entry.has_target() && self.goal.destination().is_some() {
            // A retired entry may drop its target, which is still the only one that the code may
            // have.
            self.is_taken_down = true;
            return;
        }
        if !self.goal.is_of(entry) {
            self.goal = Goal::of(entry);
        }
        self.is_taken_down = false;
        self.kept = None;
    }
}
