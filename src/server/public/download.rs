//! Downloads: answers that are too large for memory, written in the background.
//!
//! A dump of a large table takes a second of CPU time and many megabytes of the client's bandwidth.
//! It is written piece by piece, a few pieces ahead of the client; so no redirect waits for it, and
//! it is never in memory as a whole. Only a few are written at once, each for a limited time, and
//! none for a client that stops reading: it would block the downloads of others.

use std::io::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderValue, RETRY_AFTER,
    VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout};

use crate::server::http::{Coding, Content, ContentPiece, coding, is_known, response};
use crate::server::net::Pace;
use crate::server::reload::begin;
use crate::server::state::DumpSlots;

/// How long a dump may take in all: for 100 MB, of which a fifth is sent, 35 kB a second is enough,
/// little more than the required pace.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The size of a piece in bytes, and how many pieces are written ahead.
const PIECE: usize = 64 * 1024;
const AHEAD: usize = 2;

/// The level of compression: the first one takes two thirds of the time, and 40 % more bytes.
const LEVEL: u32 = 2;

/// Something that can be downloaded.
pub(super) struct Download<W> {
    pub(super) media_type: HeaderValue,
    /// Its entity tag: weak, because compressed and uncompressed content share it.
    pub(super) tag: HeaderValue,
    /// Writes it, on a separate thread.
    pub(super) write: W,
}

impl<W> Download<W>
where
    W: FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
{
    /// Returns the answer to a request that reads it. Must be called within a runtime.
    pub(super) fn answer<B>(self, slots: &DumpSlots, request: &Request<B>) -> Response<Content> {
        let Self {
            media_type,
            tag,
            write,
        } = self;
        let coding = coding(request.headers());
        let mut response = Response::new(Content::default());
        let headers = response.headers_mut();
        let revalidate = HeaderValue::from_static("no-cache");
        headers.insert(CACHE_CONTROL, revalidate);
        headers.insert(VARY, ACCEPT_ENCODING.into());
        if is_known(request.headers(), &tag) {
            headers.insert(ETAG, tag);
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        headers.insert(ETAG, tag);
        headers.insert(CONTENT_TYPE, media_type);
        let nosniff = HeaderValue::from_static("nosniff");
        headers.insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        if coding == Coding::Gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if *request.method() == Method::GET {
            let Some(slot) = slots.take() else {
                return busy();
            };
            *response.body_mut() = begin_writing(coding, slot, write);
        }
        response
    }
}

fn busy() -> Response<Content> {
    let response = response::line(StatusCode::SERVICE_UNAVAILABLE);
    let response = response::with(response, CACHE_CONTROL, "no-store");
    response::with(response, RETRY_AFTER, "30")
}

/// Begins to write; returns the content, which is still being written.
fn begin_writing(
    coding: Coding,
    (permit, pace): (OwnedSemaphorePermit, Pace),
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Content {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let mut out = PieceWriter {
        sender,
        runtime: Handle::current(),
        deadline: Instant::now() + TIMEOUT,
        pace,
        budget: pace.budget,
        begun: Vec::new(),
    };
    begin(move || {
        let _permit = permit;
        // It fails if the client disconnects or is too slow, which is not an error of the server.
        let _ = match coding {
            Coding::Identity => write(&mut out).and_then(|()| out.end()),
            Coding::Gzip => {
                let mut packed = GzEncoder::new(&mut out, Compression::new(LEVEL));
                let written = write(&mut packed);
                written.and_then(|()| packed.finish()?.end())
            }
        };
    });
    Content::Pieces(receiver)
}

/// Collects output into pieces, and waits until the client takes each.
struct PieceWriter {
    sender: mpsc::Sender<ContentPiece>,
    runtime: Handle,
    deadline: Instant,
    pace: Pace,
    /// How long this may still wait for the client, until it takes another piece.
    budget: Duration,
    begun: Vec<u8>,
}

impl PieceWriter {
    fn end(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.send(ContentPiece::End)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let bytes = std::mem::replace(&mut self.begun, Vec::with_capacity(PIECE));
        if bytes.is_empty() {
            return Ok(());
        }
        self.send(ContentPiece::Bytes(Bytes::from(bytes)))
    }

    /// Sends a piece once there is room for it. Only this wait counts against the client: the time
    /// spent writing does not.
    fn send(&mut self, piece: ContentPiece) -> io::Result<()> {
        let began = Instant::now();
        let left = self.deadline.saturating_duration_since(began);
        let sending = timeout(left.min(self.budget), self.sender.send(piece));
        let Ok(Ok(())) = self.runtime.block_on(sending) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let budget = self.budget.saturating_sub(began.elapsed());
        self.budget = self.pace.budget.min(budget + self.pace.a_piece);
        Ok(())
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        if self.begun.len() >= PIECE {
            self.pass_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pace: Pace, sender: mpsc::Sender<ContentPiece>) -> PieceWriter {
        PieceWriter {
            sender,
            runtime: Handle::current(),
            deadline: Instant::now() + TIMEOUT,
            pace,
            budget: pace.budget,
            begun: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_given_up_on() {
        let (sender, _receiver) = mpsc::channel(AHEAD);
        let pace = Pace {
            budget: Duration::from_millis(5),
            a_piece: Duration::from_secs(3600),
        };
        let mut out = pieces(pace, sender);
        let writing = begin(move || (0..4).all(|_| out.write_all(&[0; PIECE]).is_ok()));
        assert!(!writing.await.unwrap());
    }

    #[tokio::test]
    async fn a_client_that_takes_a_little_now_and_then_is_given_up_on() {
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let pace = Pace {
            budget: Duration::from_millis(50),
            a_piece: Duration::ZERO,
        };
        let mut out = pieces(pace, sender);
        let writing = begin(move || {
            let mut written = 0;
            while out.write_all(&[0; PIECE]).is_ok() {
                written += 1;
            }
            written
        });
        // No single wait is as long as the budget, but together they are far longer.
        let mut taken = 0;
        while receiver.recv().await.is_some() {
            taken += 1;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(writing.await.unwrap(), taken);
    }

    #[tokio::test]
    async fn a_client_that_keeps_up_has_all_the_time_it_needs() {
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let pace = Pace {
            budget: Duration::from_secs(3600),
            a_piece: Duration::ZERO,
        };
        let mut out = pieces(pace, sender);
        let writing = begin(move || {
            for _ in 0..40 {
                out.write_all(&[0; PIECE])?;
            }
            out.end()
        });
        let mut bytes = 0;
        while let Some(ContentPiece::Bytes(piece)) = receiver.recv().await {
            bytes += piece.len();
        }
        assert_eq!(bytes, 40 * PIECE);
        assert!(writing.await.unwrap().is_ok());
    }
}
