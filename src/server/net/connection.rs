//! One HTTP/1.1 connection, from its first request to its orderly end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use hyper::body::{Body as _, Incoming};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use super::client::{Client, HEAD_BYTES};
use super::fast_path::{AnswersPlain, FastPath, Left};
use super::phase::{Phase, Phases};
use super::timeouts::{Heads, TimeoutStream, Timeouts};
use crate::server::http::{BareLineFeed, Content, LineEnds, LineStream};

/// How long, once the server closes, an idle connection may still deliver a request that its client
/// sent before it could know.
pub(crate) const LAST_REQUEST: Duration = Duration::from_millis(250);

/// How many further bytes of a client are read and discarded, and for how long, so that its answer
/// arrives: closing a socket with unread bytes makes the kernel send a reset, which can overtake
/// the answer (RFC 9112 section 9.6).
const LINGER_BYTES: usize = 1024 * 1024;
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// Serves one connection without TLS until either side ends it.
///
/// # Errors
///
/// Returns hyper's error for a client that broke the protocol or disconnected.
pub(crate) fn serve_plain<F, A>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    timeouts: Timeouts,
    phases: Phases,
    plain: impl AnswersPlain,
    answer: F,
) -> impl Future<Output = hyper::Result<()>>
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Response<Content>> + Unpin,
{
    let heads = Heads::default();
    let client = TimeoutStream::new(stream, timeouts, heads.clone());
    serve_http1(client, heads, phases, plain, answer)
}

/// Speaks HTTP/1.1 with a client until either side ends it: `plain` answers requests as long as all
/// are plain, then `answer`.
///
/// # Errors
///
/// Returns hyper's error for a client that broke the protocol or disconnected.
pub(crate) async fn serve_http1<F, A>(
    mut client: impl Client,
    heads: Heads,
    mut phases: Phases,
    plain: impl AnswersPlain,
    answer: F,
) -> hyper::Result<()>
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Response<Content>> + Unpin,
{
    let left = if plain.is_on() {
        let mut path = FastPath::default();
        let mut closing = pin!(past(&mut phases, Phase::Closing, LAST_REQUEST));
        let mut is_closing = false;
        poll_fn(|cx| {
            let left = path.poll(cx, &mut client, &heads, &plain);
            if left.is_ready() || is_closing {
                return left;
            }
            ready!(closing.as_mut().poll(cx));
            is_closing = true;
            path.close();
            path.poll(cx, &mut client, &heads, &plain)
        })
        .await
    } else {
        Left::ToHyper(Vec::new())
    };
    match left {
        Left::Ended => Ok(()),
        // On the heap, so that connections on the fast path do not reserve space for it.
        Left::ToHyper(unread) => {
            Box::pin(serve_with_hyper(client, unread, heads, phases, answer)).await
        }
    }
}

/// Speaks HTTP/1.1 through hyper, which reads the bytes `unread` first.
async fn serve_with_hyper<F, A>(
    mut client: impl Client,
    unread: Vec<u8>,
    heads: Heads,
    mut phases: Phases,
    answer: F,
) -> hyper::Result<()>
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Response<Content>> + Unpin,
{
    let lines = &LineEnds::default();
    // Borrowed, because the future would reserve space for a moved value both before and after the
    // move.
    let io = TokioIo::new(LineStream::new(unread, &mut client, lines.clone()));
    let service = service_fn(|mut request: Request<Incoming>| {
        heads.count(1);
        let is_too_large = head_bytes(&request) > HEAD_BYTES;
        // Without content, what follows the head is the next one.
        if request.body().is_end_stream() && !lines.ends_in_empty_line() {
            heads.begin_next();
        }
        if lines.had_a_bare_feed() {
            request.extensions_mut().insert(BareLineFeed);
        }
        let mut answer = (!is_too_large).then(|| answer(request));
        poll_fn(move |cx| {
            let mut response = match &mut answer {
                Some(answer) => ready!(Pin::new(answer).poll(cx)),
                None => too_large(),
            };
            // It may have been in the content, which was read only now.
            if is_too_large || lines.had_a_bare_feed() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Poll::Ready(Ok::<_, Infallible>(response))
        })
    });

    let (result, lingers) = {
        let mut connection = pin!(builder().serve_connection(io, service));
        // Polled first, so that a request which has arrived is read before the end is noticed.
        tokio::select! {
            biased;
            result = connection.as_mut() => (result, true),
            () = past(&mut phases, Phase::Closing, LAST_REQUEST) => {
                let before = heads.so_far();
                // It would discard a part of a head, so it is called as soon as there is none.
                let closing = poll_fn(|cx| {
                    let ended = connection.as_mut().poll(cx);
                    if ended.is_pending() && !heads.has_begun_next() {
                        connection.as_mut().graceful_shutdown();
                        return connection.as_mut().poll(cx);
                    }
                    ended
                });
                tokio::select! {
                    biased;
                    result = closing => (result, heads.so_far() > before),
                    () = phases.reached(Phase::Closed) => return Ok(()),
                }
            }
        }
    };
    if lingers && !client.has_ended() {
        linger(&mut client).await;
    }
    result
}

/// Returns the size of a head in bytes, but for spaces around values.
///
/// hyper refuses a head that is incomplete at the limit, but reads up to twice as much at once.
fn head_bytes(request: &Request<Incoming>) -> usize {
    let target = request.uri().path_and_query();
    let target = target.map_or(0, |target| target.as_str().len());
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    let line = request.method().as_str().len() + target + "  HTTP/1.1\r\n".len();
    line + fields.sum::<usize>() + "\r\n".len()
}

/// Returns the answer of hyper to a head that is too large.
fn too_large() -> Response<Content> {
    let mut response = Response::new(Content::default());
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    response
}

/// Waits until a phase has lasted for a given time.
pub(crate) async fn past(phases: &mut Phases, begun: Phase, lasted: Duration) {
    phases.reached(begun).await;
    sleep(lasted).await;
}

/// Returns the settings that hyper serves a connection with.
///
/// Its own header timeout stays off: [`TimeoutStream`] has a finer one. Its limit of 100 headers
/// keeps its default, because setting it costs an allocation per request.
fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        // Names are case-insensitive, but some scripts look for "Location:".
        .title_case_headers(true)
        .max_buf_size(HEAD_BYTES);
    builder
}

/// Closes our side and waits for the client to close its own.
pub(crate) async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    // On the heap: in the future itself, every open connection would reserve it.
    let mut buffer = vec![0; 4096];
    let mut left = LINGER_BYTES;
    let rest = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            left = left.saturating_sub(read);
            if left == 0 {
                return;
            }
        }
    };
    // The socket is closed next, whether this timed out or not.
    let _ = timeout(LINGER, rest).await;
}
