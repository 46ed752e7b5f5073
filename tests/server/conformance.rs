//! HTTP/1.1 according to RFC 9112, in the cases of a public suite: those that llhttp, the parser of
//! Node.js, is tested with (<https://github.com/nodejs/llhttp>, `test/request/*.md`).
//!
//! They are written anew here as raw bytes for this server, each with the case that it is. llhttp
//! parses and answers nothing, so what is expected is what the RFC says, and whether a second
//! request, hidden after the first, is answered. Left out are cases of other protocols, of
//! llhttp's lenient modes, and of callbacks.

use crate::support::{Running, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n\
                     - {url: 'https://e.example/post', short-code: kept, status: 307}\n";

/// What comes back before the server closes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// These answers, in this order.
    Answers(&'static [u16]),
    /// One answer to the first request, after which nothing that follows counts as a request.
    OnlyFirst(u16),
}

use Expected::{Answers, OnlyFirst};

/// What is hidden behind a first request; answered only if the server takes it for a request.
pub(super) const NEXT: &str = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// The case, where llhttp has it, the bytes with `{next}` for [`NEXT`], and what comes back.
#[rustfmt::skip]
pub(super) const CASES: &[(&str, &str, &str, Expected)] = &[
    // Request lines.
    ("a simple request", "sample: simple request",
     "GET /x HTTP/1.1\r\nHost: a\r\nHeader1: Value1\r\nHeader2:\t Value2\r\n\r\n{next}", Answers(&[302, 302])),
    ("a method that begins with H", "sample: method starting with H",
     "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[302, 302])),
    ("empty lines before a request", "sample: line folding and CRLF before request line",
     "\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[302, 302])),
    ("a query with question marks", "uri: query URL with question mark in it",
     "GET /x?foo=bar?baz HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[302, 302])),
    ("a fragment in a target is dropped", "uri: fragment in URI",
     "GET /x?q=search#hey HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[302, 302])),
    ("a query alone", "uri: query URL with newline between host and query",
     "GET http://a?x=y HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[200, 302])),
    ("bytes beyond ASCII", "uri: UTF-8 in URI path",
     "GET /\u{3b4}\u{b6}/\u{3b4}t HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[404, 302])),
    ("another method", "method: REPORT",
     "REPORT /x HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[405, 302])),
    ("CONNECT", "method: CONNECT request",
     "CONNECT a:443 HTTP/1.0\r\nHost: a\r\n\r\n", OnlyFirst(405)),
    ("a method nobody knows", "invalid: invalid method",
     "MKCOLA /x HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[405, 302])),
    ("a method of signs", "invalid: invalid method",
     "G@T /x HTTP/1.1\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a protocol of radios", "invalid: ICE protocol and GET method",
     "GET /x ICE/1.0\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("no protocol at all", "invalid: ICE protocol, but not really",
     "GET /x IHTTP/1.0\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a protocol of films", "invalid: RTSP protocol and PUT method",
     "PUT /x RTSP/1.0\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a version to come", "invalid: invalid HTTP version",
     "GET /x HTTP/5.6\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("no version", "sample: no HTTP version",
     "GET /x\r\n\r\n{next}", OnlyFirst(400)),
    ("a space in the target", "uri: space in URI",
     "GET /x y HTTP/1.1\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a control character in the target", "uri: disallow tab in URI in strict mode",
     "GET /x\ty HTTP/1.1\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a form feed in the target", "uri: disallow form-feed in URI in strict mode",
     "GET /x\u{c}y HTTP/1.1\r\nHost: a\r\n\r\n{next}", OnlyFirst(400)),
    // Line ends and field names.
    ("a carriage return in a field", "invalid: headers separated by CR",
     "GET /x HTTP/1.1\r\nHost: a\r\nFoo: 1\rBar: 2\r\n\r\n{next}", OnlyFirst(400)),
    ("a bare line feed that brings a coding", "invalid: headers separated by LF",
     "POST /kept HTTP/1.1\r\nHost: a\r\nx:x\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n{next}", OnlyFirst(307)),
    ("a bare line feed that brings a length", "invalid: missing CR between headers",
     "GET /x HTTP/1.1\r\nHost: a\r\nDummy: x\nContent-Length: 23\r\n\r\nGET / HTTP/1.1\r\nDummy: {next}", OnlyFirst(302)),
    ("a bare line feed that brings a field", "invalid: missing CR between headers",
     "GET /x HTTP/1.1\r\nHost: a\r\nDummy: x\nFoo: bar\r\n\r\n{next}", OnlyFirst(400)),
    ("a head that ends in a bare line feed", "invalid: missing CR between headers",
     "GET /x HTTP/1.1\r\nHost: a\r\n\n{next}", OnlyFirst(400)),
    ("line feeds only", "invalid: only LFs present",
     "POST /kept HTTP/1.1\nHost: a\nFoo: abc\n\n{next}", OnlyFirst(400)),
    ("line feeds only, with chunks", "invalid: only LFs present",
     "POST /kept HTTP/1.1\nHost: a\nTransfer-Encoding: chunked\n\n1\nA\n0\n\n{next}", OnlyFirst(307)),
    ("an end that is none", "invalid: headers separated by dummy characters",
     "GET /x HTTP/1.1\r\nHost: a\r\n\rZGET /evil: HTTP/1.1\r\nHost: a\r\n\r\n", OnlyFirst(400)),
    ("an empty field that hides a coding", "invalid: empty headers separated by CR",
     "POST /x HTTP/1.1\r\nHost: a\r\nx:\rTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n{next}", OnlyFirst(400)),
    ("an empty field before a bare line feed", "invalid: empty headers separated by LF",
     "POST /kept HTTP/1.1\r\nHost: a\r\nx:\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n{next}", OnlyFirst(307)),
    ("a name of signs", "invalid: invalid header token #1",
     "GET /x HTTP/1.1\r\nHost: a\r\nFo@: Failure\r\n\r\n{next}", OnlyFirst(400)),
    ("a control character in a name", "invalid: invalid header token #2",
     "GET /x HTTP/1.1\r\nHost: a\r\nFoo\u{1}test: Bar\r\n\r\n{next}", OnlyFirst(400)),
    ("no name", "invalid: invalid header token #3",
     "GET /x HTTP/1.1\r\nHost: a\r\n: Bar\r\n\r\n{next}", OnlyFirst(400)),
    ("a folded name", "invalid: illegal header field name line folding",
     "GET /x HTTP/1.1\r\nHost: a\r\nname\r\n : value\r\n\r\n{next}", OnlyFirst(400)),
    ("a name with a line end in it", "invalid: corrupted Connection header",
     "GET /x HTTP/1.1\r\nHost: a\r\nConnection\r\u{1b}eep-Alive\r\n\r\n{next}", OnlyFirst(400)),
    ("a space before the first field", "invalid: invalid space after start line",
     "GET /x HTTP/1.1\r\n Host: a\r\n\r\n{next}", OnlyFirst(400)),
    ("a folded field that hides a length", "invalid: spaces before headers",
     "POST /x HTTP/1.1\r\nHost: a\r\nFoo: bar\r\n Content-Length: 38\r\n\r\n{next}", OnlyFirst(400)),
    ("a space before the colon", "sample: no space before colon",
     "GET /x HTTP/1.1\r\nHost : a\r\n\r\n{next}", OnlyFirst(400)),
    // Content-Length.
    ("zeros before a length", "content-length: with zeroes",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 003\r\n\r\nabc{next}", Answers(&[405, 302])),
    ("a length that overflows", "content-length: error on overflow",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000000000000\r\n\r\n{next}", OnlyFirst(400)),
    ("two lengths", "content-length: error on duplicate",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{next}", OnlyFirst(400)),
    ("a length and another coding", "content-length: simultaneous with Transfer-Encoding: identity",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: identity\r\n\r\n{next}", OnlyFirst(400)),
    ("a length and chunks", "content-length: simultaneous with Transfer-Encoding",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{next}", OnlyFirst(405)),
    ("chunks and a length", "transfer-encoding: POST with Transfer-Encoding and Content-Length",
     "POST /kept HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{next}", OnlyFirst(307)),
    ("a name in other cases", "content-length: funky Content-Length with body",
     "GET /x HTTP/1.1\r\nHost: a\r\nconTENT-Length: 5\r\n\r\nHELLO{next}", Answers(&[302, 302])),
    ("spaces around a length", "content-length: spaces (surrounding)",
     "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length:  3 \r\n\r\nabc{next}", Answers(&[405, 302])),
    ("a space in a length", "content-length: spaces #2",
     "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4 2\r\n\r\n{next}", OnlyFirst(400)),
    ("two numbers in a length", "content-length: spaces #3",
     "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 13 37\r\n\r\n{next}", OnlyFirst(400)),
    ("an empty length", "content-length: empty",
     "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n{next}", OnlyFirst(400)),
    ("a carriage return in place of the dash", "content-length: CR instead of dash",
     "PUT /x HTTP/1.1\r\nHost: a\r\nContent\rLength: 003\r\n\r\nabc{next}", OnlyFirst(400)),
    // Transfer-Encoding.
    ("an empty coding and a length", "transfer-encoding: empty with Content-Length",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\nhello{next}", OnlyFirst(400)),
    ("several empty codings", "transfer-encoding: empty with Content-Length (lenient)",
     "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nTransfer-Encoding:\r\nTransfer-Encoding:\r\n\r\n2\r\nAA\r\n0\r\n{next}", OnlyFirst(400)),
    ("chunks", "transfer-encoding: chunks with lowercase size",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n{next}", Answers(&[405, 302])),
    ("chunks, in capitals", "transfer-encoding: chunks with uppercase size",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n{next}", Answers(&[405, 302])),
    // Content is not accepted: more than one chunk of it ends the connection.
    ("two chunks", "transfer-encoding: two chunks and triple zero prefixed end chunk",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n000\r\n\r\n{next}", OnlyFirst(405)),
    ("trailers", "transfer-encoding: trailing headers",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nVary: *\r\n\r\n{next}", Answers(&[405, 302])),
    ("chunk extensions", "transfer-encoding: chunk extensions",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a;b=c\r\nhello\r\n0\r\n\r\n{next}", Answers(&[405, 302])),
    ("extensions without a semicolon", "transfer-encoding: no semicolon before chunk extensions",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2 erfrferferf\r\naa\r\n0 rrrr\r\n\r\n{next}", OnlyFirst(405)),
    ("a coding that is none", "transfer-encoding: ignoring pigeons",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: pigeons\r\n\r\n{next}", OnlyFirst(400)),
    ("chunks that are deflated", "transfer-encoding: chunked before other coding names",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, deflate\r\n\r\nWorld{next}", OnlyFirst(400)),
    ("chunks that are deflated, in two fields", "transfer-encoding: chunked and duplicate",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: deflate\r\n\r\nWorld{next}", OnlyFirst(400)),
    ("a coding before chunks", "transfer-encoding: chunked as last",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: deflate, chunked\r\n\r\n5\r\nWorld\r\n0\r\n\r\n{next}", OnlyFirst(400)),
    ("a coding before chunks, in two fields", "transfer-encoding: chunked as last (multiple headers)",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nWorld\r\n0\r\n\r\n{next}", OnlyFirst(400)),
    ("chunkedchunked", "transfer-encoding: chunkedchunked",
     "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunkedchunked\r\n\r\n5\r\nWorld\r\n0\r\n\r\n{next}", OnlyFirst(400)),
    ("no last chunk", "transfer-encoding: missing last-chunk",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n\r\n{next}", OnlyFirst(405)),
    ("a line feed after a size", "transfer-encoding: validate chunk parameters",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3 \n  \r\nfoo\r\n0\r\n\r\n{next}", OnlyFirst(405)),
    ("a folded coding", "transfer-encoding: invalid OBS fold after chunked value",
     "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n  abc\r\n\r\n5\r\nWorld\r\n0\r\n\r\n{next}", OnlyFirst(400)),
    ("a chunk size that does not end", "transfer-encoding: chunk header not terminated by CRLF",
     "GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\r;ABCD\r\n34\r\nE\r\n0\r\n\r\n{next}", OnlyFirst(302)),
    ("a chunk that does not end", "transfer-encoding: chunk data not terminated by CRLF",
     "GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nABCDE0\r\n\r\n{next}", OnlyFirst(302)),
    // Connections.
    ("a last request", "connection: CRLF between requests, explicit close",
     "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n{next}", OnlyFirst(302)),
    ("a last request among other tokens", "connection: multiple tokens with folding and close",
     "GET /x HTTP/1.1\r\nHost: a\r\nConnection: foo, close\r\n\r\n{next}", OnlyFirst(302)),
    ("HTTP/1.0", "connection: no restriction when keep-alive is not set",
     "GET /x HTTP/1.0\r\n\r\n{next}", OnlyFirst(302)),
    ("empty lines between requests", "connection: CRLF between requests, implicit keep-alive",
     "GET /x HTTP/1.1\r\nHost: a\r\n\r\n\r\n\r\n{next}", Answers(&[302, 302])),
    ("an upgrade that is not known", "connection: upgrade",
     "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: example\r\n\r\n{next}", Answers(&[302, 302])),
    ("two requests at once", "pipelining: should parse multiple events",
     "GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n{next}", Answers(&[302, 404, 302])),
];

/// Returns the statuses of all answers; none of them has a body that could hold another.
fn statuses(replies: &str) -> Vec<u16> {
    let lines = replies.split("HTTP/1.").skip(1);
    lines.map(|line| line[2..5].parse().unwrap()).collect()
}

#[tokio::test]
async fn requests_end_where_the_rfc_says() {
    let server = Running::start(TABLE).await;
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for (name, case, bytes, expected) in CASES {
        let bytes = bytes.replace("{next}", NEXT);
        // The server closes: after the last request, or where it cannot go on.
        let replies = server.say(&bytes).await.to_string();
        let found = statuses(&replies);
        answers += found.len();
        let right = match expected {
            Answers(statuses) => found == *statuses,
            OnlyFirst(status) => found == [*status],
        };
        if !right {
            wrong.push(format!("{name} ({case}): {expected:?}, but {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Those that hyper refuses are counted when their connections end.
    until(async || server.metric("waypost_connections").await == Some(0.0)).await;
    assert_eq!(server.counted().await, answers as f64);
}
