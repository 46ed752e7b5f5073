//! Connections to Valkey and Redis servers: addresses, calls of scripts, messages of
//! channels, and why a call failed.
//!
//! The layers above decide which data are stored, and under which keys: `frontier` stores its
//! hosts, and the server the shared state of a fleet.
//!
//! Invariant: no address, error or debug output shows a user or a password.

mod address;
mod answers;
mod error;
mod link;
mod subscription;
mod transport;
mod within;

pub use address::{AddressError, ServerAddress};
pub use error::{CallError, ServerError};
pub(crate) use link::{CallLimits, ServerLink};
pub(crate) use subscription::Subscription;
