//! Keys of repeatable requests, across replicas: `Idempotency-Key`.
//!
//! A request claims its key before it is decided, and ends the claim with its answer. Of an answer,
//! only the registered link is kept: the replica that gets the repeated request looks for it in the
//! table, and decides again if it is not there. So no data kept here reach a client.

use std::time::Duration;

use super::engine::{Fleet, token};
use crate::git::hex;

/// How long a claim lasts if its replica does not end it, because it was killed: longer than a
/// client waits for an answer.
const CLAIMED: Duration = Duration::from_secs(120);

/// How long a key is kept, as in the memory of one replica.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A link that a request registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegisteredLink {
    /// The base URL of its site.
    pub(crate) site: String,
    /// Its code.
    pub(crate) code: String,
}

/// The state of a key.
#[derive(Debug)]
pub(crate) enum KeyClaimed {
    /// The request may proceed; the same request may have registered a link before.
    New(KeyClaim, Option<RegisteredLink>),
    /// The request is in progress at another replica.
    InProgress,
    /// The key was used for another body.
    Differs,
    /// The server cannot be used: this replica decides alone.
    Unknown,
}

/// A claim of a key. If dropped without an answer, the key is free again.
pub(crate) struct KeyClaim {
    fleet: Fleet,
    key: String,
    holder: String,
    /// Whether its end must still be reported.
    is_open: bool,
}

impl Fleet {
    /// Claims a key for a request with this body, both as hashes.
    pub(crate) async fn claim(&self, key: &[u8; 32], body: &[u8; 32]) -> KeyClaimed {
        let engine = self.engine();
        let (key, body) = (engine.key(&format!("key:{}", hex(key))), hex(body));
        let fleet = self.clone();
        // If the client disconnects meanwhile, the claim is dropped in this task.
        let claiming = self.with_server(async move {
            let claim = KeyClaim {
                key: key.clone(),
                holder: token(),
                is_open: false,
                fleet,
            };
            let [claimed, kept] = [CLAIMED, KEPT].map(|it| it.as_millis().to_string());
            let arguments = [&*body, &*claim.holder, &*claimed, &*kept].map(str::as_bytes);
            let engine = claim.fleet.engine();
            let script = &engine.scripts.claim_key;
            let (known, link): (String, Vec<u8>) = engine.run(script, key, &arguments).await?;
            Some(match &*known {
                "differs" => KeyClaimed::Differs,
                "in-progress" => KeyClaimed::InProgress,
                _ => KeyClaimed::New(claim.opened(), RegisteredLink::read(&link)),
            })
        });
        claiming.await.unwrap_or(KeyClaimed::Unknown)
    }
}

/// How a claim ends.
enum ClaimEnd<'l> {
    /// With an answer that would be given again, and the link that it registered.
    Answered(Option<&'l RegisteredLink>),
    /// Without one.
    Dropped,
}

impl KeyClaim {
    fn opened(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Ends the claim with an answer that would be given again, and the link that it registered.
    pub(crate) fn answered(mut self, link: Option<&RegisteredLink>) {
        self.end(ClaimEnd::Answered(link));
    }

    fn end(&mut self, end: ClaimEnd<'_>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let (fleet, key, holder) = (self.fleet.clone(), self.key.clone(), self.holder.clone());
        let (answered, link) = match end {
            ClaimEnd::Answered(link) => ("1", link),
            ClaimEnd::Dropped => ("", None),
        };
        let link = link.map(RegisteredLink::written).unwrap_or_default();
        self.fleet.begin(async move {
            let engine = fleet.engine();
            let arguments = [&*holder, answered, &*link].map(str::as_bytes);
            let script = &engine.scripts.end_claim;
            // Otherwise the claim expires.
            let _: Option<u64> = engine.run(script, key, &arguments).await;
        });
    }
}

impl Drop for KeyClaim {
    fn drop(&mut self) {
        self.end(ClaimEnd::Dropped);
    }
}

impl std::fmt::Debug for KeyClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyClaim")
    }
}

impl RegisteredLink {
    /// Returns it as text; neither a URL nor a code contains a line break.
    fn written(&self) -> String {
        format!("{}\n{}", self.site, self.code)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (site, code) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        Some(Self {
            site: site.to_owned(),
            code: code.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_it_was_written() {
        let link = RegisteredLink {
            site: "https://s.code/".to_owned(),
            code: "Grüße".to_owned(),
        };
        assert_eq!(RegisteredLink::read(link.written().as_bytes()), Some(link));
        for other in [&b""[..], b"x", b"\xff\n"] {
            assert_eq!(RegisteredLink::read(other), None);
        }
    }
}
