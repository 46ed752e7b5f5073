//! The rules of HTTP/2, one broken at a time.
//!
//! Each case says again what h2spec checks, under the number h2spec gives it: sections of RFC 7540,
//! and of RFC 7541 where it says HPACK.

use std::time::Duration;

use waypost::server::{Config, HookSecret, Timeouts};

use crate::frames::*;
use crate::secure::Secure;
use crate::support::quiet;

/// How a server must answer.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// By ending the connection, with GOAWAY and one of these codes if it says anything.
    Ends(&'static [u32]),
    /// By resetting the stream, or else by ending the connection.
    Resets(&'static [u32]),
    /// By serving it.
    Serves,
}

use Then::{Ends, Resets, Serves};

// The h2 crate names some errors only by the general code. The connection ends all the same.
const PROTOCOL: &[u32] = &[PROTOCOL_ERROR];
const CLOSED: &[u32] = &[STREAM_CLOSED, PROTOCOL_ERROR];
const SIZE: &[u32] = &[FRAME_SIZE_ERROR, PROTOCOL_ERROR];
const FLOW: &[u32] = &[FLOW_CONTROL_ERROR, PROTOCOL_ERROR];
const PACKED: &[u32] = &[COMPRESSION_ERROR, PROTOCOL_ERROR];

/// `:status: 302`, as RFC 7541 appendix C.6.1 packs it.
const FOUND: &[u8] = &[0x48, 0x82, 0x64, 0x02];

/// What a hook that is taken counts as.
const ACCEPTED: &str = "waypost_requests_total{outcome=\"page\"}";

/// A case: its number and name, what follows the client's greeting, and what must come of it.
type Case = (&'static str, Vec<Vec<u8>>, Then);

fn ok(stream: u32) -> Vec<u8> {
    request(stream, &get("/x"))
}

fn open(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &get("/x"))
}

/// A request whose head goes on.
fn begun(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM, stream, &get("/x"))
}

/// A request with further or other fields.
fn with(more: &[(&str, &str)]) -> Vec<u8> {
    request(1, &[get("/x"), fields(more)].concat())
}

fn only(these: &[(&str, &str)]) -> Vec<u8> {
    request(1, &fields(these))
}

fn raw(block: &[u8]) -> Vec<u8> {
    request(1, &[get("/x"), block.to_vec()].concat())
}

fn update(stream: u32, by: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes())
}

