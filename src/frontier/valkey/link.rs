//! The connection to a server, which is made again when it is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, FromRedisValue, RedisError, Script,
    ServerErrorKind,
};
use tokio::sync::Mutex;

use super::address::ValkeyAddress;
use super::error::ValkeyError;
use crate::frontier::contract::StoreError;

/// The longest that a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The longest that an answer may take; a server under load is slow, but no operation of ours is.
const ANSWER: Duration = Duration::from_secs(10);

/// How many servers of a cluster may send an operation on to another.
const MOVES: usize = 3;

/// A connection that all operations share, and where to make it.
pub(super) struct ServerLink {
    address: ValkeyAddress,
    keys: Vec<String>,
    connection: Mutex<Option<ClusterConnection>>,
}

#[derive(Clone)]
struct ClusterConnection {
    /// Differs between connections, so that one is discarded once.
    number: u64,
    info: ConnectionInfo,
    server: MultiplexedConnection,
}

impl ServerLink {
    pub(super) fn new(address: ValkeyAddress, keys: Vec<String>) -> Self {
        Self {
            address,
            keys,
            connection: Mutex::default(),
        }
    }

    /// Runs a script; the operation was done or not if that fails.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        self.run_with(script, &[], arguments).await
    }

    /// Runs a script that has keys beyond those of the store.
    pub(super) async fn run_with<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        let result = self.try_run(script, keys, arguments).await;
        result.map_err(explained)
    }

    async fn try_run<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<T, RedisError> {
        let mut moved = None;
        for _ in 0..MOVES {
            let mut connection = self.connected(moved.take()).await?;
            let mut call = script.prepare_invoke();
            for key in self.keys.iter().chain(keys) {
                call.key(key);
            }
            for argument in arguments {
                call.arg(*argument);
            }
            match call.invoke_async(&mut connection.server).await {
                Ok(value) => return Ok(value),
                Err(error) => {
                    if !is_answer(&error) || is_passing(&error) {
                        self.discard(connection.number).await;
                    }
                    let to = error.redirect_node().map(|(to, _)| to);
                    match to.and_then(|to| ValkeyAddress::moved(&connection.info, to)) {
                        // Another worker of this process may have followed already.
                        Some(info) => {
                            self.discard(connection.number).await;
                            moved = Some(info);
                        }
                        None => return Err(error),
                    }
                }
            }
        }
        Err((
            ErrorKind::Client,
            "the servers of the cluster send each other's clients around",
        )
            .into())
    }

    /// Returns the connection; if there is none, it is made to the server of `info`, or to the first.
    async fn connected(
        &self,
        info: Option<ConnectionInfo>,
    ) -> Result<ClusterConnection, RedisError> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = &*slot {
            return Ok(connection.clone());
        }
        let info = info.unwrap_or_else(|| self.address.info().clone());
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(ANSWER));
        let client = Client::open(info.clone())?;
        let mut server = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        // A script is more than a server reads before the password that it asks for.
        if let Err(error) = redis::cmd("PING").exec_async(&mut server).await
            && error.code() != Some("NOPERM")
        {
            return Err(error);
        }
        let connection = ClusterConnection {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            info,
            server,
        };
        Ok(slot.insert(connection).clone())
    }

    /// Has the next operation make a new connection, unless this one is discarded already.
    async fn discard(&self, number: u64) {
        let mut slot = self.connection.lock().await;
        if slot
            .as_ref()
            .is_some_and(|connection| connection.number == number)
        {
            *slot = None;
        }
    }
}

/// Numbers of connections.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Returns whether an error is what the server answered: the connection works.
fn is_answer(error: &RedisError) -> bool {
    let answered = [ErrorKind::Extension, ErrorKind::UnexpectedReturnType];
    matches!(error.kind(), ErrorKind::Server(_)) || answered.contains(&error.kind())
}

/// Returns whether the server refused the user, the password, or what the user wants to do.
fn is_refusal(error: &RedisError) -> bool {
    let denied = ["NOAUTH", "WRONGPASS", "NOPERM"];
    error.kind() == ErrorKind::AuthenticationFailed
        || error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
        || error.code().is_some_and(|code| denied.contains(&code))
}

/// Codes of errors that end when the server has memory, its disk or its replicas again.
const SHORTAGES: [&str; 3] = ["OOM", "MISCONF", "NOREPLICAS"];

/// Returns whether the server is there, but not now for us: repeating the operation helps.
fn is_passing(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};
    let passing = [
        BusyLoading,
        ClusterDown,
        MasterDown,
        Moved,
        ReadOnly,
        TryAgain,
    ];
    passing
        .iter()
        .any(|kind| error.kind() == ErrorKind::Server(*kind))
        || error.code().is_some_and(|code| SHORTAGES.contains(&code))
}

fn explained(error: RedisError) -> StoreError {
    if is_refusal(&error) {
        return StoreError::Failed(ValkeyError::Refused(error).into());
    }
    let lost = matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse);
    match lost || is_passing(&error) {
        true => StoreError::Unavailable(error.into()),
        false => StoreError::Failed(error.into()),
    }
}
