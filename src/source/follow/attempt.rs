//! Attempts to load a commit, recorded before they begin.
//!
//! A table that is too large for the machine's memory ends the process that loads it before it can
//! report anything. The record is for the next process: an attempt that it finds unfinished ended
//! uncleanly, because of lack of memory or a power cut. Commits that were loaded before are not
//! recorded, and nothing is recorded in a directory that is removed with the process.

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::git::{CommitId, StateDir};

/// The number of unclean ends under the same conditions after which a commit is no longer loaded
/// automatically.
const MAX_ENDS: u32 = 2;

/// The file in which Linux identifies the current boot (random(4)).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The conditions of an attempt: after a reboot, or with more memory or another limit of the
/// table's size, it may end differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadConditions {
    /// The boot, where the system identifies it.
    boot: Option<String>,
    /// The available memory, if known.
    memory: Option<u64>,
    /// The maximum size of a table.
    max_bytes: u64,
}

impl LoadConditions {
    /// Returns the current conditions.
    pub(crate) fn now(memory: Option<u64>, max_bytes: u64) -> Self {
        let boot = fs::read_to_string(BOOT_ID).ok();
        Self {
            boot: boot.map(|id| id.trim().to_owned()),
            memory,
            max_bytes,
        }
    }
}

/// The record of the attempts to load one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadAttempt {
    commit: CommitId,
    conditions: LoadConditions,
    /// The number of attempts that ended uncleanly.
    unclean_ends: u32,
    /// Whether another one has begun and not ended.
    under_way: bool,
}

/// Whether a commit may be loaded now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadVerdict {
    /// It may.
    Load,
    /// Not yet: the last good commit is loaded first, because an attempt at this one may just have
    /// ended uncleanly.
    GoodFirst,
    /// Not automatically, after so many unclean ends.
    Wait(u32),
}

/// The record of attempts in a state directory.
#[derive(Debug)]
pub(crate) struct Attempts {
    conditions: LoadConditions,
    current: Mutex<Current>,
}

#[derive(Debug, Default)]
struct Current {
    attempt: Option<LoadAttempt>,
    /// Whether an attempt is allowed after unclean ends: it was requested, or its turn has come.
    allowed: bool,
    /// The commit whose last attempt ended cleanly in this process.
    harmless: Option<CommitId>,
    /// Whether this process is about to exit.
    closed: bool,
}

impl Attempts {
    /// Reads the record of an earlier process, and counts an attempt that it did not finish.
    pub(crate) fn open(state: &StateDir, conditions: LoadConditions) -> Self {
        let attempt = state
            .load_attempt()
            .and_then(|found| resumed(found, &conditions));
        if let Some(attempt) = &attempt {
            store(state, attempt);
        }
        Self {
            conditions,
            current: Mutex::new(Current {
                attempt,
                ..Current::default()
            }),
        }
    }

    /// Returns whether a commit may be loaded that is not the last good one, `good`.
    pub(crate) fn verdict(&self, commit: CommitId, good: Option<CommitId>) -> LoadVerdict {
        let current = self.lock();
        match current.of(commit).map_or(0, |it| it.unclean_ends) {
            0 => LoadVerdict::Load,
            _ if current.allowed => LoadVerdict::Load,
            ends @ MAX_ENDS.. => LoadVerdict::Wait(ends),
            _ if good.is_some() => LoadVerdict::GoodFirst,
            _ => LoadVerdict::Load,
        }
    }

    /// Returns whether attempts to load a commit ended uncleanly, and none has ended cleanly since.
    pub(crate) fn is_in_doubt(&self, commit: CommitId) -> bool {
        self.lock().of(commit).is_some_and(|it| it.unclean_ends > 0)
    }

    /// Allows one more attempt, regardless of how earlier ones ended.
    pub(crate) fn allow(&self) {
        self.lock().allowed = true;
    }