// One case a line.
#[rustfmt::skip]
fn frames_and_streams() -> Vec<Case> {
    let big = vec![0; 16_385];
    vec![
        ("3.5 a good start", vec![ok(1)], Serves),
        ("4.1 an unknown frame is ignored", vec![frame(0x16, 0, 0, b"12345678"), ok(1)], Serves),
        ("4.1 undefined flags are ignored", vec![frame(PING, 0x16, 0, &[0; 8]), ok(1)], Serves),
        ("4.2 DATA beyond the limit", vec![open(1), frame(DATA, END_STREAM, 1, &big)], Resets(SIZE)),
        ("4.2 HEADERS beyond the limit", vec![request(1, &big)], Ends(SIZE)),
        ("4.3 a header block that is none", vec![request(1, &[0xff; 12])], Ends(PACKED)),
        ("4.3 PRIORITY inside a header block", vec![begun(1), frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 9])], Ends(PROTOCOL)),
        ("4.3 HEADERS of another stream inside one", vec![begun(1), ok(3)], Ends(PROTOCOL)),
        ("5.1 idle: DATA", vec![frame(DATA, END_STREAM, 1, b"x")], Ends(PROTOCOL)),
        ("5.1 idle: RST_STREAM", vec![frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])], Ends(PROTOCOL)),
        ("5.1 idle: WINDOW_UPDATE", vec![update(1, 100)], Ends(PROTOCOL)),
        ("5.1 idle: CONTINUATION", vec![frame(CONTINUATION, END_HEADERS, 1, &get("/x"))], Ends(PROTOCOL)),
        ("5.1 half closed: DATA", vec![ok(1), frame(DATA, END_STREAM, 1, b"x")], Resets(CLOSED)),
        ("5.1 half closed: HEADERS", vec![ok(1), ok(1)], Resets(CLOSED)),
        ("5.1 half closed: CONTINUATION", vec![ok(1), frame(CONTINUATION, END_HEADERS, 1, &get("/x"))], Ends(CLOSED)),
        ("5.1 closed by reset: DATA", vec![open(1), frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]), frame(DATA, END_STREAM, 1, b"x")], Resets(CLOSED)),
        ("5.1 closed by reset: HEADERS", vec![open(1), frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]), ok(1)], Resets(CLOSED)),
        ("5.1.1 an even stream", vec![ok(2)], Ends(PROTOCOL)),
        ("5.1.1 a stream before the last", vec![ok(5), ok(3)], Ends(CLOSED)),
        ("5.4.1 a connection error ends it", vec![frame(PING, 0, 3, &[0; 8])], Ends(PROTOCOL)),
        ("5.5 an unknown frame inside a header block", vec![begun(1), frame(0x16, 0, 0, &[0; 8])], Ends(PROTOCOL)),
        ("6.1 DATA on stream 0", vec![frame(DATA, END_STREAM, 0, b"x")], Ends(PROTOCOL)),
        ("6.1 more padding than DATA", vec![open(1), frame(DATA, END_STREAM | PADDED, 1, b"\x06Test")], Ends(PROTOCOL)),
        ("6.2 HEADERS on stream 0", vec![ok(0)], Ends(PROTOCOL)),
        ("6.2 more padding than HEADERS", vec![frame(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, b"\xff\x82")], Ends(PROTOCOL)),
        ("6.2 padding and priority are stripped", vec![frame(HEADERS, END_STREAM | END_HEADERS | PADDED | PRIORITISED, 1, &[&[1, 0, 0, 0, 0, 9], &get("/x")[..], &[0]].concat())], Serves),
        ("6.3 PRIORITY on stream 0", vec![frame(PRIORITY, 0, 0, &[0, 0, 0, 1, 9])], Ends(PROTOCOL)),
        ("6.3 PRIORITY of another size", vec![open(1), frame(PRIORITY, 0, 1, &[0, 0, 0, 1])], Resets(SIZE)),
        ("6.4 RST_STREAM on stream 0", vec![frame(RST_STREAM, 0, 0, &[0, 0, 0, 8])], Ends(PROTOCOL)),
        ("6.4 RST_STREAM of another size", vec![open(1), frame(RST_STREAM, 0, 1, &[0; 3])], Ends(SIZE)),
    ]
}

