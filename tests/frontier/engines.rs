//! The stores that the suite runs on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Runtime;
use waypost::frontier::{Memory, Redb, Store};

use crate::bench::{DEFAULT_PAUSE, Engine, TestClock};

/// A store in memory.
#[derive(Default)]
pub(crate) struct InMemory {
    clock: TestClock,
}

impl Engine for InMemory {
    fn open(&mut self, _: &Runtime) -> Arc<dyn Store> {
        Arc::new(Memory::new(self.clock.clone(), DEFAULT_PAUSE))
    }

    fn set_clock(&mut self, millis: u64) {
        self.clock.0.store(millis, Ordering::SeqCst);
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
    clock: TestClock,
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
            clock: TestClock::default(),
            directory: tempfile::tempdir().unwrap(),
        }
    }
}

impl Engine for InFile {
    fn open(&mut self, _: &Runtime) -> Arc<dyn Store> {
        Arc::new(Redb::open(&self.path(), self.clock.clone(), DEFAULT_PAUSE).unwrap())
    }

    fn set_clock(&mut self, millis: u64) {
        self.clock.0.store(millis, Ordering::SeqCst);
    }

    fn keeps(&self) -> bool {
        true
    }

    fn ends_leases(&self) -> bool {
        true
    }
}

/// A store on the server that `WAYPOST_TEST_VALKEY` names, in a shard of its own.
#[cfg(feature = "valkey")]
pub(crate) struct OnServer {
    address: waypost::valkey::ServerAddress,
    time: String,
    connection: redis::Connection,
}

#[cfg(feature = "valkey")]
impl Default for OnServer {
    fn default() -> Self {
        let url = std::env::var("WAYPOST_TEST_VALKEY");
        let url = url.expect(
            "WAYPOST_TEST_VALKEY is the address of a server; tests/e2e/frontier starts one",
        );
        let number = SHARDS.fetch_add(1, Ordering::SeqCst);
        let shard = format!("test-{}-{number}", std::process::id());
        let address = waypost::valkey::ServerAddress::parse(&url).unwrap();
        Self {
            address: address.with_shard(&shard),
            time: format!("{{{shard}}}:test-time"),
            connection: redis::Client::open(url).unwrap().get_connection().unwrap(),
        }
    }
}

/// How many shards this program has used.
#[cfg(feature = "valkey")]
static SHARDS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

#[cfg(feature = "valkey")]
impl Engine for OnServer {
    fn open(&mut self, runtime: &Runtime) -> Arc<dyn Store> {
        let address = self.address.clone();
        let store = waypost::frontier::Valkey::connect_with_test_time(address, DEFAULT_PAUSE);
        Arc::new(runtime.block_on(store).unwrap())
    }

    fn set_clock(&mut self, millis: u64) {
        let mut set = redis::cmd("SET");
        set.arg(&self.time).arg(millis);
        set.exec(&mut self.connection).unwrap();
    }

    fn keeps(&self) -> bool {
        true
    }

    fn ends_leases(&self) -> bool {
        false
    }
}
