//! Remotes: their addresses, host keys, the credentials for them, what is wanted of them, and why a transfer
//! failed.

mod address;
mod credentials;
mod failure;
mod known_hosts;
mod wanted;

pub use address::{RemoteUrl, RemoteUrlError};
pub(crate) use address::{Transport, is_local};
pub use credentials::Credentials;
pub(crate) use credentials::{CredentialAnswers, Login};
pub(crate) use failure::TransferFailure;
pub(crate) use known_hosts::{HostKeyError, HostKeys};
pub(crate) use wanted::{Choice, Wanted};
