//! Why a server cannot be used.

use thiserror::Error;

use crate::frontier::contract::StoreError;
use crate::valkey::{CallError, ServerError};

/// Why a server cannot be used.
#[derive(Debug, Error)]
pub enum ValkeyError {
    /// The server cannot be reached, now.
    #[error("{address}: the server cannot be reached")]
    Unreachable {
        /// The address of the server.
        address: String,
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The server refused the user, the password, or an operation of the user.
    #[error("the server refuses this user or password")]
    Refused(#[source] ServerError),
    /// The data there were written by another version.
    #[error("{address}: the hosts there were written by another version of the program")]
    Format {
        /// The address of the server.
        address: String,
    },
}

/// Returns why an operation of the store failed.
pub(super) fn explained(error: CallError) -> StoreError {
    match error {
        CallError::Refused(error) => StoreError::Failed(ValkeyError::Refused(error).into()),
        CallError::Unavailable(error) => StoreError::Unavailable(error.into()),
        CallError::Failed(error) => StoreError::Failed(error.into()),
    }
}
