//! HTTP/2 as its clients see it: answers, limits, timeouts, and the orderly end of connections.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::header::{COOKIE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, body::Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use waypost::server::{Config, HookSecret, Signal, Timeouts};

use crate::frames::*;
use crate::secure::{Secure, TABLE};
use crate::support::{FOREVER, quiet, soon, until};

pub(crate) async fn client(secure: &Secure) -> SendRequest<Empty<Bytes>> {
    let stream = secure.connect(&[b"h2"]).await;
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

pub(crate) fn asking(method: Method, url: &str) -> Request<Empty<Bytes>> {
    let request = Request::builder().method(method).uri(url);
    request.body(Empty::new()).unwrap()
}

pub(crate) async fn ask(
    sender: &mut SendRequest<Empty<Bytes>>,
    request: Request<Empty<Bytes>>,
) -> Response<Incoming> {
    soon(sender.ready()).await.unwrap();
    soon(sender.send_request(request)).await.unwrap()
}

fn with_timeouts(head: Duration, idle: Duration, stall: Duration) -> Config {
    Config {
        timeouts: Timeouts { head, idle, stall },
        ..quiet()
    }
}

const BRIEF: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_link_is_followed_and_many_at_once() {
    let secure = Secure::start(quiet()).await;
    let mut sender = client(&secure).await;
    let answer = ask(&mut sender, asking(Method::GET, "https://short.code/x")).await;
    assert_eq!(answer.status(), StatusCode::FOUND);
    assert_eq!(answer.headers()["location"], "https://e.example/");
    assert_eq!(answer.headers()["cache-control"], "public, max-age=60");
    assert!(!answer.headers().contains_key("connection"));

    let mut answers = Vec::new();
    for number in 0..50 {
        let url = format!(
            "https://short.code/{}",
            if number % 2 == 0 { "x" } else { "y" }
        );
        soon(sender.ready()).await.unwrap();
        answers.push(sender.send_request(asking(Method::GET, &url)));
    }
    for (number, answer) in answers.into_iter().enumerate() {
        let status = soon(answer).await.unwrap().status();
        assert_eq!(status.as_u16(), if number % 2 == 0 { 302 } else { 404 });
    }
    let counted = "waypost_requests_total{outcome=\"redirect\"}";
    assert_eq!(secure.server.metric(counted).await, Some(26.0));
}

#[tokio::test]
async fn a_head_is_a_get_without_content() {
    let another = "base_url: https://another.example/\nmapping: []\n";
    let config = Config {
        hook: HookSecret::new("secret"),
        ..quiet()
    };
    let secure = Secure::with_tables(config, &[TABLE, another]).await;
    let mut sender = client(&secure).await;
    for (url, status) in [
        ("https://short.code/-/hook", 405),
        ("https://short.code/", 200),
        ("https://short.code/x", 302),
        ("https://short.code/x+", 200),
        ("https://short.code/y", 404),
        ("https://short.code/-/y", 404),
        ("https://short.code/healthz", 200),
        ("https://short.code/robots.txt", 200),
        ("https://short.code/favicon.ico", 200),
        ("https://other.example/x", 421),
    ] {
        let get = ask(&mut sender, asking(Method::GET, url)).await;
        let head = ask(&mut sender, asking(Method::HEAD, url)).await;
        assert_eq!(get.status(), status, "{url}");
        let undated = |answer: &Response<Incoming>| {
            let mut headers = answer.headers().clone();
            headers.remove("date");
            (answer.status(), headers)
        };
        assert_eq!(undated(&get), undated(&head), "{url}");
        let length: usize = head.headers()["content-length"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(get.collect().await.unwrap().to_bytes().len(), length);
        assert_eq!(head.collect().await.unwrap().to_bytes().len(), 0, "{url}");
    }
}

/// Returns the status of the answer to a request with these fields, `None` if it was reset.
async fn status_of(secure: &Secure, these: &[(&str, &str)]) -> Option<u16> {
    let mut wire = Wire::greeted(secure).await;
    wire.say(&request(1, &fields(these))).await;
    while let Some(frame) = wire.hear().await {
        match (frame.kind, &frame.payload[..]) {
            // What RFC 7541 packs these statuses to.
            (HEADERS, [0x48, 0x82, 0x64, 0x02, ..]) => return Some(302),
            (HEADERS, [0x8c, ..]) => return Some(400),
            (HEADERS, other) => panic!("another status: {other:x?}"),
            (RST_STREAM, _) => return None,
            _ => {}
        }
    }
    None
}

#[tokio::test]
async fn the_host_is_the_authority_and_nothing_may_differ_from_it() {
    let secure = Secure::start(quiet()).await;
    let with = |authority: Option<&'static str>, host: Option<&'static str>| {
        let mut fields = vec![(":method", "GET"), (":scheme", "https"), (":path", "/x")];
        fields.extend(authority.map(|value| (":authority", value)));
        fields.extend(host.map(|value| ("host", value)));
        fields
    };
    for (authority, host, expected) in [
        (Some("short.code"), None, Some(302)),
        (Some("short.code"), Some("SHORT.code:443"), Some(302)),
        (None, Some("short.code"), Some(302)),
        (Some("short.code"), Some("evil.example"), Some(400)),
        (Some("short.code:444"), Some("short.code"), Some(400)),
        (Some("user@short.code"), None, Some(400)),
        (None, Some("user@short.code"), Some(400)),
        (None, None, Some(400)),
        (Some("short.code/evil"), None, None),
        (Some("short code"), None, None),
    ] {
        let found = status_of(&secure, &with(authority, host)).await;
        assert_eq!(found, expected, "{authority:?} {host:?}");
    }
    let odd = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "x"),
    ];
    assert_ne!(status_of(&secure, &odd).await, Some(302));
}

