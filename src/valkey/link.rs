//! The connection to a server, which is established again when it is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, FromRedisValue, RedisError, Script,
};
use tokio::sync::Mutex;

use super::address::ServerAddress;
use super::error::{CallError, is_answer, is_passing};

/// The maximum number of times that servers of a cluster may redirect an operation.
const MOVES: usize = 3;

/// How long to wait for a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTimeouts {
    /// The longest that a connection may take.
    pub(crate) connect: Duration,
    /// The longest that an answer may take.
    pub(crate) answer: Duration,
}

/// A connection that all operations share, and its address.
pub(crate) struct ServerLink {
    address: ServerAddress,
    /// The keys of every script.
    keys: Vec<String>,
    timeouts: CallTimeouts,
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
    pub(crate) fn new(address: ServerAddress, keys: Vec<String>, timeouts: CallTimeouts) -> Self {
        Self {
            address,
            keys,
            timeouts,
            connection: Mutex::default(),
        }
    }

    /// Runs a script; the operation was done or not if that fails.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        arguments: &[&[u8]],
    ) -> Result<T, CallError> {
        self.run_with(script, &[], arguments).await
    }

    /// Runs a script that has keys beyond those of every script.
    pub(crate) async fn run_with<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<T, CallError> {
        let result = self.try_run(script, keys, arguments).await;
        result.map_err(CallError::from)
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
                    match to.and_then(|to| ServerAddress::moved(&connection.info, to)) {
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
            .set_connection_timeout(Some(self.timeouts.connect))
            .set_response_timeout(Some(self.timeouts.answer));
        let client = Client::open(info.clone())?;
        let mut server = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        // A server that requires a password refuses long commands, such as a script, before it.
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

    /// Makes the next operation open a new connection, unless this one is already discarded.
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