// One case a line.
#[rustfmt::skip]
fn connection() -> Vec<Case> {
    vec![
        ("6.5 SETTINGS ACK with content", vec![frame(SETTINGS, ACK, 0, &[0; 6])], Ends(SIZE)),
        ("6.5 SETTINGS on a stream", vec![frame(SETTINGS, 0, 1, &[0, 3, 0, 0, 0, 100])], Ends(PROTOCOL)),
        ("6.5 SETTINGS of another size", vec![frame(SETTINGS, 0, 0, &[0, 3, 0])], Ends(SIZE)),
        ("6.5.2 ENABLE_PUSH of 2", vec![settings(&[(2, 2)])], Ends(PROTOCOL)),
        ("6.5.2 INITIAL_WINDOW_SIZE of 2^31", vec![settings(&[(4, 1 << 31)])], Ends(FLOW)),
        ("6.5.2 MAX_FRAME_SIZE of 2^14 - 1", vec![settings(&[(5, 16_383)])], Ends(PROTOCOL)),
        ("6.5.2 MAX_FRAME_SIZE of 2^24", vec![settings(&[(5, 1 << 24)])], Ends(PROTOCOL)),
        ("6.5.2 an unknown setting is ignored", vec![settings(&[(0xff, 1)]), ok(1)], Serves),
        ("6.7 PING on a stream", vec![frame(PING, 0, 1, &[0; 8])], Ends(PROTOCOL)),
        ("6.7 PING of another size", vec![frame(PING, 0, 0, &[0; 6])], Ends(SIZE)),
        ("6.7 PING ACK out of the blue is ignored", vec![frame(PING, ACK, 0, b"invalid!"), ok(1)], Serves),
        ("6.8 GOAWAY on a stream", vec![frame(GOAWAY, 0, 1, &[0; 8])], Ends(PROTOCOL)),
        ("6.9 WINDOW_UPDATE of 0", vec![update(0, 0)], Ends(PROTOCOL)),
        ("6.9 WINDOW_UPDATE of 0 on a stream", vec![open(1), update(1, 0)], Resets(PROTOCOL)),
        ("6.9 WINDOW_UPDATE of another size", vec![frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1])], Ends(SIZE)),
        ("6.9.1 a window beyond 2^31 - 1", vec![update(0, 0x7fff_ffff), update(0, 0x7fff_ffff)], Ends(FLOW)),
        ("6.9.1 a stream's window beyond 2^31 - 1", vec![settings(&[(4, 0)]), request(1, &get("/")), update(1, 0x7fff_ffff), update(1, 0x7fff_ffff)], Resets(FLOW)),
        ("6.10 CONTINUATION after END_HEADERS", vec![open(1), frame(CONTINUATION, END_HEADERS, 1, &get("/x"))], Ends(PROTOCOL)),
        ("6.10 CONTINUATION on stream 0", vec![begun(1), frame(CONTINUATION, END_HEADERS, 0, &fields(&[("a", "b")]))], Ends(PROTOCOL)),
        ("6.10 CONTINUATION after DATA", vec![begun(1), frame(DATA, END_STREAM, 1, b"x"), frame(CONTINUATION, END_HEADERS, 1, &[])], Ends(PROTOCOL)),
        ("6.10 CONTINUATION belongs to its HEADERS", vec![begun(1), frame(CONTINUATION, 0, 1, &fields(&[("a", "b")])), frame(CONTINUATION, END_HEADERS, 1, &fields(&[("c", "d")]))], Serves),
        ("7 RST_STREAM with an unknown code", vec![open(1), frame(RST_STREAM, 0, 1, &[0, 0, 0, 0xff]), ok(3)], Serves),
        ("8.2 PUSH_PROMISE by a client", vec![open(1), frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 3], &get("/x")[..]].concat())], Ends(PROTOCOL)),
    ]
}

