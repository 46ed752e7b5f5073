//! The places in a queue: limited in total and for each owner, in a fleet over all replicas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::server::fleet::{Fleet, OwnerPlace, PlaceKind, PlaceTaken};

/// The places in a queue.
pub(super) struct QueuePlaces {
    all: Arc<Semaphore>,
    of_owners: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
    each: usize,
    kind: PlaceKind,
}

/// A place, which is free again once this is dropped.
pub(super) struct TakenPlace {
    _permits: [OwnedSemaphorePermit; 2],
    _in_fleet: Option<OwnerPlace>,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// The owner has taken as many as an owner may.
    OfOwner,
    /// All are taken.
    AtAll,
}

impl QueuePlaces {
    /// Creates places: a number in total, and a number for each owner.
    pub(super) fn new(kind: PlaceKind, all: usize, each: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            of_owners: Mutex::default(),
            each,
            kind,
        }
    }

    /// Takes a place for an owner, here and in the fleet.
    pub(super) async fn take_in(
        &self,
        fleet: Option<&Fleet>,
        owner: &Arc<str>,
    ) -> Result<TakenPlace, NoPlace> {
        let place = self.take(owner)?;
        let Some(fleet) = fleet else {
            return Ok(place);
        };
        match fleet.take_place(self.kind, owner, self.each).await {
            PlaceTaken::Taken(in_fleet) => Ok(TakenPlace {
                _in_fleet: Some(in_fleet),
                ..place
            }),
            PlaceTaken::None => Err(NoPlace::OfOwner),
            PlaceTaken::Unknown => Ok(place),
        }
    }

    /// Takes a place for an owner.
    pub(super) fn take(&self, owner: &Arc<str>) -> Result<TakenPlace, NoPlace> {
        let own = self.of_owner(owner).try_acquire_owned();
        let own = own.map_err(|_| NoPlace::OfOwner)?;
        let shared = Arc::clone(&self.all).try_acquire_owned();
        let shared = shared.map_err(|_| NoPlace::AtAll)?;
        Ok(TakenPlace {
            _permits: [own, shared],
            _in_fleet: None,
        })
    }

    fn of_owner(&self, owner: &Arc<str>) -> Arc<Semaphore> {
        let mut owners = self
            .of_owners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let places = owners
            .entry(Arc::clone(owner))
            .or_insert_with(|| Arc::new(Semaphore::new(self.each)));
        Arc::clone(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_owner_takes_all() {
        let places = QueuePlaces::new(PlaceKind::Change, 3, 2);
        let (ada, bob): (Arc<str>, Arc<str>) = ("ada".into(), "bob".into());
        let first = places.take(&ada).ok().unwrap();
        let _second = places.take(&ada).ok().unwrap();
        assert_eq!(places.take(&ada).err(), Some(NoPlace::OfOwner));
        let _third = places.take(&bob).ok().unwrap();
        assert_eq!(places.take(&bob).err(), Some(NoPlace::AtAll));
        drop(first);
        assert!(places.take(&bob).is_ok());
    }
}
