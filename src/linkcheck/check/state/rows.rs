//! The state kept between requests and between runs: rows, next to the reservations.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frontier::{Host, Lease, Pending, Store, StoreError};

/// The first byte of a value, which changes with its form.
const VERSION: u8 = 1;

/// A row of the queue: its key and its value.
pub type QueueRow = (Vec<u8>, Vec<u8>);

/// A kind of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// The record of each URL to request, if there is one; each URL is in one queue.
    Links,
    /// The records of URLs that are in no queue.
    Parked,
    /// The requests for each host, by time. These rows are in the order of their keys.
    Queue,
    /// The stored facts about each host.
    Hosts,
    /// The robots.txt of each origin.
    Origins,
    /// The answer of each host for a nonexistent page.
    Siblings,
    /// Where the deep links of each host end.
    Endings,
    /// The settings of the last run.
    Settings,
    /// The answer of an archive for each URL that was looked up.
    Archives,
}

impl Space {
    /// All kinds.
    pub(crate) const ALL: [Self; 9] = [
        Self::Links,
        Self::Parked,
        Self::Queue,
        Self::Hosts,
        Self::Origins,
        Self::Siblings,
        Self::Endings,
        Self::Settings,
        Self::Archives,
    ];

    /// Returns the name of the table of these rows, the same in a file and on a server.
    pub(super) const fn table_name(self) -> &'static str {
        match self {
            Self::Links => "linkcheck-links",
            Self::Parked => "linkcheck-parked",
            Self::Queue => "linkcheck-queue",
            Self::Hosts => "linkcheck-hosts",
            Self::Origins => "linkcheck-origins",
            Self::Siblings => "linkcheck-siblings",
            Self::Endings => "linkcheck-endings",
            Self::Settings => "linkcheck-settings",
            Self::Archives => "linkcheck-archives",
        }
    }
}

/// A row with a value, or a missing row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// The kind of the row.
    pub space: Space,
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Option<Vec<u8>>,
}

impl StateRow {
    /// Returns a row with a value.
    pub(crate) fn put(space: Space, key: impl Into<Vec<u8>>, value: &impl Serialize) -> Self {
        let bytes = postcard::to_extend(value, vec![VERSION]);
        Self {
            space,
            key: key.into(),
            // No value is of unknown length, the only thing that postcard cannot write.
            value: Some(bytes.unwrap_or_default()),
        }
    }

    /// Returns a missing row.
    pub(crate) fn none(space: Space, key: impl Into<Vec<u8>>) -> Self {
        Self {
            space,
            key: key.into(),
            value: None,
        }
    }
}

/// A write: all of it is done, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateWrite {
    /// Rows that must be as they were read, or nothing is written.
    pub expected: Vec<StateRow>,
    /// Rows that are written, or removed if they have no value.
    pub rows: Vec<StateRow>,
    /// Hosts that are queued, each to be asked after a time.
    pub hosts: Vec<(Host, Duration)>,
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteState {
    /// It was done.
    Written,
    /// A row was not as expected: nothing was done, and the lease, if any, goes on.
    Conflict,
    /// The lease had ended: nothing was done.
    Ended,
}

/// Reads what [`StateRow::put`] wrote.
pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    if let [VERSION, encoded @ ..] = bytes
        && let Ok((value, [])) = postcard::take_from_bytes(encoded)
    {
        return Ok(value);
    }
    Err(StoreError::Failed(
        "what is kept of the links is damaged, or from another version of the program".into(),
    ))
}

/// Rows, and the reservations of hosts.
pub trait CheckState: Send + Sync {
    /// Returns the reservations.
    fn store(&self) -> &dyn Store;

    /// Returns whether several processes may be using it now.
    fn is_shared(&self) -> bool;

    /// Returns the values of keys, in their order.
    fn get<'a>(&'a self, space: Space, keys: &'a [Vec<u8>]) -> Pending<'a, Vec<Option<Vec<u8>>>>;

    /// Returns the first rows of the queue whose keys are at least `from` and less than `to`, in
    /// order.
    fn queued<'a>(
        &'a self,
        from: &'a [u8],
        to: &'a [u8],
        limit: usize,
    ) -> Pending<'a, Vec<QueueRow>>;

    /// Returns the first keys of the queue that are at least `from`, in order.
    fn queued_keys<'a>(&'a self, from: &'a [u8], limit: usize) -> Pending<'a, Vec<Vec<u8>>>;

    /// Writes all or nothing.
    fn write<'a>(&'a self, write: &'a StateWrite) -> Pending<'a, WriteState>;

    /// Releases a lease as [`Store::release`] does, and writes all of that or nothing.
    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
        write: &'a StateWrite,
    ) -> Pending<'a, WriteState>;
}
