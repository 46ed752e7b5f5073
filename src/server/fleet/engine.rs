//! The interface to the fleet: operations on shared state, each of which has a result for the case
//! that the server is unavailable.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus::Registry;
use redis::{FromRedisValue, Script};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::announcement::Announcement;
use super::health::{Direction, FleetHealth, FleetView};
use super::name::FleetName;
use super::scripts::FleetScripts;
use crate::git::random;
use crate::valkey::{CallError, CallLimits, ServerAddress, ServerLink};

/// How long to wait for the server: a request that registers may wait that long, once in an outage. Its
/// answers are short.
pub(super) const LIMITS: CallLimits = CallLimits {
    connect: Duration::from_secs(1),
    answer: Duration::from_millis(500),
    answer_bytes: 64 << 10,
};

/// The replicas of a table that share a server.
#[derive(Clone)]
pub struct Fleet(Arc<Engine>);

pub(super) struct Engine {
    pub(super) name: FleetName,
    pub(super) address: ServerAddress,
    link: ServerLink,
    pub(super) scripts: FleetScripts,
    pub(super) health: FleetHealth,
    /// Whether an announcement could not be sent.
    is_unannounced: AtomicBool,
    /// Differs between replicas.
    pub(super) own: String,
    /// The runtime of its connections, which must not be on serving threads.
    runtime: OnceLock<Handle>,
}

impl Fleet {
    /// Returns this process as a replica; it joins the others once the server runs.
    pub fn new(address: ServerAddress, name: FleetName) -> Self {
        let address = address.with_shard(&name.shard());
        Self(Arc::new(Engine {
            name,
            link: ServerLink::new(address.clone(), Vec::new(), LIMITS),
            address,
            scripts: FleetScripts::default(),
            health: FleetHealth::default(),
            is_unannounced: AtomicBool::new(false),
            own: token(),
            runtime: OnceLock::new(),
        }))
    }

    pub(crate) fn register(&self, registry: &Registry) {
        self.0.health.register(registry);
    }

    /// Returns the state of the fleet.
    pub(crate) fn view(&self) -> FleetView {
        FleetView {
            name: self.0.name.to_string(),
            server: self.0.address.to_string(),
            up: self.0.health.is_usable(),
            error: self.0.health.error(),
        }
    }

    /// Makes the other replicas check the source, without waiting; the commit is included if it is
    /// known. If the server cannot be reached, it is sent later.
    pub(crate) fn announce(&self, commit: Option<String>) {
        let engine = &self.0;
        // Even on a server that refuses other operations, such as one with full memory.
        if !engine.health.is_subscribed() {
            engine.is_unannounced.store(true, Ordering::Relaxed);
            return;
        }
        let announcement = Announcement {
            from: engine.own.clone(),
            commit,
        };
        engine.health.count(Direction::Sent);
        let fleet = self.clone();
        self.begin(async move {
            let channel = fleet.0.key("look");
            let message = announcement.message();
            let arguments = [channel.as_bytes(), message.as_bytes()];
            let sending = fleet
                .0
                .link
                .run_with(&fleet.0.scripts.announce, &[], &arguments);
            let sent: Result<u64, CallError> = sending.await;
            if sent.is_err() {
                fleet.0.is_unannounced.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Announces what could not be announced before, without a commit: there may be several.
    pub(super) fn announce_again(&self) {
        if self.0.is_unannounced.swap(false, Ordering::Relaxed) {
            self.announce(None);
        }
    }

    /// Runs work that needs the server on the runtime of its connections, if the server is
    /// available.
    pub(super) async fn with_server<T: Send + 'static>(
        &self,
        work: impl Future<Output = Option<T>> + Send + 'static,
    ) -> Option<T> {
        let runtime = self.0.runtime.get();
        let runtime = runtime.filter(|_| self.0.health.is_usable())?;
        runtime.spawn(work).await.ok()?
    }

    /// Begins work without waiting for its end.
    pub(super) fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = self.0.runtime.get() {
            runtime.spawn(work);
        }
    }

    /// Uses this runtime for connections to the server.
    pub(super) fn ask_on(&self, runtime: Handle) {
        // A server runs once.
        let _ = self.0.runtime.set(runtime);
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.0
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fleet({}, {})", self.0.name, self.0.address)
    }
}

impl Engine {
    /// Returns a key of this fleet, or a channel.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{{{}}}:{name}", self.address.shard())
    }

    /// Runs a script on a key; `None` if that fails; then no other script is run until the next
    /// check.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        key: String,
        arguments: &[&[u8]],
    ) -> Option<T> {
        let answer = self.try_run(script, key, arguments).await;
        if answer.is_err() {
            self.health.doubt();
        }
        answer.ok()
    }

    pub(super) async fn try_run<T: FromRedisValue>(
        &self,
        script: &Script,
        key: String,
        arguments: &[&[u8]],
    ) -> Result<T, CallError> {
        let keys = [key];
        let running = self.link.run_with(script, &keys, arguments);
        // A script that the server does not know is sent in a second round trip, and the connection
        // may be new.
        match timeout(LIMITS.connect, running).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::late()),
        }
    }
}

/// Returns a globally unique name for a replica or a request.
pub(super) fn token() -> String {
    format!("{:016x}", random())
}
