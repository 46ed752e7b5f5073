//! The states that checks run on.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use waypost::frontier::{Clock, RedbError};
use waypost::linkcheck::{CheckState, FileState};

use crate::web::{self, DELAY, Forward};

/// A state, its clock, and the clock that a test sets forward.
pub(crate) struct Engine {
    pub(crate) state: Arc<dyn CheckState>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) forward: Forward,
    _directory: Option<tempfile::TempDir>,
}

pub(crate) async fn in_memory() -> Engine {
    let (forward, state) = web::in_memory();
    Engine {
        state,
        clock: forward.shared(),
        forward,
        _directory: None,
    }
}

pub(crate) async fn in_file() -> Engine {
    let forward = Forward::new();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    Engine {
        state: Arc::new(FileState::open(&path, forward.clone(), DELAY).unwrap()),
        clock: forward.shared(),
        forward,
        _directory: Some(directory),
    }
}

/// Opens a state file that this test has closed.
///
/// A process that another test starts has a copy of all open files, and with it their locks, until
/// it executes its program.
pub(crate) async fn reopened(path: &Path, clock: Forward) -> FileState {
    for _ in 0..1000 {
        match FileState::open(path, clock.clone(), DELAY) {
            Err(RedbError::InUse { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            other => return other.unwrap(),
        }
    }
    panic!("{} is still in use", path.display());
}

#[cfg(feature = "valkey")]
pub(crate) use server::{Shard, on_server};

#[cfg(feature = "valkey")]
mod server {
    use std::sync::atomic::{AtomicU64, Ordering};

    use waypost::frontier::Valkey;
    use waypost::linkcheck::ValkeyState;
    use waypost::valkey::ServerAddress;

    use super::*;

    /// How many shards this program has used.
    static SHARDS: AtomicU64 = AtomicU64::new(0);

    /// A shard of its own on the server that `WAYPOST_TEST_VALKEY` names.
    pub(crate) struct Shard {
        pub(crate) address: ServerAddress,
        pub(crate) forward: Forward,
    }

    impl Shard {
        pub(crate) fn new() -> Self {
            let url = std::env::var("WAYPOST_TEST_VALKEY");
            let url = url.expect(
                "WAYPOST_TEST_VALKEY is the address of a server; tests/e2e/frontier starts one",
            );
            Self::at(&url)
        }

        pub(crate) fn at(url: &str) -> Self {
            let number = SHARDS.fetch_add(1, Ordering::SeqCst);
            let shard = format!("links-{}-{number}", std::process::id());
            let client = redis::Client::open(url).unwrap();
            let time = format!("{{{shard}}}:test-time");
            let forward = Forward::with(move |ahead| {
                let mut set = redis::cmd("SET");
                set.arg(&time).arg(format!("+{}", ahead.as_millis()));
                set.exec(&mut client.get_connection().unwrap()).unwrap();
            });
            let address = ServerAddress::parse(url).unwrap().with_shard(&shard);
            Self { address, forward }
        }

        /// Returns the state as one more worker has it.
        pub(crate) async fn worker(&self) -> (Arc<dyn CheckState>, Arc<dyn Clock>) {
            let store = Valkey::connect_with_test_time(self.address.clone(), DELAY);
            let state = ValkeyState::new(store.await.unwrap()).await.unwrap();
            let clock = state.clock();
            (Arc::new(state), clock)
        }
    }

    pub(crate) async fn on_server() -> Engine {
        let shard = Shard::new();
        let (state, clock) = shard.worker().await;
        Engine {
            state,
            clock,
            forward: shard.forward,
            _directory: None,
        }
    }
}
