//! How fetches are made, whether a repository is followed or a checkout is pulled.

use std::sync::Arc;

use super::credentials::Credentials;
use super::rounds::Observer;
use super::schedule::Schedule;
use super::transfer::Transfer;
use super::verify::Verify;

/// How fetches are made.
#[derive(Clone)]
pub struct FetchOptions {
    /// When to fetch.
    pub schedule: Schedule,
    /// What to authenticate with.
    pub credentials: Credentials,
    /// How to run one fetch.
    pub transfer: Transfer,
    /// The verifier that a commit must pass before it is served.
    pub verifier: Arc<dyn Verify>,
    /// The observer that is notified of each fetch.
    pub observer: Observer,
}
