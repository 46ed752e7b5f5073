//! The state that the replicas of one table share on a Valkey or Redis server, so that they act as
//! one: hints to check the source, keys of repeated requests, the queue places of owners, and turns
//! at the repository.
//!
//! The shared state is neither required nor trusted: without the server, or while it is
//! unavailable, each replica works alone, and the branch prevents duplicates. It knows neither
//! tables nor HTTP.
//!
//! Invariants: no redirect and no reload waits for the server; a request that changes links waits
//! once in an outage, and not longer than an answer may take; an outage only delays hints.

mod announcement;
mod engine;
mod health;
mod key_claim;
mod name;
mod owner_place;
mod scripts;
mod session;
mod turn;

pub(crate) use announcement::Announcement;
pub use engine::Fleet;
pub(crate) use health::FleetView;
pub(crate) use key_claim::{KeyClaim, KeyClaimed, RegisteredLink};
pub use name::{FleetName, FleetNameError};
pub(crate) use owner_place::{OwnerPlace, PlaceKind, PlaceTaken};
