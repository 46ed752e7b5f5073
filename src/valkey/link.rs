//! The connection to a server, which is established again when it is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ConnectionInfo, ErrorKind, FromRedisValue, RedisError, Script};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

use super::address::ServerAddress;
use super::error::{CallError, is_answer, is_passing};
use super::transport::{LimitedStream, connect};
use super::within::within;

/// The maximum number of times that servers of a cluster may redirect an operation.
const MOVES: usize = 3;

/// How long to wait for a server, and how much to read from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLimits {
    /// The longest that a connection may take.
    pub(crate) connect: Duration,
    /// The longest that an answer may take.
    pub(crate) answer: Duration,
    /// The maximum size of an answer or a message, in bytes.
    pub(crate) answer_bytes: u64,
}

/// A connection that all operations share, and its address.
pub(crate) struct ServerLink {
    address: ServerAddress,
    /// The keys of every script.
    keys: Vec<String>,
    limits: CallLimits,
    connection: Mutex<Option<ClusterConnection>>,
}

#[derive(Clone)]
struct ClusterConnection {
    /// Differs between connections, so that one is discarded once.
    number: u64,
    info: ConnectionInfo,
    server: MultiplexedConnection,
    _driver: Arc<Driver>,
}

/// The task that sends and receives on a connection; it ends with the last user of the connection, even
/// if the server does not answer.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ServerLink {
    pub(crate) fn new(address: ServerAddress, keys: Vec<String>, limits: CallLimits) -> Self {
        Self {
            address,
            keys,
            limits,
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
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(self.limits.answer));
        let opening = async {
            let stream = LimitedStream::new(connect(&info).await?, self.limits.answer_bytes);
            MultiplexedConnection::new_with_config(info.redis_settings(), stream, config).await
        };
        let (mut server, driver) = within(self.limits.connect, opening).await?;
        let driver = Driver(tokio::spawn(driver).abort_handle());
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
            _driver: Arc::new(driver),
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
