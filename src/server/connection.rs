//! One connection, from its first request to its orderly end.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::lines::{BareLineFeed, LineStream, Lines};
use super::patience::{Heads, Patience, PatientStream};
use super::shutdown::{Phase, reached};

/// What a request head may weigh. Targets have at most 8 KiB, and query forwarding may bring as
/// much again; beyond it hyper answers 431.
const HEAD_BYTES: usize = 16 * 1024;

/// How long, once the server closes, an idle connection may still bring the request that its
/// client had sent before it could know.
const LAST_REQUEST: Duration = Duration::from_millis(250);

/// How much of what a client still sends is read and thrown away, and for how long, so that its
/// answer arrives: closing a socket with unread bytes in it makes the kernel send a reset, which
/// can overtake the answer (RFC 9112 section 9.6).
const LINGER_BYTES: usize = 1024 * 1024;
const LINGER: Duration = Duration::from_secs(2);

/// Serves one connection until either side ends it.
///
/// # Errors
///
/// Returns what hyper says of a client that broke the protocol or went away.
pub(super) async fn drive<F, A>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    patience: Patience,
    mut phase: watch::Receiver<Phase>,
    answer: F,
) -> hyper::Result<()>
where
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Response<Full<Bytes>>>,
{
    let heads = Heads::default();
    let lines = Lines::default();
    let stream = LineStream::new(stream, lines.clone());
    let mut io = TokioIo::new(PatientStream::new(stream, patience, heads.clone()));
    let service = service_fn(|mut request| {
        heads.count();
        let last = lines.had_a_bare_feed();
        if last {
            request.extensions_mut().insert(BareLineFeed);
        }
        let answer = answer(request);
        async move {
            let mut response = answer.await;
            if last {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });

    let (result, lingers) = {
        let mut connection = pin!(builder().serve_connection(&mut io, service));
        // Polled first, so that a request which has arrived is read before the end is noticed.
        let last_request = async {
            reached(&mut phase, Phase::Closing).await;
            sleep(LAST_REQUEST).await;
        };
        tokio::select! {
            biased;
            result = connection.as_mut() => (result, true),
            () = last_request => {
                let before = heads.so_far();
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    biased;
                    result = connection.as_mut() => (result, heads.so_far() > before),
                    () = reached(&mut phase, Phase::Closed) => return Ok(()),
                }
            }
        }
    };
    let stream = io.inner_mut();
    if lingers && !stream.has_ended() {
        linger(stream).await;
    }
    result
}

/// Returns how hyper is told to treat a connection.
///
/// Its own header timeout stays off: [`PatientStream`] has a finer one. Its limit of 100 headers
/// stays as it is, because setting it costs an allocation per request.
fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        // Names have no case, but scripts that look for "Location:" do.
        .title_case_headers(true)
        .max_buf_size(HEAD_BYTES);
    builder
}

/// Ends our side and waits for the client to end its own.
async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let mut buffer = [0; 4096];
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
    // Patience or not, the socket is closed next.
    let _ = timeout(LINGER, rest).await;
}
