//! Packets from the output of a running program, with their lengths, as [`packets`] parses them.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::packets::{self, DIGITS};

/// Appends the next packet to `bytes`, and returns whether it is the end of a section.
///
/// # Errors
///
/// If the output ends, or is not in packets.
pub(crate) async fn read_packet(
    input: &mut (impl AsyncRead + Unpin),
    bytes: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut digits = [0; DIGITS];
    input.read_exact(&mut digits).await?;
    let length = packets::content_length(digits)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    bytes.extend_from_slice(&digits);
    let start = bytes.len();
    bytes.resize(start + length.unwrap_or(0), 0);
    input.read_exact(&mut bytes[start..]).await?;
    Ok(length.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_section_is_read_up_to_its_end() {
        let mut input = &b"0006ok000400000006no"[..];
        let mut bytes = Vec::new();
        assert!(!read_packet(&mut input, &mut bytes).await.unwrap());
        assert!(!read_packet(&mut input, &mut bytes).await.unwrap());
        assert!(read_packet(&mut input, &mut bytes).await.unwrap());
        assert_eq!(bytes, b"0006ok00040000");
        assert_eq!(input, b"0006no");
    }

    #[tokio::test]
    async fn what_is_no_packet_is_an_error() {
        for broken in ["", "00", "0006o", "0003", "zzzz", "+006ok", "fff5"] {
            let read = read_packet(&mut broken.as_bytes(), &mut Vec::new()).await;
            assert!(read.is_err(), "{broken}");
        }
    }
}
