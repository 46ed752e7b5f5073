//! The counters of a check: requests by their result, and links.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::frontier::Host;
use crate::linkcheck::request::RoundTrip;

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestResult {
    /// An answer with a status from 200 to 299.
    Success,
    /// An answer with a status from 300 to 399.
    Redirect,
    /// An answer with a status from 400 to 499.
    ClientError,
    /// An answer with any other status.
    ServerError,
    /// No answer.
    Failed,
}

impl RequestResult {
    /// All results.
    pub const ALL: [Self; 5] = [
        Self::Success,
        Self::Redirect,
        Self::ClientError,
        Self::ServerError,
        Self::Failed,
    ];

    /// Returns its name, a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Redirect => "redirect",
            Self::ClientError => "client_error",
            Self::ServerError => "server_error",
            Self::Failed => "failed",
        }
    }

    pub(super) fn of(round_trip: &RoundTrip) -> Self {
        match &round_trip.result {
            Ok(reply) => match reply.status {
                200..300 => Self::Success,
                300..400 => Self::Redirect,
                400..500 => Self::ClientError,
                _ => Self::ServerError,
            },
            Err(_) => Self::Failed,
        }
    }
}

/// The remaining work of a host.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct HostLeft {
    /// How many of its links are due.
    pub(super) links: usize,
    /// How long its last request and the pause after it took.
    pub(super) pace: Duration,
}

/// The counters.
#[derive(Default)]
pub(super) struct CheckCounts {
    pub(super) results: [AtomicU64; RequestResult::ALL.len()],
    pub(super) checked: AtomicUsize,
    pub(super) due: AtomicUsize,
    /// The remaining work of each host, as far as it is counted.
    left: Mutex<HashMap<Host, HostLeft>>,
}

impl CheckCounts {
    pub(super) fn left(&self) -> MutexGuard<'_, HashMap<Host, HostLeft>> {
        self.left.lock().expect("nothing that is done here panics")
    }
}