// One case a line.
#[rustfmt::skip]
fn messages() -> Vec<Case> {
    vec![
        ("8.1 trailers that do not end the stream", vec![open(1), frame(HEADERS, END_HEADERS, 1, &fields(&[("x-test", "ok")]))], Resets(CLOSED)),
        ("8.1.2 a name in upper case", vec![with(&[("X-TEST", "ok")])], Resets(PROTOCOL)),
        ("8.1.2.1 an unknown pseudo-header", vec![with(&[(":test", "ok")])], Resets(PROTOCOL)),
        ("8.1.2.1 a pseudo-header of answers", vec![with(&[(":status", "200")])], Resets(PROTOCOL)),
        ("8.1.2.1 a pseudo-header after a field", vec![only(&[("x-test", "ok"), (":method", "GET"), (":scheme", "https"), (":path", "/x"), (":authority", "short.code")])], Resets(PROTOCOL)),
        ("8.1.2.1 a pseudo-header in trailers, which nobody reads", vec![open(1), frame(HEADERS, END_STREAM | END_HEADERS, 1, &fields(&[(":method", "GET")]))], Serves),
        ("8.1.2.2 a connection field", vec![with(&[("connection", "keep-alive")])], Resets(PROTOCOL)),
        ("8.1.2.2 transfer-encoding", vec![with(&[("transfer-encoding", "chunked")])], Resets(PROTOCOL)),
        ("8.1.2.2 te but trailers", vec![with(&[("te", "trailers, deflate")])], Resets(PROTOCOL)),
        ("8.1.2.2 te: trailers", vec![with(&[("te", "trailers")])], Serves),
        ("8.1.2.3 an empty :path", vec![request(1, &get(""))], Resets(PROTOCOL)),
        ("8.1.2.3 no :method", vec![only(&[(":scheme", "https"), (":path", "/x"), (":authority", "short.code")])], Resets(PROTOCOL)),
        ("8.1.2.3 no :scheme", vec![only(&[(":method", "GET"), (":path", "/x"), (":authority", "short.code")])], Resets(PROTOCOL)),
        ("8.1.2.3 no :path", vec![only(&[(":method", "GET"), (":scheme", "https"), (":authority", "short.code")])], Resets(PROTOCOL)),
        ("8.1.2.3 :method twice", vec![request(1, &[fields(&[(":method", "GET")]), get("/x")].concat())], Resets(PROTOCOL)),
        ("8.1.2.3 :scheme twice", vec![request(1, &[fields(&[(":scheme", "https")]), get("/x")].concat())], Resets(PROTOCOL)),
        ("8.1.2.3 :path twice", vec![request(1, &[fields(&[(":path", "/x")]), get("/x")].concat())], Resets(PROTOCOL)),
        ("HPACK 2.3.3 an index beyond the tables", vec![raw(&[0xff, 0x31])], Ends(PACKED)),
        ("HPACK 2.3.3 a name beyond the tables", vec![raw(b"\x7f\x31\x04test")], Ends(PACKED)),
        ("HPACK 4.2 a table resized at the end", vec![raw(&[0x20])], Ends(PACKED)),
        ("HPACK 5.2 Huffman padding of more than 7 bits", vec![raw(b"\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff")], Ends(PACKED)),
        ("HPACK 5.2 Huffman padding by zeros", vec![raw(b"\x00\x85\xf2\xb2\x4a\x87\xff\x83\x49\x50\x90")], Ends(PACKED)),
        ("HPACK 5.2 Huffman with its end symbol", vec![raw(b"\x00\x85\xf2\xb2\x4a\x84\xff\x87\x49\x51\xff\xff\xff\xfa\x7f")], Ends(PACKED)),
        ("HPACK 6.1 an index of 0", vec![raw(&[0x80])], Ends(PACKED)),
        ("HPACK 6.3 a table larger than allowed", vec![request(1, &[&[0x3f, 0xe2, 0x7f], &get("/x")[..]].concat())], Ends(PACKED)),
    ]
}

