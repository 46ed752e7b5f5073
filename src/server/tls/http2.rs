//! HTTP/2 on one connection, for clients that chose it in the TLS handshake.
//!
//! Every answer here is small and made immediately, so a client needs few streams and small
//! windows, and one that sends much without a request is attacking. A connection is ended by GOAWAY
//! wherever HTTP/1.1 would send `Connection: close`. There are no pings to check whether a client
//! is alive: one that sends no request for long enough is closed either way.
//!
//! A client decides with its windows when it takes an answer, which is invisible to the socket. So
//! every answer has its own clock, from its request to the last byte buffered by the protocol. For
//! an answer with several pieces, the clock restarts whenever the protocol requests the next.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::CONNECTION;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::secured::Secured;
use crate::server::http::Content;
use crate::server::net::{
    Client as _, HEAD_BYTES, Heads, LAST_REQUEST, LINGER, Phase, Phases, Timeouts, linger,
};

/// How many requests may be under way at once.
///
/// RFC 9113 section 6.5.2 recommends no fewer than 100, so that slow answers are made in parallel.
/// No answer here is slow, and answers that a client requests but does not take are kept for it:
/// this many pages are the most that one connection can cost.
const STREAMS: u32 = 16;

/// How many bytes of content may be under way: the protocol's own default. Only hooks have any.
const WINDOW: u32 = 65_535;

/// How many streams may be opened and reset before they were processed (CVE-2023-44487).
const HASTY_RESETS: usize = 20;

/// How many streams may be reset because the client broke the rules on them, or refused because
/// there were too many: clients may begin 100 before they know [`STREAMS`], and retry those.
const RESETS: usize = 128;

/// How many bytes may arrive without a request: twice the largest hook. Bounds the cost of PING,
/// SETTINGS, PRIORITY, empty DATA and the like.
const NOISE: u64 = 2 << 20;

/// Serves one connection until either side ends it.
///
/// # Errors
///
/// Returns hyper's error for a client that broke the protocol or disconnected.
pub(super) async fn serve<F, A>(
    mut stream: Secured,
    heads: Heads,
    timeouts: Timeouts,
    mut phases: Phases,
    answer: F,
) -> hyper::Result<()>
where
    F: Fn(Request<Incoming>) -> A + Send + 'static,
    A: Future<Output = Response<Content>> + Send + 'static,
{
    stream.get_mut().0.allow_silence(NOISE);
    let mut io = TokioIo::new(stream);
    let asked = Arc::new(Notify::new());
    let last = Arc::new(Notify::new());
    let in_flight = Arc::new(InFlight::default());

    let service = {
        let (heads, asked) = (heads.clone(), Arc::clone(&asked));
        let (last, in_flight) = (Arc::clone(&last), Arc::clone(&in_flight));
        service_fn(move |request| {
            heads.count(1);
            asked.notify_one();
            let (last, held) = (Arc::clone(&last), Arc::new(in_flight.begin(heads.so_far())));
            let answer = answer(request);
            async move {
                let mut response = answer.await;
                // It has no meaning in HTTP/2 (RFC 9113 section 8.2.2), but its reason still
                // applies.
                if response.headers_mut().remove(CONNECTION).is_some() {
                    last.notify_one();
                }
                let mut is_first = true;
                let response = response.map(|body| {
                    body.map_frame(move |frame| {
                        if !std::mem::take(&mut is_first) {
                            held.begin_anew();
                        }
                        let _held = Arc::clone(&held);
                        frame.map_data(|bytes| Bytes::from_owner(HeldPiece { bytes, _held }))
                    })
                });
                Ok::<_, Infallible>(response)
            }
        })
    };

    let result = {
        let mut connection = pin!(builder().serve_connection(&mut io, service));
        let grace = tokio::select! {
            biased;
            result = connection.as_mut() => Err(result),
            () = phases.reached(Phase::Closing) => Ok(LAST_REQUEST),
            () = last.notified() => Ok(LINGER),
            () = silence(&asked, &in_flight, timeouts) => Ok(LINGER),
            () = stalled(&in_flight, timeouts.stall) => return Ok(()),
        };
        match grace {
            Err(result) => result,
            Ok(grace) => {
                // GOAWAY, which informs the client which requests will not be answered; then the
                // end, once the client has acknowledged it.
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    biased;
                    result = connection.as_mut() => result,
                    () = settled(&in_flight, &heads, grace, timeouts.stall) => return Ok(()),
                    () = phases.reached(Phase::Closed) => return Ok(()),
                }
            }
        }
    };
    let stream = io.inner_mut();
    if !stream.has_ended() {
        linger(stream).await;
    }
    result
}

fn builder() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        // Also bounds how many CONTINUATION frames a head may have (CVE-2024-27316).
        .max_header_list_size(HEAD_BYTES as u32)
        .max_pending_accept_reset_streams(HASTY_RESETS)
        .max_local_error_reset_streams(RESETS)
        .max_send_buf_size(WINDOW as usize);
    builder
}

/// Returns when a client has sent no request for too long, and waits for no answer.
async fn silence(asked: &Notify, in_flight: &InFlight, timeouts: Timeouts) {
    let mut limit = timeouts.head;
    while timeout(limit, asked.notified()).await.is_ok() || !in_flight.is_none() {
        limit = timeouts.idle;
    }
}

/// Returns when nothing is under way and nothing arrives, or when time is up.
///
/// A client that does not acknowledge the end may be a sleeping phone.
async fn settled(in_flight: &InFlight, heads: &Heads, grace: Duration, limit: Duration) {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        let before = heads.so_far();
        sleep(grace.min(limit)).await;
        if in_flight.is_none() && heads.so_far() == before {
            return;
        }
    }
}

/// Returns when a client has not taken an answer completely for too long, even if it took others.
async fn stalled(in_flight: &InFlight, limit: Duration) {
    loop {
        let now = Instant::now();
        // A later request cannot be overdue before `limit` from now.
        let overdue = in_flight.oldest().unwrap_or(now) + limit;
        if overdue <= now {
            return;
        }
        sleep_until(overdue).await;
    }
}

/// Requests whose answers are not yet fully written, by number, with the time when the request
/// arrived or the next piece of its answer was last requested.
#[derive(Default)]
struct InFlight(Mutex<BTreeMap<u64, Instant>>);

impl InFlight {
    fn begin(self: &Arc<Self>, number: u64) -> HeldRequest {
        self.requests().insert(number, Instant::now());
        HeldRequest {
            among: Arc::clone(self),
            number,
        }
    }

    fn is_none(&self) -> bool {
        self.requests().is_empty()
    }

    fn oldest(&self) -> Option<Instant> {
        self.requests().values().min().copied()
    }

    fn requests(&self) -> MutexGuard<'_, BTreeMap<u64, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight, until this is dropped.
struct HeldRequest {
    among: Arc<InFlight>,
    number: u64,
}

impl HeldRequest {
    fn begin_anew(&self) {
        self.among.requests().insert(self.number, Instant::now());
    }
}

impl Drop for HeldRequest {
    fn drop(&mut self) {
        self.among.requests().remove(&self.number);
    }
}

/// The content of an answer. It is dropped when all of it was written; hyper drops the body
/// earlier, as soon as the client's window takes one byte.
struct HeldPiece {
    bytes: Bytes,
    _held: Arc<HeldRequest>,
}

impl AsRef<[u8]> for HeldPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
