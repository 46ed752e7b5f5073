//! Why a server cannot be used.

use redis::RedisError;
use thiserror::Error;

use crate::frontier::contract::StoreError;

/// Why a server cannot be used.
#[derive(Debug, Error)]
pub enum ValkeyError {
    /// It is no address of a server.
    #[error("this is not an address of a server, such as `redis://valkey.example:6379`")]
    Address,
    /// The server cannot be reached, now.
    #[error("{address}: the server cannot be reached")]
    Unreachable {
        /// Where it was looked for.
        address: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The server refused the user, the password, or what the user wants to do.
    #[error("the server refuses this user or password")]
    Refused(#[source] RedisError),
    /// What is kept there was written by another version.
    #[error("{address}: the hosts there were written by another version of the program")]
    Format {
        /// Where.
        address: String,
    },
}