#[tokio::test]
async fn a_client_that_breaks_a_rule_gets_its_error_code() {
    // A server that ignores what it must not would fall silent.
    let silence = Timeouts {
        idle: Duration::from_secs(10),
        ..Timeouts::default()
    };
    let secure = Secure::start(Config {
        timeouts: silence,
        ..quiet()
    })
    .await;
    let cases = [frames_and_streams(), connection(), messages()].concat();
    let mut wrong = Vec::new();
    for (name, said, then) in cases {
        let mut wire = Wire::greeted(&secure).await;
        wire.say(&said.concat()).await;
        if let Err(heard) = holds(&mut wire, then).await {
            wrong.push(format!("{name}: {heard:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Reads until what must come has come; returns what came if it was not that.
async fn holds(wire: &mut Wire, then: Then) -> Result<(), Vec<Frame>> {
    let mut heard = Vec::new();
    while let Some(frame) = wire.hear().await {
        heard.push(frame.clone());
        let right = match (then, frame.kind) {
            (Ends(codes) | Resets(codes), GOAWAY) => codes.contains(&frame.code()),
            // An answer that came before the trouble is reset without an error.
            (Resets(codes), RST_STREAM) if frame.code() != NO_ERROR => {
                codes.contains(&frame.code())
            }
            (Serves, HEADERS) => frame.payload.starts_with(FOUND),
            (Serves, GOAWAY | RST_STREAM) => false,
            _ => continue,
        };
        return if right { Ok(()) } else { Err(heard) };
    }
    match then {
        Serves => Err(heard),
        Ends(_) | Resets(_) => Ok(()),
    }
}

/// A hook whose content is yet to come, with further fields.
fn hook(more: &[(&str, &str)]) -> Vec<u8> {
    let head = fields(&[
        (":method", "POST"),
        (":scheme", "https"),
        (":authority", "short.code"),
        (":path", "/-/hook"),
        ("x-gitlab-token", "secret"),
    ]);
    frame(HEADERS, END_HEADERS, 1, &[head, fields(more)].concat())
}

fn content(bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, 1, bytes)
}

fn end(bytes: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, 1, bytes)
}

#[tokio::test]
async fn where_content_is_read_its_rules_hold() {
    let secret = HookSecret::new("secret");
    let config = Config {
        hook: secret,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let trailers = |flags, block: &[u8]| frame(HEADERS, flags, 1, block);
    let length = &[("content-length", "5")][..];
    let test = fields(&[("x-test", "ok")]);
    for (name, said) in [
        (
            "8.1.2.6 less content than its length",
            vec![hook(length), end(b"four")],
        ),
        (
            "8.1.2.6 more content than its length",
            vec![hook(length), end(b"sixsix")],
        ),
        (
            "8.1.2.6 less in several frames",
            vec![hook(length), content(b"tw"), end(b"o")],
        ),
        (
            "8.1.2.6 more in several frames",
            vec![hook(length), content(b"two"), end(b"two")],
        ),
        (
            "8.1.2.6 no content but a length",
            vec![hook(length), trailers(END_STREAM | END_HEADERS, &test)],
        ),
        (
            "8.1 trailers that do not end the stream",
            vec![hook(&[]), content(b"test"), trailers(END_HEADERS, &test)],
        ),
    ] {
        let mut wire = Wire::greeted(&secure).await;
        wire.say(&said.concat()).await;
        let mut heard = Vec::new();
        let reset = loop {
            let frame = wire
                .hear()
                .await
                .unwrap_or_else(|| panic!("{name}: {heard:?}"));
            heard.push(frame.clone());
            match frame.kind {
                RST_STREAM | GOAWAY => break frame,
                _ => {}
            }
        };
        assert!(CLOSED.contains(&reset.code()), "{name}: {heard:?}");
    }
    // An answer in which a hook is refused may come first, but none of them was taken.
    assert_eq!(secure.server.metric(ACCEPTED).await, Some(0.0));
    // One that keeps to the rules is.
    let mut wire = Wire::greeted(&secure).await;
    wire.say(&[hook(length), end(b"fives")].concat()).await;
    assert!(wire.hear_a(HEADERS).await.is_some());
    assert_eq!(secure.server.metric(ACCEPTED).await, Some(1.0));
}

#[tokio::test]
async fn what_comes_after_an_early_answer_is_ignored() {
    let secure = Secure::start(quiet()).await;
    let head = fields(&[
        (":method", "POST"),
        (":scheme", "https"),
        (":authority", "short.code"),
        (":path", "/x"),
        ("content-length", "5"),
    ]);
    let posted = frame(HEADERS, END_HEADERS, 1, &head);
    let trailers = frame(HEADERS, END_HEADERS, 1, &fields(&[(":method", "GET")]));
    for (name, late) in [
        (
            "5.1 DATA after RST_STREAM",
            vec![frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]), end(b"x")],
        ),
        (
            "6.9.1 a stream's window beyond 2^31 - 1",
            vec![update(1, 0x7fff_ffff), update(1, 0x7fff_ffff)],
        ),
        (
            "8.1 trailers that do not end the stream",
            vec![content(b"x"), trailers],
        ),
        ("8.1.2.6 another length", vec![content(b"more than five")]),
    ] {
        let mut wire = Wire::greeted(&secure).await;
        wire.say(&posted).await;
        // RFC 9113 section 8.1: a whole answer, and then that no more of the request is wanted.
        let reset = wire.hear_a(RST_STREAM).await.unwrap();
        assert_eq!((reset.stream, reset.code()), (1, NO_ERROR), "{name}");
        // Section 5.1: what was on its way by then is ignored, and the next request is served.
        wire.say(&[late.concat(), ok(3)].concat()).await;
        let answer = wire.hear_a(HEADERS).await;
        let answer = answer.unwrap_or_else(|| panic!("{name}: no answer"));
        assert_eq!(answer.stream, 3, "{name}");
        assert!(answer.payload.starts_with(FOUND), "{name}");
    }
}

#[tokio::test]
async fn a_start_that_is_none_is_not_answered() {
    let secure = Secure::start(quiet()).await;
    for start in [
        &b"INVALID CONNECTION PREFACE\r\n\r\n"[..],
        b"GET /x HTTP/1.1\r\nHost: short.code\r\n\r\n",
    ] {
        let mut wire = Wire::open(&secure).await;
        wire.say(start).await;
        let heard = wire.hear_out().await;
        assert!(heard.iter().all(|frame| frame.kind != HEADERS), "{heard:?}");
    }
}

#[tokio::test]
async fn settings_and_pings_are_acknowledged() {
    let secure = Secure::start(quiet()).await;
    let mut wire = Wire::greeted(&secure).await;
    // h2spec 6.5.3 and 6.7.
    let acknowledged = async |wire: &mut Wire| loop {
        let settings = wire.hear_a(SETTINGS).await.unwrap();
        if settings.flags == ACK {
            return settings.payload;
        }
    };
    assert_eq!(acknowledged(&mut wire).await, b"");
    wire.say(&frame(PING, 0, 0, b"8 octets")).await;
    let pong = wire.hear_a(PING).await.unwrap();
    assert_eq!((pong.flags, &pong.payload[..]), (ACK, &b"8 octets"[..]));
}

#[tokio::test]
async fn more_streams_than_allowed_are_refused() {
    let secure = Secure::start(quiet()).await;
    let mut wire = Wire::greeted(&secure).await;
    // h2spec 5.1.2. With no window, the pages that are asked for cannot be sent.
    wire.say(&settings(&[(4, 0)])).await;
    for number in 0..=16 {
        wire.say(&request(2 * number + 1, &get("/"))).await;
    }
    let refused = wire.hear_a(RST_STREAM).await.unwrap();
    assert_eq!((refused.stream, refused.code()), (33, REFUSED_STREAM));
    // The others are served once they can be.
    wire.say(&settings(&[(4, 65_535)])).await;
    assert!(!wire.hear_a(DATA).await.unwrap().payload.is_empty());
}

#[tokio::test]
async fn who_began_many_streams_before_the_limit_was_known_may_ask_again() {
    let secure = Secure::start(quiet()).await;
    // As many as clients begin while they know nothing; none can be answered in full.
    let mut wire = Wire::open(&secure).await;
    let many = (0..100).flat_map(|number| request(2 * number + 1, &get("/robots.txt")));
    let start = [PREFACE, &settings(&[(4, 0)])].concat();
    wire.say(&start.into_iter().chain(many).collect::<Vec<_>>())
        .await;
    for number in 16..100 {
        let refused = wire.hear_a(RST_STREAM).await.unwrap();
        let expected = (2 * number + 1, REFUSED_STREAM);
        assert_eq!((refused.stream, refused.code()), expected);
    }
    wire.say(&settings(&[(4, 65_535)])).await;
    for _ in 0..16 {
        let page = wire.hear_a(DATA).await.unwrap();
        assert_eq!(page.flags & END_STREAM, END_STREAM);
    }
    wire.say(&request(201, &get("/x"))).await;
    let found = wire.hear_a(HEADERS).await.unwrap();
    assert_eq!(found.stream, 201);
    assert!(found.payload.starts_with(&[0x48, 0x82]));
}
