//! Requests to hosts: from a URL to its final response, one request at a time, each over a
//! connection to a permitted address.
//!
//! This folder has the permitted addresses, the connection and its limits, the kinds of failure,
//! and the choice of the next request (`inquiry`).

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
pub use client::{
    InvalidContact, Limits, MAX_PAGE_BYTES, Question, RequestClient, Session, UserAgent,
};
pub use failure::{CertificateProblem, Failure};
pub use inquiry::{Ending, Finding, Hop, Inquiry, MAX_HOPS, RedirectProblem, Step};
pub use reply::{Reply, Rest, RoundTrip};
pub use resolver::{Resolve, Resolving, SystemResolver};
pub use tls::{Trust, TrustError};
pub use web_url::{UrlProblem, WebUrl};
