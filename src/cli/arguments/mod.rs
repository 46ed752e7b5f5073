//! Arguments that several commands share, and their values.

mod fleet;
mod git;
pub(super) mod host_aliases;
mod in_repository;
mod link_checks;
#[cfg(feature = "valkey")]
pub(super) mod link_store;
mod listen;
mod listen_address;
mod memory_limit;
mod misspelt;
pub(super) mod property;
pub(super) mod quantity;
mod registrations;
pub(super) mod rule;
pub(super) mod secret;
#[cfg(feature = "valkey")]
mod server_login;
pub(super) mod table;
mod variables;

pub(crate) use fleet::FleetArgs;
pub(crate) use git::{AccessArgs, GitArgs};
pub(crate) use in_repository::InRepository;
pub(crate) use link_checks::LinkCheckArgs;
pub(crate) use listen::ListenArgs;
pub(crate) use listen_address::ListenAddress;
pub(crate) use memory_limit::MemoryLimit;
pub(crate) use misspelt::misspelt;
pub(crate) use registrations::{RegistrationArgs, require_branch};
pub(crate) use table::{MAX_BYTES, PathArgs, STDIN, STDIN_NAME, TableArgs};
pub(crate) use variables::{blamed, parse, plain};
