//! Timeouts: a socket that gives up on an inactive client.
//!
//! hyper has one timeout for a request head, which also covers the wait for it on an idle
//! connection. A load balancer needs long idle connections, but a slow head should not get as long;
//! a client that never reads its answers has no timeout at all. So the socket itself keeps three
//! clocks, and hyper sees an expired one as an I/O error.
//!
//! One timer serves a connection for its whole life. It is moved only when the deadline becomes
//! earlier, and checks the clock again when it fires, so a busy connection never touches it: what was
//! polled once for a task wakes that task.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a client may keep a connection without using it.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From the first byte of a request head to its last; also from the connection's start.
    pub head: Duration,
    /// From one request to the next. Longer than the 60 s for which load balancers commonly reuse a
    /// connection: otherwise they send a request into a connection that is being closed.
    pub idle: Duration,
    /// While an answer waits for the client to read a byte of it.
    pub stall: Duration,
}

/// How slowly a client may read content that is written piece by piece: a time budget, spent while
/// the writer waits for the client and refilled by each piece that the client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The whole budget: how long a client may read nothing at all.
    pub budget: Duration,
    /// What each piece of 64 KiB adds to the budget.
    pub a_piece: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            stall: Duration::from_secs(30),
        }
    }
}

impl Default for Pace {
    /// Returns 32 KiB a second, with a budget of twenty seconds.
    fn default() -> Self {
        Self {
            budget: Duration::from_secs(20),
            a_piece: Duration::from_secs(2),
        }
    }
}

impl Timeouts {
    /// Returns the timeouts of the admin listener: probes and scrapers send and read immediately,
    /// and reconnect if they come back later.
    pub(crate) fn of_operators(self) -> Self {
        Self {
            head: self.head.min(Duration::from_secs(5)),
            idle: self.idle.min(Duration::from_secs(30)),
            stall: self.stall.min(Duration::from_secs(5)),
        }
    }
}

/// Counts the request heads that were read from one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heads(Arc<HeadCounts>);

// Only the connection's own task writes, so there is no race.
#[derive(Debug, Default)]
struct HeadCounts {
    so_far: AtomicU64,
    /// How many have begun, as far as bytes have arrived that do not belong to the last one.
    begun: AtomicU64,
}

impl Heads {
    /// Records that so many whole heads were read.
    pub(crate) fn count(&self, more: u32) {
        let so_far = self.so_far() + u64::from(more);
        self.0.so_far.store(so_far, Ordering::Relaxed);
    }

    /// Records that bytes of the next head have arrived, maybe with the last one.
    pub(crate) fn begin_next(&self) {
        self.0.begun.store(self.so_far() + 1, Ordering::Relaxed);
    }

    /// Returns how many heads were read.
    pub(crate) fn so_far(&self) -> u64 {
        self.0.so_far.load(Ordering::Relaxed)
    }

    /// Returns whether bytes of the next head have arrived.
    pub(super) fn has_begun_next(&self) -> bool {
        self.0.begun.load(Ordering::Relaxed) > self.so_far()
    }
}

/// What a connection waits for: which head, and whether part of it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Awaited {
    head: u64,
    begun: bool,
}

/// How many bytes have arrived since the last head, and how many may.
#[derive(Debug)]
struct Noise {
    limit: u64,
    since: u64,
    so_far: u64,
}

/// A stream whose reads and writes fail with [`io::ErrorKind::TimedOut`] when a timeout expires.
#[derive(Debug)]
pub(crate) struct TimeoutStream<S> {
    stream: S,
    timeouts: Timeouts,
    heads: Heads,
    /// The time, if it was noted since anything was read, written or waited for.
    now: Option<Instant>,
    read_deadline: Option<(Awaited, Instant)>,
    /// How many bytes may arrive without a head, where another clock limits silence.
    noise: Option<Noise>,
    write_deadline: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
    /// The task that the timer wakes.
    waiting: Option<Waker>,
    ended: bool,
}

impl<S> TimeoutStream<S> {
    pub(crate) fn new(stream: S, timeouts: Timeouts, heads: Heads) -> Self {
        Self {
            stream,
            timeouts,
            heads,
            now: None,
            read_deadline: None,
            noise: None,
            write_deadline: None,
            timer: None,
            waiting: None,
            ended: false,
        }
    }

    /// Returns whether the client will send nothing more: it closed its side, or timed out.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Records the time, which was just read: for a timeout that begins now, it is not read again.
    pub(super) fn note_time(&mut self, now: std::time::Instant) {
        self.now = Some(Instant::from_std(now));
    }

