//! Options for fetches, both to follow a repository and to pull a checkout.

use std::sync::Arc;

use super::rounds::FetchObserver;
use super::schedule::Schedule;
use crate::git::{Credentials, Transfer, Verify};

/// Options for fetches.
#[derive(Clone)]
pub struct FetchOptions {
    /// When to fetch.
    pub schedule: Schedule,
    /// The credentials to use.
    pub credentials: Credentials,
    /// How to run one fetch.
    pub transfer: Transfer,
    /// The verifier that a commit must pass before it is served.
    pub verifier: Arc<dyn Verify>,
    /// The observer that is notified of each fetch.
    pub observer: FetchObserver,
}
