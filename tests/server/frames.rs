//! HTTP/2 frames, written and read by hand, as a client that violates the rules sends them.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::secure::Secure;
use crate::support::soon;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Types of frames (RFC 9113 section 6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

// Flags.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const PRIORITISED: u8 = 32;

// Error codes (RFC 9113 section 7).
pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const PROTOCOL_ERROR: u32 = 1;
pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
pub(crate) const STREAM_CLOSED: u32 = 5;
pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const COMPRESSION_ERROR: u32 = 9;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame that came.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, stream, .. } = self;
        match *kind {
            GOAWAY | RST_STREAM => write!(f, "{kind} on {stream} with {}", self.code()),
            _ => write!(f, "{kind} on {stream}"),
        }
    }
}

impl Frame {
    /// Returns the error code of a GOAWAY or RST_STREAM.
    pub(crate) fn code(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

/// Returns a frame's bytes.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Returns a SETTINGS frame.
pub(crate) fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let pairs = pairs.iter();
    let payload =
        pairs.flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat());
    frame(SETTINGS, 0, 0, &payload.collect::<Vec<_>>())
}

/// Returns header fields as HPACK literals with neither indexing nor Huffman's code (RFC 7541
/// section 6.2.2).
pub(crate) fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(
                u8::try_from(text.len())
                    .ok()
                    .filter(|len| *len < 127)
                    .unwrap(),
            );
            block.extend(text.as_bytes());
        }
    }
    block
}

/// Returns the fields of a request for a path.
pub(crate) fn get(path: &str) -> Vec<u8> {
    fields(&[
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "short.code"),
        (":path", path),
    ])
}

/// Returns a whole request.
pub(crate) fn request(stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, block)
}

/// One connection.
pub(crate) struct Wire(pub(crate) TlsStream<TcpStream>);

impl Wire {
    /// Connects, and sends nothing yet.
    pub(crate) async fn open(secure: &Secure) -> Self {
        Self(secure.connect(&[b"h2"]).await)
    }

    /// Connects and starts HTTP/2.
    pub(crate) async fn greeted(secure: &Secure) -> Self {
        let mut wire = Self::open(secure).await;
        wire.say(&[PREFACE, &settings(&[])].concat()).await;
        wire
    }

    /// Sends bytes; that the server may have closed shows when its answers are read.
    pub(crate) async fn say(&mut self, bytes: &[u8]) {
        let _ = soon(self.0.write_all(bytes)).await;
        let _ = soon(self.0.flush()).await;
    }

    /// Returns the next frame, `None` at the end.
    pub(crate) async fn hear(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        soon(self.0.read_exact(&mut head)).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        soon(self.0.read_exact(&mut payload)).await.ok()?;
        Some(Frame {
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes(head[5..].try_into().unwrap()),
            payload,
        })
    }

    /// Returns the next frame of this kind, without what comes before it.
    pub(crate) async fn hear_a(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.hear().await?;
            if frame.kind == kind {
                return Some(frame);
            }
        }
    }

    /// Returns all that comes until the end.
    pub(crate) async fn hear_out(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.hear().await {
            frames.push(frame);
        }
        frames
    }
}
