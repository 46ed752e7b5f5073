//! Arguments that several commands share, and their values.

mod addresses;
mod environment;
mod remotes;
mod stores;
mod tables;
mod values;

pub(crate) use addresses::{ListenAddress, ListenArgs};
pub(super) use environment::secret;
pub(crate) use environment::{blamed, misspelt, parse, plain};
pub(crate) use remotes::{AccessArgs, GitArgs, InRepository, RegistrationArgs, require_branch};
pub(super) use stores::host_aliases;
#[cfg(feature = "valkey")]
pub(super) use stores::link_store;
pub(crate) use stores::{FleetArgs, LinkCheckArgs};
pub(super) use tables::table;
pub(crate) use tables::{MAX_BYTES, MemoryLimit, PathArgs, STDIN, STDIN_NAME, TableArgs};
pub(super) use values::{property, quantity, rule};
