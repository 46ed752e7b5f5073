//! Limits of one transfer: bytes from the remote, memory, and file size.
//!
//! The process of a transfer sets these limits on itself before it opens anything. A failed
//! allocation is an error in libgit2, and ends the process in a library without such an error. The
//! limit is on private memory (setrlimit(2), `RLIMIT_DATA`): mapped packs do not count.

use rustix::io;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::git::transport::remote::Transport;

/// The memory for a remote's references: enough for more than a million of them.
const LISTING: u64 = 384 << 20;

/// The memory of a transfer besides the remote's objects.
const OWN: u64 = 128 << 20;

/// The factor for the memory needed where Git's objects are packed on this machine, by a program with
/// the limits of this process, and not by the remote: whole versions of a file are compared. A table of
/// 100 MB and another file of 150 MB, in two versions each, took 670 MiB, and 180 MiB if the remote packed
/// them.
const PACKING: u64 = 4;

/// The limits of one transfer.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// The maximum number of bytes received.
    received: u64,
    /// The maximum private memory, in bytes.
    memory: u64,
}

impl Bounds {
    /// Returns the limits of a transfer that may receive this many bytes and hold as many in
    /// memory.
    pub(crate) fn of(max_bytes: u64, transport: &Transport) -> Self {
        let factor = match transport {
            Transport::Local => PACKING,
            Transport::Http | Transport::Git | Transport::Ssh { .. } => 1,
        };
        Self {
            received: max_bytes,
            memory: max_bytes.saturating_mul(factor).saturating_add(OWN),
        }
    }

    /// Sets these limits on this process, with the memory for listing references.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub(crate) fn set(self) -> io::Result<()> {
        // A core dump would contain secrets.
        limit(Resource::Core, 0, 0)?;
        // An index of small objects is larger than its pack, and a pack that refers to local
        // objects has them added.
        let file = self.received.saturating_mul(2).saturating_add(OWN);
        limit(Resource::Fsize, file, file)?;
        limit(Resource::Data, LISTING.min(self.memory), self.memory)
    }

    /// Allows the process the memory for objects, once all references are listed.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub(crate) fn widen(self) -> io::Result<()> {
        limit(Resource::Data, self.memory, self.memory)
    }

    /// Returns the maximum size of an object in memory.
    pub(crate) fn max_object(self) -> u64 {
        self.received
    }

    /// Returns whether a remote may have sent this many bytes.
    pub(crate) fn allow(self, received: u64) -> bool {
        received <= self.received
    }
}

/// Sets a limit, unless a lower one is in place that may not be raised.
fn limit(resource: Resource, current: u64, maximum: u64) -> io::Result<()> {
    let given = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let allowed = |bytes: u64| Some(bytes.min(given));
    let new = Rlimit {
        current: allowed(current),
        maximum: allowed(maximum),
    };
    setrlimit(resource, new)
}
