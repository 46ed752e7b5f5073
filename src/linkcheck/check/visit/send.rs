//! Sending a request, for as long as the lease lasts.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::reserved::{BUSY_TIMEOUT, Visit};
use crate::frontier::{LeaseState, StoreError};
use crate::linkcheck::request::{Question, RoundTrip};

/// How often a lease is renewed while a request lasts.
const RENEWAL: Duration = Duration::from_secs(20);

/// How soon a renewal is repeated while the store cannot be reached.
const REPEATED: Duration = Duration::from_secs(1);

/// How long before its end a lease is treated as ended, if it cannot be renewed.
const MARGIN: Duration = Duration::from_secs(5);

impl Visit<'_> {
    /// Sends a request, and renews the lease meanwhile; `None` if the check must stop or the lease
    /// has ended.
    pub(super) async fn send(&self, question: &Question) -> Result<Option<RoundTrip>, StoreError> {
        let access = self.access();
        // Earlier reads may have had to wait for the store.
        let mut until = self.until;
        if until < Instant::now() + BUSY_TIMEOUT - RENEWAL {
            match self.renewed(until).await? {
                Some(renewed) => until = renewed,
                None => return Ok(None),
            }
        }
        tokio::select! {
            biased;
            round_trip = self.checker.requester().send(question) => Ok(Some(round_trip)),
            () = access.stopped() => Ok(None),
            ended = self.lease_end(until) => ended.map(|()| None),
        }
    }

    /// Renews the lease again and again, and returns when it has ended.
    async fn lease_end(&self, mut until: Instant) -> Result<(), StoreError> {
        loop {
            sleep_until(until - BUSY_TIMEOUT + RENEWAL).await;
            match self.renewed(until).await? {
                Some(renewed) => until = renewed,
                None => return Ok(()),
            }
        }
    }

    /// Renews the lease, and returns until when it lasts now unless it has ended.
    async fn renewed(&self, until: Instant) -> Result<Option<Instant>, StoreError> {
        loop {
            let begun = Instant::now();
            let renewal = self.access().renew(self.lease, BUSY_TIMEOUT);
            match timeout_at(until - MARGIN, renewal).await {
                Ok(Ok(LeaseState::Current)) => return Ok(Some(begun + BUSY_TIMEOUT)),
                Ok(Ok(LeaseState::Ended)) | Err(_) => return Ok(None),
                Ok(Err(StoreError::Unavailable(_))) => sleep(REPEATED).await,
                Ok(Err(error)) => return Err(error),
            }
        }
    }
}
