//! Asking: from a URL to one reply, over a connection to an address that may be asked.

mod address;
mod client;
mod connection;
mod failure;
mod reply;
mod resolver;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod wall;

pub use address::Scope;
pub use client::{Client, InvalidContact, Limits, MAX_PAGE_BYTES, Question, Session, UserAgent};
pub use failure::{CertificateProblem, Failure};
pub use reply::{Reply, Rest, RoundTrip};
pub use resolver::{Resolve, Resolving, SystemResolver};
pub use tls::{Trust, TrustError};
