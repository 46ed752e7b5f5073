//! A conversation with `upload-pack`: its advertisement, and one pack from it.

use std::io::{self, Read, Write as _};

use git2::Oid;

use super::advertisement::{AdvertisedRef, Advertisement};
use super::endpoint::{Endpoint, Peer, WireConnection};
use super::packets::{self, FLUSH, Packet};
use super::request::FetchRequest;
use super::wire_error::WireError;

/// The channels of a pack with messages (gitprotocol-pack(5), "Packfile Data").
const PACK: u8 = 1;
const PROGRESS: u8 = 2;
const ERROR: u8 = 3;

/// A conversation with `upload-pack`.
pub(crate) struct UploadPack<C> {
    connection: WireConnection,
    advertisement: Advertisement,
    /// Called with the number of received bytes each time; may end the conversation.
    count: C,
}

/// How the set of commits without parents changes with a fetch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShallowChange {
    /// The commits that come without their parents.
    pub(crate) added: Vec<Oid>,
    /// The commits whose parents come.
    pub(crate) removed: Vec<Oid>,
}

impl<C: FnMut(u64) -> io::Result<()>> UploadPack<C> {
    /// Connects, and reads the advertisement of the remote.
    pub(crate) fn connect<'v>(
        endpoint: &Endpoint,
        hidden: impl IntoIterator<Item = &'v &'v str>,
        count: C,
    ) -> Result<Self, WireError> {
        let mut conversation = Self {
            connection: endpoint.connect(hidden)?,
            advertisement: Advertisement::default(),
            count,
        };
        let read = Advertisement::read(&mut conversation.input());
        conversation.advertisement = read.map_err(|error| conversation.explain(error))?;
        Ok(conversation)
    }

    /// Returns the references of the remote, except those whose names are not UTF-8.
    pub(crate) fn references(&self) -> &[AdvertisedRef] {
        &self.advertisement.references
    }

    /// Requests objects. A pack with them [follows](Self::pack).
    pub(crate) fn request(&mut self, request: &FetchRequest) -> Result<ShallowChange, WireError> {
        let requested = self.try_request(request);
        requested.map_err(|error| self.explain(error))
    }

    fn try_request(&mut self, request: &FetchRequest) -> Result<ShallowChange, WireError> {
        let mut change = ShallowChange::default();
        let capabilities = &self.advertisement.capabilities;
        if request.without_history && !capabilities.have("shallow") {
            return Err(WireError::Malformed(
                "it cannot send a commit without its history",
            ));
        }
        let wants = request.wants(capabilities);
        self.send(&wants)?;
        if request.without_history {
            change = shallow_change(&mut self.input())?;
        }
        self.send(&request.haves())?;
        // Without extensions of it, the first common commit is acknowledged first.
        let answer = packets::read_text(&mut self.input())?;
        match answer == "NAK" || answer.starts_with("ACK ") {
            true => Ok(change),
            false => Err(WireError::Malformed("no answer to what is here")),
        }
    }

    /// Passes on the bytes of the pack as they arrive, up to its end.
    pub(crate) fn pack(
        &mut self,
        mut receive: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), WireError> {
        let with_messages = self.advertisement.capabilities.have("side-band-64k");
        let mut input = self.input();
        let received = match with_messages {
            true => demultiplexed(&mut input, &mut receive),
            false => raw(&mut input, &mut receive),
        };
        received.map_err(|error| self.explain(error))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.connection.output.write_all(bytes)?;
        Ok(self.connection.output.flush()?)
    }

    fn input(&mut self) -> Counted<'_, C> {
        Counted {
            input: &mut *self.connection.input,
            count: &mut self.count,
        }
    }

    /// Returns the reason of the program for ending early, if it gave one.
    fn explain(&mut self, error: WireError) -> WireError {
        let ended = match &error {
            WireError::Ended => true,
            WireError::Io(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        };
        match ended.then(|| self.connection.peer.end()).flatten() {
            Some(said) => WireError::Remote(said),
            None => error,
        }
    }
}

impl<C> Drop for UploadPack<C> {
    fn drop(&mut self) {
        // The end of a conversation in which nothing more is requested.
        if matches!(self.connection.peer, Peer::Daemon(_)) {
            let _ = self.connection.output.write_all(FLUSH);
        }
    }
}

/// The maximum number of history boundaries in a reply: few commits are requested, and each
/// boundary is stored.
const BOUNDARIES: usize = 1_000;

/// The input of a conversation, of which each byte is counted.
struct Counted<'c, C> {
    input: &'c mut dyn Read,
    count: &'c mut C,
}

impl<C: FnMut(u64) -> io::Result<()>> Read for Counted<'_, C> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(bytes)?;
        (self.count)(length as u64)?;
        Ok(length)
    }
}

fn shallow_change(input: &mut impl Read) -> Result<ShallowChange, WireError> {
    let mut change = ShallowChange::default();
    while let Packet::Content(content) = packets::read(input)? {
        let line = packets::text(&content);
        let malformed = || WireError::Malformed("a boundary without an id");
        let id = |text: &str| packets::id(text).ok_or_else(malformed);
        if change.added.len() + change.removed.len() == BOUNDARIES {
            return Err(WireError::Malformed("more boundaries than were asked for"));
        }
        match line.split_once(' ') {
            Some(("shallow", text)) => change.added.push(id(text)?),
            Some(("unshallow", text)) => change.removed.push(id(text)?),
            _ => return Err(WireError::Malformed("something else than a boundary")),
        }
    }
    Ok(change)
}

fn demultiplexed(
    input: &mut impl Read,
    receive: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), WireError> {
    while let Packet::Content(content) = packets::read(input)? {
        match content.split_first() {
            Some((&PACK, bytes)) => receive(bytes)?,
            Some((&PROGRESS, _)) => {}
            // After the first common commit, those that it leads to are acknowledged, too.
            _ if content.starts_with(b"ACK ") => {}
            Some((&ERROR, said)) => {
                let said = String::from_utf8_lossy(said);
                return Err(WireError::Remote(said.trim().to_owned()));
            }
            _ => return Err(WireError::Malformed("an unknown channel")),
        }
    }
    Ok(())
}

fn raw(
    input: &mut impl Read,
    receive: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), WireError> {
    let mut bytes = vec![0; 64 << 10];
    loop {
        match input.read(&mut bytes)? {
            0 => return Ok(()),
            length => receive(&bytes[..length])?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_acknowledgements_are_no_part_of_a_pack() {
        let mut bytes = Vec::new();
        packets::write(&mut bytes, &format!("ACK {}\n", Oid::ZERO_SHA1));
        packets::write(&mut bytes, "\u{1}PACK");
        bytes.extend_from_slice(FLUSH);
        let mut pack = Vec::new();
        let mut receive = |bytes: &[u8]| {
            pack.extend_from_slice(bytes);
            Ok(())
        };
        demultiplexed(&mut &*bytes, &mut receive).unwrap();
        assert_eq!(pack, b"PACK");
    }
}