#[tokio::test]
async fn thousands_of_streams_reset_at_once_end_the_connection() {
    let secure = Secure::start(quiet()).await;
    let mut wire = Wire::greeted(&secure).await;
    let mut flood = Vec::new();
    for number in 0..5000_u32 {
        flood.extend(request(2 * number + 1, &get("/x")));
        flood.extend(frame(RST_STREAM, 0, 2 * number + 1, &8_u32.to_be_bytes()));
    }
    let (reader, mut writer) = tokio::io::split(wire.0);
    let writing = tokio::spawn(async move {
        let _ = writer.write_all(&flood).await;
        writer
    });
    wire.0 = reader.unsplit(soon(writing).await.unwrap());
    let last = wire.hear_a(GOAWAY).await.unwrap();
    assert_eq!(last.code(), ENHANCE_YOUR_CALM);
    let counted = "waypost_requests_total{outcome=\"redirect\"}";
    assert!(secure.server.metric(counted).await < Some(5000.0));
    assert_eq!(
        status_of(
            &secure,
            &[
                (":method", "GET"),
                (":scheme", "https"),
                (":authority", "short.code"),
                (":path", "/x"),
            ]
        )
        .await,
        Some(302)
    );
}

#[tokio::test]
async fn a_head_without_end_ends_the_connection() {
    let secure = Secure::start(quiet()).await;
    let mut wire = Wire::greeted(&secure).await;
    wire.say(&frame(HEADERS, END_STREAM, 1, &get("/x"))).await;
    let more = frame(CONTINUATION, 0, 1, &fields(&[("a", "b")]));
    let mut sent = 0;
    while soon(wire.0.write_all(&more)).await.is_ok() {
        soon(wire.0.flush()).await.ok();
        sent += more.len();
        // More than sockets hold, in case the server gets no turn on a busy machine.
        assert!(sent < 1 << 23, "the server takes it all");
    }
    // With nothing said, or with GOAWAY, but never with an answer.
    let heard = wire.hear_out().await;
    assert!(heard.iter().all(|frame| frame.kind != HEADERS), "{heard:?}");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let secure = Secure::start(quiet()).await;
    let mut wire = Wire::greeted(&secure).await;
    let field = ("a".repeat(60), "b".repeat(60));
    let many: Vec<_> = (0..120).map(|_| (&*field.0, &*field.1)).collect();
    let block = [get("/x"), fields(&many)].concat();
    let (first, rest) = block.split_at(10_000);
    wire.say(&frame(HEADERS, END_STREAM, 1, first)).await;
    wire.say(&frame(CONTINUATION, END_HEADERS, 1, rest)).await;
    while let Some(frame) = wire.hear().await {
        // 431 is in no table of HPACK's; 302 would begin like this.
        let found = frame.kind == HEADERS && frame.payload.starts_with(&[0x48, 0x82, 0x64, 0x02]);
        assert!(!found);
        if matches!(frame.kind, HEADERS | RST_STREAM | GOAWAY) {
            return;
        }
    }
}

/// Returns a request with this many fields besides its cookies.
fn with_fields(number: usize, cookies: usize) -> Request<Empty<Bytes>> {
    let mut request = asking(Method::GET, "https://short.code/x");
    let headers = request.headers_mut();
    for number in 0..number {
        headers.append(
            HeaderName::try_from(format!("x-{number}")).unwrap(),
            HeaderValue::from_static("1"),
        );
    }
    for _ in 0..cookies {
        headers.append(COOKIE, HeaderValue::from_static("a=b"));
    }
    request
}

