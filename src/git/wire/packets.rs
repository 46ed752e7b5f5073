//! Packets: the lines of Git's protocol with their lengths (gitprotocol-common(5), "pkt-line").

use std::io::{self, Read};

use git2::Oid;

use super::wire_error::WireError;

/// The maximum number of bytes in a packet, without its length.
const MAX_CONTENT: usize = 65_516;

/// The end of a section.
pub(crate) const FLUSH: &[u8] = b"0000";

/// A packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Packet {
    /// Its content, without a line break at the end of a text.
    Content(Vec<u8>),
    /// The end of a section.
    Flush,
}

/// The number of hexadecimal digits before a packet, which count in its length.
pub(super) const DIGITS: usize = 4;

/// Parses the digits before a packet. Returns the length of its content; `None` for the end of a section.
pub(super) fn content_length(digits: [u8; DIGITS]) -> Result<Option<usize>, WireError> {
    let length = std::str::from_utf8(&digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .and_then(|text| usize::from_str_radix(text, 16).ok())
        .ok_or(WireError::Malformed("a packet without a length"))?;
    match length {
        0 => Ok(None),
        1..DIGITS => Err(WireError::Malformed("a packet of another version")),
        _ if length > DIGITS + MAX_CONTENT => {
            Err(WireError::Malformed("a packet that is too long"))
        }
        _ => Ok(Some(length - DIGITS)),
    }
}

/// Reads a packet, whose content is an error of the remote if it begins like one.
pub(super) fn read(input: &mut impl Read) -> Result<Packet, WireError> {
    let mut digits = [0; DIGITS];
    read_exact(input, &mut digits)?;
    let Some(length) = content_length(digits)? else {
        return Ok(Packet::Flush);
    };
    let mut content = vec![0; length];
    read_exact(input, &mut content)?;
    match content.strip_prefix(b"ERR ") {
        Some(said) => Err(WireError::Remote(
            String::from_utf8_lossy(said).trim().to_owned(),
        )),
        None => Ok(Packet::Content(content)),
    }
}

/// Reads the text of a packet, which is not the end of a section.
pub(super) fn read_text(input: &mut impl Read) -> Result<String, WireError> {
    match read(input)? {
        Packet::Content(content) => Ok(text(&content)),
        Packet::Flush => Err(WireError::Malformed("a section that ends early")),
    }
}

/// Returns the text of a packet's content, without its line break.
pub(super) fn text(content: &[u8]) -> String {
    String::from_utf8_lossy(content)
        .trim_end_matches('\n')
        .to_owned()
}

/// Parses a full id.
pub(super) fn id(text: &str) -> Option<Oid> {
    Oid::from_str(text).ok().filter(|id| id.to_string() == text)
}

/// Appends a packet.
pub(super) fn write(to: &mut Vec<u8>, content: &str) {
    to.extend_from_slice(format!("{:04x}{content}", content.len() + 4).as_bytes());
}

fn read_exact(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), WireError> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => WireError::Ended,
        _ => WireError::Io(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, "want 1\n");
        bytes.extend(FLUSH);
        let mut input = &bytes[..];
        assert_eq!(read_text(&mut input).unwrap(), "want 1");
        assert_eq!(read(&mut input).unwrap(), Packet::Flush);
        assert!(matches!(read(&mut input), Err(WireError::Ended)));
    }

    #[test]
    fn refuses_what_is_no_packet() {
        for bytes in ["HTTP/1.1 400", "+fff", "0001", "fff5", "ffff", "0005", ""] {
            assert!(read(&mut bytes.as_bytes()).is_err(), "{bytes}");
        }
        let said = read(&mut &b"000bERR no\n"[..]).unwrap_err();
        assert_eq!(said.to_string(), "remote error: no");
    }
}
