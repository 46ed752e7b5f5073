//! The places of owners in the queues of all replicas together.
//!
//! The places of a killed replica become free once they expire.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::engine::{Fleet, token};
use crate::git::hex;

/// How long a place is kept if its replica does not free it: more than most changes wait.
const KEPT: Duration = Duration::from_secs(120);

/// The queue in which a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// That of registrations and edits.
    Change,
    /// That of links for review.
    Proposal,
}

/// Whether there is a place for an owner.
#[derive(Debug)]
pub(crate) enum PlaceTaken {
    /// There was one.
    Taken(OwnerPlace),
    /// The owner has taken as many as an owner may.
    None,
    /// The server is unavailable: the limit applies to this replica alone.
    Unknown,
}

/// A place, which is free again once this is dropped.
pub(crate) struct OwnerPlace {
    fleet: Fleet,
    places: String,
    own: String,
}

impl Fleet {
    /// Takes one of so many places of an owner.
    pub(crate) async fn take_place(
        &self,
        kind: PlaceKind,
        owner: &str,
        count: usize,
    ) -> PlaceTaken {
        let kind = match kind {
            PlaceKind::Change => "changes",
            PlaceKind::Proposal => "proposals",
        };
        // Names of owners have no maximum length.
        let owner = hex(&Sha256::digest(owner));
        let places = self.engine().key(&format!("{kind}:{owner}"));
        let fleet = self.clone();
        let taking = self.with_server(async move {
            let own = token();
            let (count, kept) = (count.to_string(), KEPT.as_millis().to_string());
            let arguments = [&*own, &*count, &*kept].map(str::as_bytes);
            let engine = fleet.engine();
            let script = &engine.scripts.take_place;
            let is_taken = engine.run(script, places.clone(), &arguments).await?;
            Some(match is_taken {
                true => PlaceTaken::Taken(OwnerPlace { fleet, places, own }),
                false => PlaceTaken::None,
            })
        });
        taking.await.unwrap_or(PlaceTaken::Unknown)
    }
}

impl Drop for OwnerPlace {
    fn drop(&mut self) {
        let (fleet, places, own) = (
            self.fleet.clone(),
            std::mem::take(&mut self.places),
            std::mem::take(&mut self.own),
        );
        self.fleet.begin(async move {
            let engine = fleet.engine();
            let script = &engine.scripts.free_place;
            // Otherwise it expires.
            let _: Option<u64> = engine.run(script, places, &[own.as_bytes()]).await;
        });
    }
}

impl std::fmt::Debug for OwnerPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnerPlace")
    }
}