#[tokio::test]
async fn a_request_with_too_many_fields_is_refused_and_counted() {
    let secure = Secure::start(quiet()).await;
    let mut sender = client(&secure).await;
    // Cookies are one field, however a client sends them.
    for (fields, cookies) in [(100, 0), (99, 50)] {
        let answer = ask(&mut sender, with_fields(fields, cookies)).await;
        assert_eq!(answer.status(), StatusCode::FOUND);
    }
    for (fields, cookies) in [(101, 0), (300, 0), (100, 50)] {
        let mut sender = client(&secure).await;
        let answer = ask(&mut sender, with_fields(fields, cookies)).await;
        assert_eq!(answer.status(), 431);
        answer.collect().await.unwrap();
        // It is the connection's last.
        until(async || sender.is_closed()).await;
    }
    let counted = "waypost_requests_total{outcome=\"bad_request\"}";
    assert_eq!(secure.server.metric(counted).await, Some(3.0));
}

/// Sends the same until the server ends the connection; returns how many bytes that took.
async fn flood(secure: &Secure, same: &[u8]) -> usize {
    let wire = Wire::greeted(secure).await;
    let (mut reader, mut writer) = tokio::io::split(wire.0);
    let reading = tokio::spawn(async move {
        tokio::io::copy(&mut reader, &mut tokio::io::sink())
            .await
            .ok();
    });
    let many = same.repeat(1000);
    let mut sent = 0;
    while soon(writer.write_all(&many)).await.is_ok() && soon(writer.flush()).await.is_ok() {
        sent += many.len();
    }
    soon(reading).await.unwrap();
    sent
}

#[tokio::test]
async fn floods_of_what_is_no_request_are_bounded() {
    let config = with_timeouts(FOREVER * 2, FOREVER * 2, FOREVER * 2);
    let secure = Secure::start(config).await;
    for (name, same) in [
        ("PING", frame(PING, 0, 0, &[0; 8])),
        ("SETTINGS", settings(&[])),
        (
            "SETTINGS with something in it",
            settings(&[(4, 1), (4, 65_535), (1, 0), (1, 4096)]),
        ),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9])),
        ("WINDOW_UPDATE", frame(0x16, 0, 0, &[0; 64])),
    ] {
        let sent = flood(&secure, &same).await;
        // What the server reads, and what sockets hold of it.
        assert!(sent < 32 << 20, "{name}: {sent} bytes");
    }
}

#[tokio::test]
async fn a_client_that_takes_no_answer_is_given_up_on() {
    let secure = Secure::start(with_timeouts(FOREVER * 2, FOREVER * 2, BRIEF)).await;
    let mut wire = Wire::greeted(&secure).await;
    // Pings require pongs, which the client does not read.
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(1000);
    soon(async { while wire.0.write_all(&pings).await.is_ok() {} }).await;

    // It reads the socket, but opens no window for what it asked.
    let config = with_timeouts(FOREVER * 2, BRIEF, BRIEF);
    let secure = Secure::start(config).await;
    let mut wire = Wire::greeted(&secure).await;
    wire.say(&settings(&[(4, 0)])).await;
    wire.say(&request(1, &get("/"))).await;
    let heard = wire.hear_out().await;
    assert!(heard.iter().all(|frame| frame.kind != DATA), "{heard:?}");
}

#[tokio::test]
async fn an_answer_that_is_not_taken_ends_a_connection_that_is_busy() {
    let secure = Secure::start(with_timeouts(FOREVER * 2, FOREVER * 2, BRIEF * 5)).await;
    // No window at all, and one that has room for the first byte only.
    for window in [0, 1] {
        let mut wire = Wire::greeted(&secure).await;
        wire.say(&settings(&[(4, window)])).await;
        wire.say(&request(1, &get("/"))).await;
        // It asks on, and is answered: what needs no window is done at once.
        let (mut reader, mut writer) = tokio::io::split(wire.0);
        let asking = tokio::spawn(async move {
            for number in 1.. {
                let more = request(2 * number + 1, &get("/x"));
                if writer.write_all(&more).await.is_err() || writer.flush().await.is_err() {
                    return number;
                }
                tokio::time::sleep(BRIEF / 20).await;
            }
            0
        });
        soon(tokio::io::copy(&mut reader, &mut tokio::io::sink()))
            .await
            .ok();
        assert!(soon(asking).await.unwrap() > 5, "{window}");
    }
}

