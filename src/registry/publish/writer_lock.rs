//! A lock for writers on one machine that share a remote.
//!
//! This is a courtesy, so that no writer is always too late: a writer that cannot get it proceeds
//! without it. Correctness depends only on the push, which compares.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::git::random;

/// The longest time between two attempts. It is random, so that all waiters are equally likely to
/// be next.
const STEP_MS: u64 = 20;

/// The lock, which is released when this is dropped or its process ends.
pub(crate) struct WriterLock(#[expect(dead_code, reason = "holds the lock")] File);

impl WriterLock {
    /// Waits for the lock of the remote in a directory, for as long as `timeout` lasts.
    pub(crate) fn take(directory: &Path, timeout: Duration) -> Option<Self> {
        let began = Instant::now();
        let lock = File::open(directory).ok()?;
        while lock.try_lock().is_err() {
            if began.elapsed() >= timeout {
                return None;
            }
            thread::sleep(Duration::from_millis(random() % STEP_MS + 1));
        }
        Some(Self(lock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let take = || WriterLock::take(directory.path(), Duration::ZERO);
        let first = take();
        assert!(first.is_some());
        assert!(take().is_none());
        drop(first);
        assert!(take().is_some());
        assert!(WriterLock::take(&directory.path().join("none"), Duration::MAX).is_none());
    }
}
