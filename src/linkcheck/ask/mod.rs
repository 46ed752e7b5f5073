//! Asking: from a URL to what it leads to, one request at a time, each over a connection to an
//! address that may be asked.

mod address;
mod client;
mod connection;
mod failure;
mod inquiry;
mod reply;
mod resolver;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod wall;
mod web_url;

pub use address::Scope;
pub use client::{AskClient, InvalidContact, Limits, MAX_PAGE_BYTES, Question, Session, UserAgent};
pub use failure::{CertificateProblem, Failure};
pub use inquiry::{Ending, Finding, Hop, Inquiry, MAX_HOPS, RedirectProblem, Step};
pub use reply::{Reply, Rest, RoundTrip};
pub use resolver::{Resolve, Resolving, SystemResolver};
pub use tls::{Trust, TrustError};
pub use web_url::{UrlProblem, WebUrl};