#[tokio::test]
async fn answers_that_are_taken_do_not_end_a_connection() {
    // Long enough for any one answer on a busy machine, and less than all of them take together.
    let secure = Secure::start(with_timeouts(FOREVER * 2, FOREVER * 2, BRIEF * 10)).await;
    let mut sender = client(&secure).await;
    for _ in 0..10 {
        let page = ask(&mut sender, asking(Method::GET, "https://short.code/")).await;
        assert!(!page.collect().await.unwrap().to_bytes().is_empty());
        tokio::time::sleep(BRIEF + BRIEF / 4).await;
    }
}

#[tokio::test]
async fn a_dump_may_take_its_time() {
    // Less than all of it takes, by far, and longer than any piece.
    let config = with_timeouts(FOREVER * 2, BRIEF, BRIEF * 10);
    let entry =
        |number| format!("- {{url: 'https://e.example/{number}', short-code: c{number}}}\n");
    let entries: String = (0..10_000).map(entry).collect();
    let table = format!("base_url: https://short.code/\nmapping:\n{entries}");
    let secure = Secure::with_tables(config, &[&table]).await;
    // With windows that hold little of it: else all of it would be taken at once.
    let stream = TokioIo::new(secure.connect(&[b"h2"]).await);
    let mut client = http2::Builder::new(TokioExecutor::new());
    client.initial_stream_window_size(65_535);
    client.initial_connection_window_size(65_535);
    let (mut sender, connection) = client.handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let asked = asking(Method::GET, "https://short.code/-/mapping.jsonl");
    let mut dump = ask(&mut sender, asked).await;
    let mut bytes = Vec::new();
    while let Some(frame) = soon(dump.frame()).await {
        bytes.extend(frame.unwrap().into_data().unwrap_or_default());
        tokio::time::sleep(BRIEF / 20).await;
    }
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().count(), 10_000);
}

#[tokio::test]
async fn silence_is_ended_in_order() {
    // Without a request, with half of one, and after one.
    let begun = frame(HEADERS, END_STREAM, 1, &get("/x"));
    let asked = request(1, &get("/x"));
    for (said, timeouts) in [
        (&b""[..], with_timeouts(BRIEF, FOREVER * 2, BRIEF)),
        (&begun[..], with_timeouts(BRIEF, FOREVER * 2, BRIEF)),
        (&asked[..], with_timeouts(FOREVER * 2, BRIEF, BRIEF)),
    ] {
        let secure = Secure::start(timeouts).await;
        let mut wire = Wire::greeted(&secure).await;
        wire.say(said).await;
        assert_eq!(wire.hear_a(GOAWAY).await.unwrap().code(), NO_ERROR);
        wire.hear_out().await;
    }
    // Not even a preface.
    let secure = Secure::start(with_timeouts(BRIEF, FOREVER * 2, BRIEF)).await;
    Wire::open(&secure).await.hear_out().await;
}

