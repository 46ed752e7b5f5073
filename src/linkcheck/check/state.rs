//! What is kept between questions and between runs: rows, beside the reservations.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frontier::{Lease, LeaseState, Pending, Store, StoreError};

/// The first byte of a value, which changes with its form.
const VERSION: u8 = 1;

/// A key and its value.
pub type Row = (Vec<u8>, Vec<u8>);

/// A kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// What is known of each URL that is asked, if anything; each is in one queue.
    Links,
    /// What is known of URLs that are in no queue.
    Parked,
    /// What is to be asked of each host, by time.
    Queue,
    /// What is remembered of each host.
    Hosts,
    /// The robots.txt of each origin.
    Origins,
    /// What each host does with a name that it cannot know.
    Siblings,
    /// Where the deep links of each host end.
    Endings,
    /// What is remembered of the last run.
    Settings,
}

impl Space {
    /// All kinds.
    pub(super) const ALL: [Self; 8] = [
        Self::Links,
        Self::Parked,
        Self::Queue,
        Self::Hosts,
        Self::Origins,
        Self::Siblings,
        Self::Endings,
        Self::Settings,
    ];
}

/// A row that is written, or removed if it has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The kind of the row.
    pub space: Space,
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Option<Vec<u8>>,
}

impl StateChange {
    /// Writes a row.
    pub(super) fn put(space: Space, key: impl Into<Vec<u8>>, value: &impl Serialize) -> Self {
        let bytes = postcard::to_extend(value, vec![VERSION]);
        Self {
            space,
            key: key.into(),
            // No value is of unknown length, the only thing that postcard cannot write.
            value: Some(bytes.unwrap_or_default()),
        }
    }

    /// Removes a row.
    pub(super) fn remove(space: Space, key: impl Into<Vec<u8>>) -> Self {
        Self {
            space,
            key: key.into(),
            value: None,
        }
    }
}

/// Reads what [`StateChange::put`] wrote.
pub(super) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    if let [VERSION, encoded @ ..] = bytes
        && let Ok((value, [])) = postcard::take_from_bytes(encoded)
    {
        return Ok(value);
    }
    Err(StoreError::Failed(
        "what is kept of the links is damaged, or from another version of the program".into(),
    ))
}

/// Reads a row.
pub(super) fn read<T: DeserializeOwned>(
    state: &dyn CheckState,
    space: Space,
    key: &[u8],
) -> Result<Option<T>, StoreError> {
    let bytes = state.get(space, key)?;
    bytes.as_deref().map(decoded).transpose()
}

/// Rows, and the reservations of hosts.
pub trait CheckState: Send + Sync {
    /// Returns the reservations.
    fn store(&self) -> &dyn Store;

    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns the first row whose key is at least `from` and less than `to`.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    fn first(&self, space: Space, from: &[u8], to: &[u8]) -> Result<Option<Row>, StoreError>;

    /// Passes each key to `each`, in order.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn keys(&self, space: Space, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError>;

    /// Writes rows, all or none.
    fn write(&self, changes: Vec<StateChange>) -> Pending<'_, ()>;

    /// Releases a lease as [`Store::release`] does, and writes rows with it: both or neither. A lease
    /// that has ended writes nothing.
    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        changes: Vec<StateChange>,
    ) -> Pending<'a, LeaseState>;
}
