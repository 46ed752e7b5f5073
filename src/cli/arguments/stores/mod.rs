//! What replicas and link checkers share: servers, results, and hosts with one allowance.

mod fleet;
pub(in crate::cli) mod host_aliases;
mod link_checks;
#[cfg(feature = "valkey")]
pub(in crate::cli) mod link_store;
#[cfg(feature = "valkey")]
mod server_login;

pub(crate) use fleet::FleetArgs;
pub(crate) use link_checks::LinkCheckArgs;
