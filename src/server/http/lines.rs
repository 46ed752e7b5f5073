//! Line ends: whether a client ended a line with a line feed alone.
//!
//! RFC 9112 section 2.2 lets a server accept that as the end of a line, and hyper does. A proxy in
//! front of it may not, and then the two see different requests in the same bytes. No client needs
//! it, so it is detected here, and nothing that follows is trusted to be a request.
//!
//! The boundary between head and content is not known here, and content may hold any bytes. So this
//! only reports that such a line was read, and whether the last line was empty; a request with content is answered, and the connection
//! closed. A request sent ahead of it, in the same bytes, is refused: no browser sends requests
//! ahead.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Marks a request, as an extension, whose connection had such a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BareLineFeed;

/// What was seen of line ends on one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineEnds(Arc<SeenEnds>);

#[derive(Debug, Default)]
struct SeenEnds {
    bare_feed: AtomicBool,
    ends_in_empty_line: AtomicBool,
}

impl LineEnds {
    /// Returns whether a line feed without a carriage return was read.
    pub(crate) fn had_a_bare_feed(&self) -> bool {
        self.0.bare_feed.load(Ordering::Relaxed)
    }

    /// Returns whether what was read so far ends with an empty line, as a head does.
    pub(crate) fn ends_in_empty_line(&self) -> bool {
        self.0.ends_in_empty_line.load(Ordering::Relaxed)
    }
}

/// A stream that checks the line ends of the bytes read from it, of which the first are given.
#[derive(Debug)]
pub(crate) struct LineStream<S> {
    unread: Vec<u8>,
    stream: S,
    lines: LineEnds,
    /// The last bytes that were read.
    last: [u8; 4],
}

impl<S> LineStream<S> {
    pub(crate) fn new(unread: Vec<u8>, stream: S, lines: LineEnds) -> Self {
        Self {
            unread,
            stream,
            lines,
            last: [0; 4],
        }
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let seen = &self.lines.0;
        if has_bare_feed(self.last[3], bytes) {
            seen.bare_feed.store(true, Ordering::Relaxed);
        }
        for byte in &bytes[bytes.len().saturating_sub(4)..] {
            self.last.rotate_left(1);
            self.last[3] = *byte;
        }
        let ends = self.last == *b"\r\n\r\n";
        seen.ends_in_empty_line.store(ends, Ordering::Relaxed);
    }
}

/// Returns whether bytes, which follow a given one, have a line feed without a carriage return.
pub(crate) fn has_bare_feed(last: u8, bytes: &[u8]) -> bool {
    let Some(first) = bytes.first() else {
        return false;
    };
    let bare = |before: u8, byte: u8| byte == b'\n' && before != b'\r';
    // Without an early exit, so that the compiler can vectorize it.
    let pairs = bytes.iter().zip(&bytes[1..]);
    pairs.fold(bare(last, *first), |found, (before, byte)| {
        found | bare(*before, *byte)
    })
}

impl<S: AsyncRead + Unpin> AsyncRead for LineStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        if this.unread.is_empty() {
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        } else {
            let fits = this.unread.len().min(buffer.remaining());
            buffer.put_slice(&this.unread[..fits]);
            this.unread.drain(..fits);
            if this.unread.is_empty() {
                this.unread = Vec::new();
            }
        }
        this.look_at(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LineStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    fn bare(reads: &[&[u8]]) -> bool {
        let lines = LineEnds::default();
        let mut stream = LineStream::new(Vec::new(), (), lines.clone());
        for read in reads {
            stream.look_at(read);
        }
        lines.had_a_bare_feed()
    }

    #[test]
    fn sees_a_feed_without_its_return() {
        assert!(bare(&[b"\n"]));
        assert!(bare(&[b"a\r\nb\nc\r\n"]));
        assert!(bare(&[b"a\r\n\n"]));
        assert!(bare(&[b"a", b"\n"]));
        assert!(bare(&[b"a\n", b"b\r\n"]));
    }

    #[test]
    fn takes_both_in_whatever_pieces_they_come() {
        assert!(!bare(&[b"a\r\nb\r\n\r\n"]));
        assert!(!bare(&[b"a\r", b"", b"\nb", b"\r\n"]));
        assert!(!bare(&[b"\r", b"\n"]));
        assert!(!bare(&[b"a\rb"]));
    }

    #[test]
    fn sees_an_empty_line_at_the_end() {
        let ends = |reads: &[&[u8]]| {
            let lines = LineEnds::default();
            let mut stream = LineStream::new(Vec::new(), (), lines.clone());
            reads.iter().for_each(|read| stream.look_at(read));
            lines.ends_in_empty_line()
        };
        assert!(ends(&[b"GET / HTTP/1.1\r\n\r\n"]));
        assert!(ends(&[b"x\r", b"\n", b"", b"\r\n"]));
        assert!(!ends(&[b"x\r\n\r\n", b"GET"]));
        assert!(!ends(&[b"x\r\n\r\nG"]));
        assert!(!ends(&[b"\r\n"]));
    }

    #[tokio::test]
    async fn returns_what_was_read_before_the_rest() {
        let (mut client, server) = duplex(64);
        client.write_all(b"rest").await.unwrap();
        drop(client);
        let mut stream = LineStream::new(b"begun, ".to_vec(), server, LineEnds::default());
        let mut first = [0; 4];
        stream.read_exact(&mut first).await.unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).await.unwrap();
        assert_eq!((&first[..], &*all), (&b"begu"[..], "n, rest"));
    }
}