    /// Records durably that a commit is about to be loaded.
    pub(crate) fn begin(&self, state: &StateDir, commit: CommitId) {
        let mut current = self.lock();
        if current.closed || current.harmless == Some(commit) {
            return;
        }
        let attempt = LoadAttempt {
            commit,
            conditions: self.conditions.clone(),
            unclean_ends: current.of(commit).map_or(0, |it| it.unclean_ends),
            under_way: true,
        };
        store(state, &attempt);
        current.attempt = Some(attempt);
    }

    /// Records that the current attempt, if there is one, ended cleanly.
    pub(crate) fn end(&self, state: &StateDir) {
        let mut current = self.lock();
        if let Some(attempt) = current.attempt.take_if(|it| it.under_way) {
            state.remove_attempt();
            current.harmless = Some(attempt.commit);
        }
    }

    /// Records that this process exits cleanly, even during an attempt.
    pub(crate) fn close(&self, state: &StateDir) {
        let mut current = self.lock();
        current.closed = true;
        match &mut current.attempt {
            Some(attempt) if attempt.under_way && attempt.unclean_ends > 0 => {
                attempt.under_way = false;
                store(state, attempt);
            }
            Some(attempt) if attempt.under_way => {
                state.remove_attempt();
                current.attempt = None;
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        // Each change is one assignment, so a panic leaves it consistent.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn of(&self, commit: CommitId) -> Option<&LoadAttempt> {
        self.attempt.as_ref().filter(|it| it.commit == commit)
    }
}

/// Returns the current meaning of an earlier process's record, if it still applies.
fn resumed(found: LoadAttempt, conditions: &LoadConditions) -> Option<LoadAttempt> {
    let before = match found.conditions == *conditions {
        true => found.unclean_ends,
        false => 0,
    };
    let unclean_ends = before.saturating_add(found.under_way.into());
    (unclean_ends > 0).then(|| LoadAttempt {
        conditions: conditions.clone(),
        unclean_ends,
        under_way: false,
        ..found
    })
}

/// Stores a record. If that fails, loading continues without one.
fn store(state: &StateDir, attempt: &LoadAttempt) {
    if let Err(error) = state.store_attempt(attempt) {
        tracing::warn!(%error, commit = %attempt.commit, "cannot record that a commit is being loaded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the id of a commit, by its number.
    fn id(number: u8) -> CommitId {
        git2::Oid::from_bytes(&[number; 20]).unwrap().into()
    }

    fn conditions() -> LoadConditions {
        LoadConditions {
            boot: Some("first".to_owned()),
            memory: Some(512 << 20),
            max_bytes: 1 << 20,
        }
    }

    /// Leaves the record of a process that is killed while it loads the commit 1.
    fn killed(state: &StateDir, conditions: &LoadConditions) {
        Attempts::open(state, conditions.clone()).begin(state, id(1));
    }

    fn verdict(state: &StateDir, conditions: &LoadConditions) -> LoadVerdict {
        Attempts::open(state, conditions.clone()).verdict(id(1), Some(id(3)))
    }

    fn directory() -> (tempfile::TempDir, StateDir) {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        (dir, state)
    }

    #[test]
    fn waits_after_two_unclean_ends_and_not_before() {
        let (_dir, state) = directory();
        assert_eq!(verdict(&state, &conditions()), LoadVerdict::Load);
        killed(&state, &conditions());
        assert_eq!(verdict(&state, &conditions()), LoadVerdict::GoodFirst);
        // Starts that did not try it do not count.
        assert_eq!(verdict(&state, &conditions()), LoadVerdict::GoodFirst);
        killed(&state, &conditions());
        for _ in 0..3 {
            assert_eq!(verdict(&state, &conditions()), LoadVerdict::Wait(2));
        }
        killed(&state, &conditions());
        assert_eq!(verdict(&state, &conditions()), LoadVerdict::Wait(3));
    }

    #[test]
    fn one_unclean_end_is_no_reason_to_wait_where_there_is_nothing_good() {
        let (_dir, state) = directory();
        killed(&state, &conditions());
        let attempts = Attempts::open(&state, conditions());
        assert_eq!(attempts.verdict(id(1), None), LoadVerdict::Load);
        killed(&state, &conditions());
        let attempts = Attempts::open(&state, conditions());
        assert_eq!(attempts.verdict(id(1), None), LoadVerdict::Wait(2));
    }

    #[test]
    fn another_boot_or_other_limits_reset_the_attempts() {
        let others = [
            LoadConditions {
                boot: Some("second".to_owned()),
                ..conditions()
            },
            LoadConditions {
                memory: Some(1 << 30),
                ..conditions()
            },
            LoadConditions {
                max_bytes: 2 << 20,
                ..conditions()
            },
        ];
        for other in others {
            let (_dir, state) = directory();
            killed(&state, &conditions());
            killed(&state, &conditions());
            // The second end is only seen now, and may have been a power cut.
            assert_eq!(verdict(&state, &other), LoadVerdict::GoodFirst, "{other:?}");
            let (_dir, state) = directory();
            killed(&state, &conditions());
            killed(&state, &conditions());
            assert_eq!(verdict(&state, &conditions()), LoadVerdict::Wait(2));
            assert_eq!(verdict(&state, &other), LoadVerdict::Load, "{other:?}");
        }
    }

    #[test]
    fn counts_without_a_boot_id() {
        let (_dir, state) = directory();
        let unknown = LoadConditions {
            boot: None,
            ..conditions()
        };
        killed(&state, &unknown);
        killed(&state, &unknown);
        assert_eq!(verdict(&state, &unknown), LoadVerdict::Wait(2));
    }

    #[test]
    fn an_attempt_that_ended_leaves_nothing() {
        let (_dir, state) = directory();
        killed(&state, &conditions());
        let attempts = Attempts::open(&state, conditions());
        // The last good one is loaded meanwhile, which does not count as an attempt at this one.
        attempts.end(&state);
        assert!(attempts.is_in_doubt(id(1)));
        attempts.begin(&state, id(1));
        attempts.end(&state);
        assert!(!attempts.is_in_doubt(id(1)));
        assert_eq!(state.load_attempt::<LoadAttempt>(), None);
        attempts.begin(&state, id(1));
        assert_eq!(
            state.load_attempt::<LoadAttempt>(),
            None,
            "it is known to be harmless"
        );
    }

    #[test]
    fn another_commit_is_another_matter() {
        let (_dir, state) = directory();
        killed(&state, &conditions());
        killed(&state, &conditions());
        let attempts = Attempts::open(&state, conditions());
        assert_eq!(attempts.verdict(id(2), Some(id(3))), LoadVerdict::Load);
        attempts.begin(&state, id(2));
        assert_eq!(state.load_attempt::<LoadAttempt>().unwrap().unclean_ends, 0);
    }

    #[test]
    fn an_orderly_end_of_the_process_is_not_counted() {
        let (_dir, state) = directory();
        for before in [0, 1] {
            let attempts = Attempts::open(&state, conditions());
            attempts.begin(&state, id(1));
            attempts.close(&state);
            let ends = state
                .load_attempt::<LoadAttempt>()
                .map_or(0, |it| it.unclean_ends);
            assert_eq!(ends, before);
            // Later activity is not recorded either, until the process exits.
            attempts.begin(&state, id(1));
            let under_way = state
                .load_attempt::<LoadAttempt>()
                .is_some_and(|it| it.under_way);
            assert!(!under_way);
            killed(&state, &conditions());
        }
    }

    #[test]
    fn waits_no_longer_once_it_is_requested() {
        let (_dir, state) = directory();
        killed(&state, &conditions());
        killed(&state, &conditions());
        let attempts = Attempts::open(&state, conditions());
        attempts.allow();
        assert_eq!(attempts.verdict(id(1), Some(id(3))), LoadVerdict::Load);
    }

    #[test]
    fn records_nothing_in_a_directory_that_ends_with_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::private(dir.path()).unwrap();
        killed(&state, &conditions());
        assert_eq!(state.load_attempt::<LoadAttempt>(), None);
    }
}
