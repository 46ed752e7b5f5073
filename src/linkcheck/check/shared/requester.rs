//! Sending requests: by a client over the network, or by a test.

use std::future::Future;
use std::pin::Pin;

use crate::linkcheck::request::{Question, RequestClient, RoundTrip};

/// The future answer to a request.
pub type PendingReply<'a> = Pin<Box<dyn Future<Output = RoundTrip> + Send + 'a>>;

/// Sends one request at a time, to a reserved host.
pub trait Requester: Send + Sync {
    /// Sends a request once.
    fn send<'a>(&'a self, question: &'a Question) -> PendingReply<'a>;
}

impl Requester for RequestClient {
    /// Over a new connection: a host has rested since its last answer.
    fn send<'a>(&'a self, question: &'a Question) -> PendingReply<'a> {
        Box::pin(async { self.session().send(question).await })
    }
}