#[tokio::test]
async fn pings_are_no_reason_to_keep_a_connection() {
    let secure = Secure::start(with_timeouts(BRIEF, FOREVER, BRIEF)).await;
    let mut wire = Wire::greeted(&secure).await;
    let ping = frame(PING, 0, 0, &[0; 8]);
    soon(async {
        while wire.0.write_all(&ping).await.is_ok() && wire.0.flush().await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn beyond_the_limit_a_connection_ends_with_its_answer() {
    let config = Config {
        max_connections: 1,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut wire = Wire::greeted(&secure).await;
    let waiting = soon(TcpStream::connect(secure.server.public))
        .await
        .unwrap();
    wire.say(&request(1, &get("/x"))).await;
    let heard = ended(&mut wire).await;
    assert!(
        heard
            .iter()
            .any(|frame| frame.kind == HEADERS && frame.stream == 1)
    );
    drop(waiting);
}

/// Reads until the end, acknowledging what a client must.
async fn ended(wire: &mut Wire) -> Vec<Frame> {
    let mut heard = Vec::new();
    while let Some(next) = wire.hear().await {
        if next.kind == PING && next.flags != ACK {
            wire.say(&frame(PING, ACK, 0, &next.payload)).await;
        }
        heard.push(next);
    }
    let last = heard.iter().rfind(|frame| frame.kind == GOAWAY);
    assert_eq!(last.unwrap().code(), NO_ERROR, "{heard:?}");
    heard
}

#[tokio::test]
async fn while_draining_a_connection_ends_with_its_answer() {
    let config = Config {
        drain_delay: FOREVER * 2,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut wire = Wire::greeted(&secure).await;
    wire.say(&request(1, &get("/x"))).await;
    wire.hear_a(HEADERS).await.unwrap();
    secure.server.signals.send(Signal::Terminate).await.unwrap();
    let unready = "HTTP/1.1 503 Service Unavailable";
    until(async || {
        secure
            .server
            .operate("GET", "/readyz", "")
            .await
            .status_line()
            == unready
    })
    .await;
    wire.say(&request(3, &get("/x"))).await;
    let heard = ended(&mut wire).await;
    assert!(
        heard
            .iter()
            .any(|frame| frame.kind == HEADERS && frame.stream == 3)
    );
    secure.server.signals.send(Signal::Terminate).await.unwrap();
    secure.server.until_ended().await;
}

#[tokio::test]
async fn what_is_in_flight_at_the_end_is_finished() {
    let config = Config {
        drain_timeout: FOREVER * 2,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut wire = Wire::greeted(&secure).await;
    // The page cannot be sent yet.
    wire.say(&[settings(&[(4, 0)]), request(1, &get("/"))].concat())
        .await;
    wire.hear_a(HEADERS).await.unwrap();

    secure.server.signals.send(Signal::Terminate).await.unwrap();
    assert_eq!(wire.hear_a(GOAWAY).await.unwrap().code(), NO_ERROR);
    // Sent before the client knew, and so still answered.
    wire.say(&request(3, &get("/x"))).await;
    assert_eq!(wire.hear_a(HEADERS).await.unwrap().stream, 3);
    wire.say(&frame(WINDOW_UPDATE, 0, 1, &65_535_u32.to_be_bytes()))
        .await;
    let heard = ended_with_data(&mut wire).await;
    assert!(heard > 0);
    secure.server.until_ended().await;
}

async fn ended_with_data(wire: &mut Wire) -> usize {
    let mut bytes = 0;
    while let Some(next) = wire.hear().await {
        if next.kind == PING && next.flags != ACK {
            wire.say(&frame(PING, ACK, 0, &next.payload)).await;
        }
        if next.kind == DATA {
            bytes += next.payload.len();
        }
    }
    bytes
}

#[tokio::test]
async fn an_idle_client_that_has_gone_quiet_does_not_hold_up_the_end() {
    let config = Config {
        drain_timeout: FOREVER * 2,
        ..quiet()
    };
    let secure = Secure::start(config).await;
    let mut wire = Wire::greeted(&secure).await;
    wire.say(&request(1, &get("/x"))).await;
    wire.hear_a(HEADERS).await.unwrap();
    secure.server.signals.send(Signal::Terminate).await.unwrap();
    // It never acknowledges the end.
    secure.server.until_ended().await;
}

#[tokio::test]
async fn no_request_is_lost_during_shutdown() {
    let config = Config {
        drain_delay: Duration::from_millis(100),
        drain_timeout: FOREVER * 2,
        ..quiet()
    };
    let secure = std::sync::Arc::new(Secure::start(config).await);
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let secure = std::sync::Arc::clone(&secure);
            tokio::spawn(async move {
                let mut answered = 0_u32;
                while let Ok(stream) = TcpStream::connect(secure.server.public).await {
                    let connector = secure.authority.connector(&[b"h2"]);
                    let Ok(stream) = connector.connect(crate::secure::name(), stream).await else {
                        // The kernel took it in the very moment of the end.
                        assert!(TcpStream::connect(secure.server.public).await.is_err());
                        break;
                    };
                    let io = TokioIo::new(stream);
                    let (mut sender, connection) =
                        http2::handshake(TokioExecutor::new(), io).await.unwrap();
                    tokio::spawn(connection);
                    // As many as it takes until the server says that it is the end; a request that
                    // was not sent is not lost.
                    while sender.ready().await.is_ok() {
                        let asking = asking(Method::GET, "https://short.code/x");
                        match sender.try_send_request(asking).await {
                            Ok(answer) => assert_eq!(answer.status(), StatusCode::FOUND),
                            Err(mut error) => {
                                assert!(error.take_message().is_some(), "{:?}", error.error());
                                break;
                            }
                        }
                        answered += 1;
                    }
                }
                answered
            })
        })
        .collect();
    let counted = "waypost_requests_total{outcome=\"redirect\"}";
    until(async || secure.server.metric(counted).await > Some(100.0)).await;
    secure.server.signals.send(Signal::Terminate).await.unwrap();
    for client in clients {
        assert!(soon(client).await.unwrap() > 0);
    }
    until(async || secure.server.ended.is_finished()).await;
}
