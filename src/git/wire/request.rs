//! Requests to `upload-pack`.

use git2::Oid;

use super::advertisement::Capabilities;
use super::packets::{self, FLUSH};

/// The capabilities that a request uses if the remote has them.
const USED: [&str; 5] = [
    "side-band-64k",
    "thin-pack",
    "ofs-delta",
    "shallow",
    "no-progress",
];

/// The wanted objects of a remote, and the local ones.
#[derive(Debug, Default)]
pub(crate) struct FetchRequest {
    /// The objects to fetch.
    pub(crate) wants: Vec<Oid>,
    /// The local commits, with all their ancestors unless they are among the shallow ones.
    pub(crate) haves: Vec<Oid>,
    /// The local commits whose parents are missing.
    pub(crate) shallow: Vec<Oid>,
    /// Whether one commit without its history is enough.
    pub(crate) without_history: bool,
}

impl FetchRequest {
    /// Returns the packets about the wanted objects.
    pub(super) fn wants(&self, capabilities: &Capabilities) -> Vec<u8> {
        let used: Vec<&str> = (USED.into_iter())
            .filter(|name| capabilities.have(name))
            .collect();
        let mut bytes = Vec::new();
        for (index, id) in self.wants.iter().enumerate() {
            let line = match index {
                0 => format!("want {id} {}\n", used.join(" ")),
                _ => format!("want {id}\n"),
            };
            packets::write(&mut bytes, &line);
        }
        let listed = self.shallow.iter().filter(|_| capabilities.have("shallow"));
        for id in listed {
            packets::write(&mut bytes, &format!("shallow {id}\n"));
        }
        if self.without_history {
            packets::write(&mut bytes, "deepen 1\n");
        }
        bytes.extend_from_slice(FLUSH);
        bytes
    }

    /// Returns the packets about the local objects.
    pub(super) fn haves(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for id in &self.haves {
            packets::write(&mut bytes, &format!("have {id}\n"));
        }
        packets::write(&mut bytes, "done\n");
        bytes
    }
}
