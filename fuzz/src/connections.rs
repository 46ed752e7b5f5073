//! Connections in memory, answered with and without the fast path.

use std::future::{Ready, ready};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::Builder;

use crate::mapping;
use crate::server::http::response_head::write_head;
use crate::server::http::{Content, Moment, PlainRequest, Refused, request};
use crate::server::net::{AnswersPlain, Lifecycle, NoFastPath, Timeouts, serve_plain};

/// Returns all that a server answers to a client that sends these bytes and then nothing more, without
/// the dates; whether plain requests are answered without hyper is the caller's choice.
pub fn answers(bytes: &[u8], has_fast_path: bool) -> String {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime needs nothing");
    let answers = runtime.block_on(async {
        let (mut client, server) = duplex(1 << 20);
        let (timeouts, lifecycle) = (Timeouts::default(), Lifecycle::default());
        let phases = lifecycle.phases();
        let serving = async {
            // An error is caused by the client.
            let _ = if has_fast_path {
                serve_plain(server, timeouts, phases, Plain, answer).await
            } else {
                serve_plain(server, timeouts, phases, NoFastPath, answer).await
            };
        };
        let asking = async {
            // The server may have closed already.
            let _ = client.write_all(bytes).await;
            let _ = client.shutdown().await;
            let mut answers = Vec::new();
            let _ = client.read_to_end(&mut answers).await;
            answers
        };
        tokio::join!(asking, serving).0
    });
    let answers = String::from_utf8_lossy(&answers);
    let lines = answers
        .split("\r\n")
        .filter(|line| !line.starts_with("Date: "));
    lines.collect::<Vec<_>>().join("\r\n")
}

/// Answers plain requests, but not those whose path has a `-`.
struct Plain;

impl AnswersPlain for Plain {
    fn is_on(&self) -> bool {
        true
    }

    fn answer(
        &self,
        request: &PlainRequest<'_, '_>,
        began: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Instant> {
        if request.path.contains('-') {
            return None;
        }
        let headers = request.headers();
        let headers = headers.expect("the fields of a plain request are fit for hyper");
        let (parts, content) = found(&request.asked(), headers.len(), request.is_head).into_parts();
        write_head(out, parts.status, &parts.headers, &Moment::at(began));
        out.extend_from_slice(&content.into_whole().expect("it is complete"));
        Some(began)
    }
}

fn answer(request: Request<Incoming>) -> Ready<Response<Content>> {
    let is_head = request.method() == Method::HEAD;
    ready(match request::read(&request) {
        Ok(asked) => found(&asked, request.headers().len(), is_head),
        Err(refused) => {
            let mut response = Response::new(Content::default());
            *response.status_mut() = match refused {
                Refused::BadRequest => StatusCode::BAD_REQUEST,
                Refused::Method => StatusCode::METHOD_NOT_ALLOWED,
            };
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
            response
        }
    })
}

/// Answers with what was read.
fn found(asked: &mapping::Request<'_>, fields: usize, is_head: bool) -> Response<Content> {
    // The media types are read only by hyper's way, to which links with variants are left.
    let mapping::Request {
        host, path, query, ..
    } = asked;
    let text = format!("{host:?} {path:?} {query:?}, {fields} fields\n");
    let length = HeaderValue::from(text.len());
    let text = if is_head { String::new() } else { text };
    let mut response = Response::new(Content::from(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}
