//! What one transfer may take: bytes from the remote, memory, and room for a file.
//!
//! The process of a transfer sets these bounds on itself before it opens anything. An allocation
//! that fails is an error of libgit2, and in a library that has no such error the end of the process.
//! Private memory is what counts (setrlimit(2), `RLIMIT_DATA`): packs are mapped, and do not.

use rustix::io;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::address::Transport;

/// The memory in which a remote's references must find room: for more than a million of them.
const LISTING: u64 = 384 << 20;

/// The memory of a transfer besides what it holds of a remote's objects.
const OWN: u64 = 128 << 20;

/// How often as much memory is needed where Git's objects are packed by this process, and not by the
/// remote: whole versions of a file are compared. A table of 100 MB and another file of 150 MB, in two
/// versions each, took 670 MiB, and 180 MiB if the remote packed them.
const PACKING: u64 = 4;

/// The bounds of one transfer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Bounds {
    /// The most bytes that are received.
    received: u64,
    /// The most bytes of private memory.
    memory: u64,
}

impl Bounds {
    /// Returns the bounds of a transfer that may receive so many bytes and hold as many in memory.
    pub(super) fn of(max_bytes: u64, transport: &Transport) -> Self {
        let factor = match transport {
            Transport::Local => PACKING,
            Transport::Http | Transport::Git | Transport::Ssh { .. } => 1,
        };
        Self {
            received: max_bytes,
            memory: max_bytes.saturating_mul(factor).saturating_add(OWN),
        }
    }

    /// Sets these bounds on this process, with the memory for listing references.
    ///
    /// # Errors
    ///
    /// If the system does not let it.
    pub(super) fn set(self) -> io::Result<()> {
        // What is in memory has secrets in it.
        limit(Resource::Core, 0, 0)?;
        // An index of small objects is larger than its pack, and a pack that refers to objects which
        // are here gets these.
        let file = self.received.saturating_mul(2).saturating_add(OWN);
        limit(Resource::Fsize, file, file)?;
        limit(Resource::Data, LISTING.min(self.memory), self.memory)
    }

    /// Lets the process take the memory for objects, once all references are listed.
    ///
    /// # Errors
    ///
    /// If the system does not let it.
    pub(super) fn widen(self) -> io::Result<()> {
        limit(Resource::Data, self.memory, self.memory)
    }

    /// Whether a remote may have sent so many bytes.
    pub(super) fn allow(self, received: u64) -> bool {
        received <= self.received
    }
}

/// Sets a bound, unless there is a lower one that may not be raised.
fn limit(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let given = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let allowed = |bytes: u64| Some(bytes.min(given));
    let new = Rlimit {
        current: allowed(current),
        maximum: allowed(maximum),
    };
    setrlimit(resource, new)
}
