//! Line ends: whether a client ended a line with a line feed alone.
//!
//! RFC 9112 section 2.2 lets a server accept that as the end of a line, and hyper does. A proxy in
//! front of it may not, and then the two see different requests in the same bytes. No client needs
//! it, so it is detected here, and nothing that follows is trusted to be a request.
//!
//! The boundary between head and content is not known here, and content may hold any bytes. So this
//! only reports that there was one; a request with content is answered, and the connection closed.
//! A request sent ahead of it, in the same bytes, is refused: no browser sends requests ahead.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Marks a request, as an extension, whose connection had such a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BareLineFeed;

/// Whether one connection had such a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineEnds(Arc<AtomicBool>);

impl LineEnds {
    /// Returns whether a line feed without a carriage return was read.
    pub(crate) fn had_a_bare_feed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream that checks the line ends of the bytes read from it.
#[derive(Debug)]
pub(crate) struct LineStream<S> {
    stream: S,
    lines: LineEnds,
    last: u8,
}

impl<S> LineStream<S> {
    pub(crate) fn new(stream: S, lines: LineEnds) -> Self {
        Self {
            stream,
            lines,
            last: 0,
        }
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return;
        };
        let bare = |before: u8, byte: u8| byte == b'\n' && before != b'\r';
        // Without an early exit, so that the compiler can vectorize it.
        let found = bytes
            .windows(2)
            .fold(bare(self.last, *first), |found, pair| {
                found | bare(pair[0], pair[1])
            });
        self.last = *last;
        if found {
            self.lines.0.store(true, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LineStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
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
    use super::*;

    fn bare(reads: &[&[u8]]) -> bool {
        let lines = LineEnds::default();
        let mut stream = LineStream::new((), lines.clone());
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
}
