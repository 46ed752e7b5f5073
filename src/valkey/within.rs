//! Time limits of work with a server.

use std::io;
use std::time::Duration;

use redis::RedisError;
use tokio::time::timeout;

/// Does work with a server; fails if it takes longer than the limit.
pub(super) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    match timeout(limit, work).await {
        Ok(ended) => ended,
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    }
}
