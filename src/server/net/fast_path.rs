//! The fast path: plain requests answered without hyper, which is for everything else.
//!
//! Bytes are read into space that all connections of a thread share, and requests are answered from
//! there: up to sixteen that arrived together are answered together. As soon as anything is not
//! clearly a request for a short link, the connection is passed to hyper, with the bytes that were
//! read and not answered.
//!
//! Invariant: a connection without a request under way keeps no buffer.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::ReadBuf;

use super::client::{Client, HEAD_BYTES};
use super::timeouts::Heads;
use crate::server::http::{Parsed, PlainRequest, field_space, has_bare_feed, parse};

/// How many requests are answered before other connections of the thread have their turn; hyper does
/// the same.
const ANSWERS: u32 = 16;

/// The space for answers that a thread keeps, in bytes.
const OUT_BYTES: usize = 64 * 1024;

/// Answers plain requests.
pub(crate) trait AnswersPlain {
    /// Returns whether any request may be answered.
    fn is_on(&self) -> bool;

    /// Appends the answer to a request, of which the server has known since a given time, and counts
    /// it; returns the time. `None` if the request is one for hyper, of which nothing was appended or
    /// counted.
    fn answer(
        &self,
        request: &PlainRequest<'_, '_>,
        began: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Instant>;
}

/// Leaves every request to hyper.
pub(crate) struct NoFastPath;

impl AnswersPlain for NoFastPath {
    fn is_on(&self) -> bool {
        false
    }

    fn answer(&self, _: &PlainRequest<'_, '_>, _: Instant, _: &mut Vec<u8>) -> Option<Instant> {
        None
    }
}

/// How a connection left the fast path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It ended.
    Ended,
    /// It continues with hyper, which reads these bytes first.
    ToHyper(Vec<u8>),
}

/// A connection on the fast path.
#[derive(Debug, Default)]
pub(super) struct FastPath {
    /// Bytes that were read and not answered: a part of a head, or requests that wait for their
    /// turn.
    unread: Vec<u8>,
    /// Whether `unread` may begin with a whole request.
    has_more: bool,
    /// The last byte that was read.
    last: u8,
    unsent: Vec<u8>,
    must_flush: bool,
    /// Whether the connection leaves as soon as all answers are sent.
    leaves: bool,
    /// Whether the server closes.
    is_closing: bool,
}

/// Space for what is read and written at once, shared by the connections of a thread.
struct ThreadSpace {
    read: Box<[u8]>,
    out: Vec<u8>,
}

thread_local! {
    static SPACE: Cell<Option<Box<ThreadSpace>>> = const { Cell::new(None) };
}

impl FastPath {
    /// Leaves as soon as all answers are sent, because the server closes. As with hyper, that ends a
    /// connection that had an answer, unless another request has begun; of another one, the first request
    /// is waited for.
    pub(super) fn close(&mut self) {
        self.leaves = true;
        self.is_closing = true;
    }

