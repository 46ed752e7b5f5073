//! The stores that the suite runs on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Runtime;
use waypost::frontier::{Memory, Redb, Store};

use crate::bench::{DEFAULT_PAUSE, Engine, Hand};

/// A store in memory.
#[derive(Default)]
pub(crate) struct InMemory {
    hand: Hand,
}

impl Engine for InMemory {
    fn open(&mut self, _: &Runtime) -> Arc<dyn Store> {
        Arc::new(Memory::new(self.hand.clone(), DEFAULT_PAUSE))
    }

    fn set_clock(&mut self, millis: u64) {
        self.hand.0.store(millis, Ordering::SeqCst);
    }

    fn keeps(&self) -> bool {
        false
    }

    fn ends_leases(&self) -> bool {
        false
    }
}

/// A store in a file.
pub(crate) struct InFile {
    hand: Hand,
    directory: tempfile::TempDir,
}

impl InFile {
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("hosts.redb")
    }
}

impl Default for InFile {
    fn default() -> Self {
        Self {
            hand: Hand::default(),
            directory: tempfile::tempdir().unwrap(),
        }
    }
}

impl Engine for InFile {
    fn open(&mut self, _: &Runtime) -> Arc<dyn Store> {
        Arc::new(Redb::open(&self.path(), self.hand.clone(), DEFAULT_PAUSE).unwrap())
    }

    fn set_clock(&mut self, millis: u64) {
        self.hand.0.store(millis, Ordering::SeqCst);
    }

    fn keeps(&self) -> bool {
        true
    }

    fn ends_leases(&self) -> bool {
        true
    }
}
