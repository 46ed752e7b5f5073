//! Where table text comes from: files, Git checkouts, and the watching of them.
//!
//! Invariants: nothing here knows what a table means, or who serves it. A table is handed out
//! whole or not at all: never half of a file that is being written, never files of two states of
//! a checkout. Every call returns within bounded time.

mod checkout;
mod error;
mod files;
mod fingerprint;
mod links;
mod locks;
mod places;
mod reading;
mod revision;
mod watch;

pub use error::SourceError;
pub use fingerprint::Fingerprint;
pub use reading::{FileSource, Reading};
pub use revision::Revision;
pub use watch::Watch;