    /// Answers requests until the connection ends or is one for hyper.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut impl Client,
        heads: &Heads,
        answers: &impl AnswersPlain,
    ) -> Poll<Left> {
        let mut space = SPACE.take().unwrap_or_default();
        // An unsent answer of one connection must not be sent to another.
        space.out.clear();
        let left = self.poll_with(&mut space, cx, client, heads, answers);
        SPACE.set(Some(space));
        left.map(|left| left.unwrap_or(Left::Ended))
    }

    fn poll_with(
        &mut self,
        space: &mut ThreadSpace,
        cx: &mut Context<'_>,
        client: &mut impl Client,
        heads: &Heads,
        answers: &impl AnswersPlain,
    ) -> Poll<io::Result<Left>> {
        let mut answers_left = ANSWERS;
        loop {
            ready!(self.poll_send(cx, client))?;
            if self.leaves && self.is_closing && self.is_idle(heads) {
                return self.poll_end(cx, client);
            }
            if self.leaves {
                let unread = std::mem::take(&mut self.unread);
                return Poll::Ready(Ok(Left::ToHyper(unread)));
            }
            if answers_left == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let known = self.unread.len();
            space.read[..known].copy_from_slice(&self.unread);
            let mut end = known;
            if !self.has_more {
                let mut buffer = ReadBuf::new(&mut space.read[known..]);
                ready!(Pin::new(&mut *client).poll_read(cx, &mut buffer))?;
                end += buffer.filled().len();
                if end == known {
                    if known == 0 || self.is_idle(heads) {
                        return self.poll_end(cx, client);
                    }
                    self.leaves = true;
                    continue;
                }
            }
            let ThreadSpace { read, out } = space;
            let now = Instant::now();
            let (left, at) = self.answer_some(&read[..end], known, answers, answers_left, now, out);
            if left < answers_left {
                heads.count(answers_left - left);
                // Empty lines before a request are no part of it (RFC 9112, section 2.2).
                if !self.unread.chunks(2).all(|line| line == b"\r\n") {
                    heads.begin_next();
                }
            }
            answers_left = left;
            self.poll_write(cx, client, out)?;
            // What comes next for hyper may take long.
            if !self.leaves {
                client.note_time(at);
            }
        }
    }

    /// Ends the connection.
    fn poll_end(&self, cx: &mut Context<'_>, client: &mut impl Client) -> Poll<io::Result<Left>> {
        ready!(Pin::new(client).poll_shutdown(cx))?;
        Poll::Ready(Ok(Left::Ended))
    }

    /// Returns whether the client may end the connection without an error: requests were answered, and
    /// no other has begun. Empty lines may come ahead of one (RFC 9112 section 2.2).
    fn is_idle(&self, heads: &Heads) -> bool {
        let is_empty_lines = self.unread.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        heads.so_far() > 0 && is_empty_lines && !has_bare_feed(0, &self.unread)
    }

    /// Answers at most `left` of the requests that were read, of which `known` bytes were read before.
    /// Returns how many further ones it might have answered, and the time.
    fn answer_some(
        &mut self,
        bytes: &[u8],
        known: usize,
        answers: &impl AnswersPlain,
        mut left: u32,
        mut now: Instant,
        out: &mut Vec<u8>,
    ) -> (u32, Instant) {
        let fresh = &bytes[known..];
        let mut rest = bytes;
        // hyper refuses all requests that arrive together with a bare line feed.
        self.leaves = has_bare_feed(self.last, fresh);
        self.last = fresh.last().copied().unwrap_or(self.last);
        let may_be_whole = known == 0 || self.has_more || ends_a_head(bytes, known);
        self.has_more = false;
        while may_be_whole && !self.leaves && !rest.is_empty() {
            if left == 0 {
                self.has_more = true;
                break;
            }
            let answered = match parse(rest, &mut field_space()) {
                Parsed::Plain(request, length) => {
                    let at = answers.answer(&request, now, out);
                    at.map(|at| (at, length))
                }
                Parsed::Partial if rest.len() < HEAD_BYTES => break,
                Parsed::Partial | Parsed::Other => None,
            };
            match answered {
                Some((at, length)) => {
                    left -= 1;
                    now = at;
                    rest = &rest[length..];
                }
                None => self.leaves = true,
            }
        }
        self.leaves |= rest.len() >= HEAD_BYTES;
        // Without requests under way, nothing is kept.
        self.unread = rest.to_vec();
        (left, now)
    }

    /// Sends answers, of which the unsent rest is kept.
    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut impl Client,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.must_flush = true;
        let written = match Pin::new(client).poll_write(cx, out) {
            Poll::Ready(written) => written,
            Poll::Pending => Ok(0),
        };
        if let Ok(sent) = &written {
            self.unsent.extend_from_slice(&out[*sent..]);
        }
        out.clear();
        // Long answers are rare, and not worth the memory.
        out.shrink_to(OUT_BYTES);
        written.map(drop)
    }

    /// Becomes ready once everything is sent.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut impl Client,
    ) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let written = Pin::new(&mut *client).poll_write(cx, &self.unsent);
            let sent = ready!(written)?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unsent.drain(..sent);
            if self.unsent.is_empty() {
                self.unsent = Vec::new();
            }
        }
        if self.must_flush {
            ready!(Pin::new(client).poll_flush(cx))?;
            self.must_flush = false;
        }
        Poll::Ready(Ok(()))
    }
}

impl Default for ThreadSpace {
    fn default() -> Self {
        Self {
            read: vec![0; HEAD_BYTES].into(),
            out: Vec::with_capacity(OUT_BYTES),
        }
    }
}