    /// Leaves silent clients to another clock, and limits how many bytes a client may send between
    /// one head and the next.
    #[cfg_attr(
        not(feature = "tls"),
        allow(dead_code, reason = "HTTP/2 needs it, and comes with TLS")
    )]
    pub(crate) fn allow_silence(&mut self, limit: u64) {
        self.noise = Some(Noise {
            limit,
            since: self.heads.so_far(),
            so_far: 0,
        });
    }

    /// Records that bytes have arrived; returns whether they are too many.
    fn is_noise(&mut self, bytes: usize) -> bool {
        let heads = self.heads.so_far();
        let Some(noise) = &mut self.noise else {
            return false;
        };
        if noise.since != heads {
            noise.since = heads;
            noise.so_far = 0;
        }
        noise.so_far = noise.so_far.saturating_add(bytes as u64);
        noise.so_far > noise.limit
    }

    /// Returns the deadline for the awaited bytes.
    fn read_deadline(&mut self) -> Instant {
        let head = self.heads.so_far();
        let awaited = Awaited {
            head,
            begun: self.heads.has_begun_next(),
        };
        match self.read_deadline {
            Some((same, deadline)) if same == awaited => deadline,
            _ => {
                let idle = head > 0 && !awaited.begun;
                let limit = if idle {
                    self.timeouts.idle
                } else {
                    self.timeouts.head
                };
                let now = self.now.take().unwrap_or_else(Instant::now);
                let deadline = now + limit;
                self.read_deadline = Some((awaited, deadline));
                deadline
            }
        }
    }

    fn write_deadline(&mut self) -> Instant {
        let stall = self.timeouts.stall;
        *self
            .write_deadline
            .get_or_insert_with(|| Instant::now() + stall)
    }

    /// Is ready once `deadline` has passed.
    fn poll_expired(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let wakes = |waiting: &Waker| waiting.will_wake(cx.waker());
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        } else if !timer.is_elapsed() && self.waiting.as_ref().is_some_and(wakes) {
            return Poll::Pending;
        }
        self.waiting = Some(cx.waker().clone());
        loop {
            // A task that has used up its budget would get a timer that wakes nobody.
            ready!(pin!(unconstrained(timer.as_mut())).poll(cx));
            if Instant::now() >= deadline {
                self.ended = true;
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
    }

    /// Passes on the result of a write, unless the client has read nothing for too long.
    fn or_stalled<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(result) = written {
            self.write_deadline = None;
            self.ended |= result.is_err();
            return Poll::Ready(result);
        }
        self.now = None;
        let deadline = self.write_deadline();
        ready!(self.poll_expired(cx, deadline));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => {
                this.now = None;
                let came = buffer.filled().len() - before;
                if this.is_noise(came) {
                    this.ended = true;
                    return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
                }
                if came > 0 {
                    this.heads.begin_next();
                } else {
                    this.ended = true;
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => {
                this.ended = true;
                Poll::Ready(Err(error))
            }
            Poll::Pending if this.noise.is_some() => Poll::Pending,
            Poll::Pending => {
                let deadline = this.read_deadline();
                ready!(this.poll_expired(cx, deadline));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.now = None;
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.or_stalled(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // An answer without content is one piece, which is less work for the kernel.
        if let [only] = slices {
            return self.poll_write(cx, only);
        }
        let this = self.get_mut();
        this.now = None;
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.or_stalled(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(cx);
        this.or_stalled(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Future as _, poll_fn};
    use std::pin::pin;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn brief(head: u64, idle: u64) -> Timeouts {
        Timeouts {
            head: Duration::from_millis(head),
            idle: Duration::from_millis(idle),
            stall: Duration::from_millis(1),
        }
    }

    #[tokio::test]
    async fn gives_up_on_a_head_that_dribbles() {
        let (client, server) = duplex(64);
        let mut server = TimeoutStream::new(server, brief(20, 3_600_000), Heads::default());
        let dribble = async {
            let mut client = client;
            while client.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let read = async {
            let mut byte = [0];
            loop {
                if let Err(error) = server.read_exact(&mut byte).await {
                    break error;
                }
            }
        };
        tokio::select! {
            error = read => assert_eq!(error.kind(), io::ErrorKind::TimedOut),
            () = dribble => panic!("the server hung up without an error"),
        }
    }

    #[test]
    fn operators_have_seconds_whatever_the_public_has() {
        let long = brief(3_600_000, 3_600_000).of_operators();
        assert!(long.head <= Duration::from_secs(5) && long.idle <= Duration::from_secs(30));
        let short = brief(2, 3).of_operators();
        assert_eq!(short.head, Duration::from_millis(2));
        assert_eq!(short.idle, Duration::from_millis(3));
        assert_eq!(short.stall, Duration::from_millis(1));
    }

    #[tokio::test]
    async fn an_idle_connection_has_its_own_clock() {
        let (mut client, server) = duplex(64);
        let heads = Heads::default();
        let mut server = TimeoutStream::new(server, brief(3_600_000, 1), heads.clone());
        client.write_all(b"x").await.unwrap();
        server.read_u8().await.unwrap();
        heads.count(1);
        let error = server.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_time_from_before_the_last_bytes_does_not_count() {
        let (mut client, server) = duplex(64);
        let mut server = TimeoutStream::new(server, brief(10_000, 1), Heads::default());
        server.note_time(std::time::Instant::now() - server.timeouts.head);
        client.write_all(b"x").await.unwrap();
        server.read_u8().await.unwrap();
        let mut more = pin!(server.read_u8());
        let once = poll_fn(|cx| Poll::Ready(more.as_mut().poll(cx)));
        assert!(once.await.is_pending());
    }

    #[tokio::test]
    async fn gives_up_on_noise_and_counts_it_from_the_last_head() {
        let (mut client, server) = duplex(64);
        let heads = Heads::default();
        let mut server = TimeoutStream::new(server, brief(0, 0), heads.clone());
        server.allow_silence(8);
        for _ in 0..3 {
            client.write_all(b"8 bytes.").await.unwrap();
            server.read_exact(&mut [0; 8]).await.unwrap();
            heads.count(1);
        }
        client.write_all(b"9 bytes..").await.unwrap();
        let error = server.read_exact(&mut [0; 9]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn gives_up_on_a_client_that_takes_nothing() {
        let (_client, server) = duplex(4);
        let mut server = TimeoutStream::new(server, brief(1, 1), Heads::default());
        let error = server.write_all(b"more than four").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
