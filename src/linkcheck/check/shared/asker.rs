//! How a question is asked: by a client over the network, or by a test.

use std::future::Future;
use std::pin::Pin;

use crate::linkcheck::ask::{AskClient, Question, RoundTrip};

/// The answer to a question, once it is there.
pub type Asking<'a> = Pin<Box<dyn Future<Output = RoundTrip> + Send + 'a>>;

/// Asks one question at a time, of a host that is reserved.
pub trait Ask: Send + Sync {
    /// Asks a question once.
    fn ask<'a>(&'a self, question: &'a Question) -> Asking<'a>;
}

impl Ask for AskClient {
    /// Over a new connection: a host has rested since its last answer.
    fn ask<'a>(&'a self, question: &'a Question) -> Asking<'a> {
        Box::pin(async { self.session().ask(question).await })
    }
}
