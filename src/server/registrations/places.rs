//! The places in a queue: so many in all, and so many for each owner.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places in a queue.
pub(super) struct Places {
    all: Arc<Semaphore>,
    of_owners: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
    each: usize,
}

/// A place, which is free again once this is dropped.
pub(super) struct TakenPlace {
    _permits: [OwnedSemaphorePermit; 2],
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// The owner has taken as many as an owner may.
    OfOwner,
    /// All are taken.
    AtAll,
}

impl Places {
    /// Makes so many places in all, and so many for each owner.
    pub(super) fn new(all: usize, each: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            of_owners: Mutex::default(),
            each,
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
        let places = Places::new(3, 2);
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
