//! The stores that the suite runs on.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Runtime;
use waypost::frontier::{Memory, Store};

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