/// Returns whether the end of a head is in the bytes, of which those before `known` have none.
fn ends_a_head(bytes: &[u8], known: usize) -> bool {
    let mut from = bytes[known.saturating_sub(3)..].windows(4);
    from.any(|window| window == b"\r\n\r\n")
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, duplex};

    use super::*;
    use crate::server::net::timeouts::{TimeoutStream, Timeouts};

    /// Answers with the path, but not if that is `/hyper`.
    struct Echo;

    impl AnswersPlain for Echo {
        fn is_on(&self) -> bool {
            true
        }

        fn answer(
            &self,
            request: &PlainRequest<'_, '_>,
            began: Instant,
            out: &mut Vec<u8>,
        ) -> Option<Instant> {
            let path = request.path;
            if path == "/large" {
                out.extend_from_slice(&[b'.'; OUT_BYTES]);
            }
            if path == "/hyper" {
                return None;
            }
            out.extend_from_slice(path.as_bytes());
            Some(began)
        }
    }

    fn request(path: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    /// Serves a stream on the fast path until it leaves.
    async fn serve(server: impl AsyncRead + AsyncWrite + Unpin) -> Left {
        let timeouts = Timeouts {
            head: Duration::from_secs(60),
            ..Timeouts::default()
        };
        let heads = Heads::default();
        let mut client = TimeoutStream::new(server, timeouts, heads.clone());
        let mut path = FastPath::default();
        poll_fn(|cx| path.poll(cx, &mut client, &heads, &Echo)).await
    }

    /// Sends pieces, each after the one before was read, and returns the answers and how it ended.
    async fn outcome(pieces: &[&str], room: usize) -> (String, Left) {
        let (mut client, server) = duplex(room);
        let talk = async {
            for piece in pieces {
                client.write_all(piece.as_bytes()).await.unwrap();
                tokio::task::yield_now().await;
            }
            client.shutdown().await.unwrap();
            let mut answers = String::new();
            client.read_to_string(&mut answers).await.unwrap();
            answers
        };
        let (answers, left) = tokio::join!(talk, serve(server));
        (answers, left)
    }

    #[tokio::test]
    async fn answers_what_arrives_together_and_then_the_rest() {
        let both = request("/a") + &request("/b");
        let (answers, left) = outcome(&[&both, &request("/c")], 4096).await;
        assert_eq!((&*answers, left), ("/a/b/c", Left::Ended));
    }

    #[tokio::test]
    async fn joins_a_head_that_arrives_in_pieces() {
        let both = request("/a") + &request("/b");
        for at in 1..both.len() {
            let (first, second) = both.split_at(at);
            let (answers, left) = outcome(&[first, second], 4096).await;
            assert_eq!((&*answers, left), ("/a/b", Left::Ended), "{first:?}");
        }
        let bytes: Vec<_> = (0..both.len()).map(|at| &both[at..=at]).collect();
        let (answers, left) = outcome(&bytes, 4096).await;
        assert_eq!((&*answers, left), ("/a/b", Left::Ended));
    }

    #[tokio::test]
    async fn leaves_the_first_request_that_is_not_plain_and_all_after_it() {
        let rest = request("/hyper") + &request("/a");
        let (answers, left) = outcome(&[&(request("/a") + &rest)], 4096).await;
        assert_eq!((&*answers, left), ("/a", Left::ToHyper(rest.into())));
    }

    #[tokio::test]
    async fn answers_nothing_that_arrives_with_a_bare_line_feed() {
        let read = request("/a") + "GET /b HTTP/1.1\nHost: a\r\n\r\n";
        let (answers, left) = outcome(&[&read], 4096).await;
        assert_eq!((&*answers, left), ("", Left::ToHyper(read.into())));
    }

    #[tokio::test]
    async fn leaves_a_head_that_is_cut_off_or_too_long() {
        let (answers, left) = outcome(&["GET /a HT"], 4096).await;
        assert_eq!((&*answers, left), ("", Left::ToHyper("GET /a HT".into())));
        let long = format!("GET /a HTTP/1.1\r\nx: {}", "y".repeat(HEAD_BYTES));
        let (_, left) = outcome(&[&long], 4 * HEAD_BYTES).await;
        assert_eq!(left, Left::ToHyper(long[..HEAD_BYTES].into()));
    }

    /// A client that sends a request and takes no answer.
    struct Reset;

    impl AsyncRead for Reset {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            buffer.put_slice(request("/secret").as_bytes());
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Reset {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn what_one_client_did_not_take_is_sent_to_no_other() {
        assert_eq!(serve(Reset).await, Left::Ended);
        let (answers, left) = outcome(&[&request("/a")], 4096).await;
        assert_eq!((&*answers, left), ("/a", Left::Ended));
    }

    #[tokio::test]
    async fn gives_way_after_some_answers() {
        let (mut client, server) = duplex(1 << 20);
        let requests = request("/a").repeat(3 * ANSWERS as usize);
        client.write_all(requests.as_bytes()).await.unwrap();
        let heads = Heads::default();
        let mut server = TimeoutStream::new(server, Timeouts::default(), heads.clone());
        let mut path = FastPath::default();
        for turn in 1..=3 {
            let once = poll_fn(|cx| Poll::Ready(path.poll(cx, &mut server, &heads, &Echo)));
            assert!(once.await.is_pending());
            assert_eq!(heads.so_far(), u64::from(turn * ANSWERS));
        }
    }

    #[tokio::test]
    async fn passes_on_a_bare_line_feed_between_requests() {
        let (answers, left) = outcome(&[&request("/a"), "\n"], 1).await;
        assert_eq!((&*answers, left), ("/a", Left::ToHyper("\n".into())));
    }

    #[tokio::test]
    async fn sends_answers_that_do_not_fit_before_it_goes_on() {
        let requests = request("/large").repeat(5) + &request("/hyper");
        let (answers, left) = outcome(&[&requests], 1000).await;
        assert_eq!(answers.len(), 5 * (OUT_BYTES + "/large".len()));
        assert_eq!(left, Left::ToHyper(request("/hyper").into()));
    }
}
