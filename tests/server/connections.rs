//! Connections: kept, limited, and given up on.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use waypost::server::{Config, Timeouts};

use crate::support::{FOREVER, Running, head_of, quiet, rest, soon};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n";
const REQUEST: &[u8] = b"GET /x HTTP/1.1\r\nHost: short.code\r\n\r\n";
const LAST: &[u8] = b"GET /x HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\r\n";
const FOUND: &str = "HTTP/1.1 302 Found";

fn with_timeouts(head: Duration, idle: Duration) -> Config {
    Config {
        timeouts: Timeouts {
            head,
            idle,
            stall: FOREVER,
        },
        ..quiet()
    }
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(REQUEST).await.unwrap();
        let reply = head_of(&mut stream).await;
        assert_eq!(reply.status_line(), FOUND);
        assert_eq!(reply.header("connection"), None);
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    let all = [REQUEST, &b"GET /y HTTP/1.1\r\nHost: a\r\n\r\n"[..], LAST].concat();
    stream.write_all(&all).await.unwrap();
    let replies = rest(&mut stream).await.to_string();
    let lines: Vec<_> = replies
        .lines()
        .filter(|line| line.contains("HTTP/1.1"))
        .collect();
    assert_eq!(lines, [FOUND, "HTTP/1.1 404 Not Found", FOUND]);
}

#[tokio::test]
async fn a_client_that_closes_its_side_is_answered() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    stream.write_all(REQUEST).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await.status_line(), FOUND);
}

#[tokio::test]
async fn a_head_in_many_pieces_is_a_head() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    stream.set_nodelay(true).unwrap();
    for byte in LAST {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(rest(&mut stream).await.status_line(), FOUND);
}

#[tokio::test]
async fn a_body_is_not_waited_for_and_its_sender_is_answered() {
    let server = Running::start(TABLE).await;
    let refused = "HTTP/1.1 405 Method Not Allowed";
    for length in [10, 100_000, 10_000_000_000_u64] {
        let mut stream = server.connect().await;
        let head = format!("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let part = usize::try_from(length.min(100_000)).unwrap();
        // The server may have closed already, and still its answer arrives.
        let _ = stream.write_all(&vec![b'x'; part]).await;
        stream.shutdown().await.ok();
        assert_eq!(rest(&mut stream).await.status_line(), refused, "{length}");
    }
    let mut stream = server.connect().await;
    let head = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\
                 Expect: 100-continue\r\n\r\n";
    stream.write_all(head).await.unwrap();
    assert_eq!(rest(&mut stream).await.status_line(), refused);
}

#[tokio::test]
async fn a_small_body_leaves_the_connection_usable() {
    let server = Running::start(TABLE).await;
    let mut stream = server.connect().await;
    let both = b"GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    stream.write_all(&[both, LAST].concat()).await.unwrap();
    let replies = rest(&mut stream).await.to_string();
    assert_eq!(replies.matches(FOUND).count(), 2, "{replies}");
}

#[tokio::test]
async fn a_smuggled_request_is_not_answered() {
    let server = Running::start(TABLE).await;
    let both = b"POST /none HTTP/1.1\r\nHost: a\r\nContent-Length: 44\r\n\
                 Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n";
    let reply = server.say(both).await.to_string();
    assert_eq!(reply.matches("HTTP/1.1 ").count(), 1, "{reply}");
}

#[tokio::test]
async fn a_slow_head_is_given_up_on() {
    let server =
        Running::configured(with_timeouts(Duration::from_millis(500), FOREVER), TABLE).await;
    let mut stream = server.connect().await;
    stream
        .write_all(b"GET /x HTTP/1.1\r\nHost: ")
        .await
        .unwrap();
    assert_eq!(rest(&mut stream).await.0, b"");
    let mut silent = server.connect().await;
    assert_eq!(rest(&mut silent).await.0, b"");
}

#[tokio::test]
async fn a_slow_head_that_begins_with_the_request_before_it_is_given_up_on() {
    for fast_path in [true, false] {
        let config = Config {
            fast_path,
            ..with_timeouts(Duration::from_millis(500), FOREVER * 2)
        };
        let server = Running::configured(config, TABLE).await;
        let mut stream = server.connect().await;
        let begun = [REQUEST, REQUEST, b"GET /x HTTP/1.1\r\nHost: "].concat();
        stream.write_all(&begun).await.unwrap();
        let answers = rest(&mut stream).await.to_string();
        assert_eq!(answers.matches(FOUND).count(), 2, "{answers}");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server =
        Running::configured(with_timeouts(FOREVER, Duration::from_millis(50)), TABLE).await;
    let mut stream = server.connect().await;
    stream.write_all(REQUEST).await.unwrap();
    assert_eq!(head_of(&mut stream).await.status_line(), FOUND);
    assert_eq!(rest(&mut stream).await.0, b"");
}

#[tokio::test]
async fn an_idle_connection_has_longer_than_a_slow_head() {
    let server =
        Running::configured(with_timeouts(Duration::from_millis(500), FOREVER), TABLE).await;
    let mut idle = server.connect().await;
    // An empty line does not begin a request.
    idle.write_all(&[REQUEST, b"\r\n"].concat()).await.unwrap();
    head_of(&mut idle).await;
    // When the timeout of another connection ends, that of this one would have ended too.
    let mut slow = server.connect().await;
    slow.write_all(b"GET").await.unwrap();
    assert_eq!(rest(&mut slow).await.0, b"");
    idle.write_all(LAST).await.unwrap();
    assert_eq!(rest(&mut idle).await.status_line(), FOUND);
}

#[tokio::test]
async fn beyond_the_limit_clients_wait_for_their_turn() {
    let config = Config {
        max_connections: 1,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /x HTTP/1.1\r\n").await.unwrap();
    crate::support::until(async || server.metric("waypost_connections").await == Some(1.0)).await;

    let mut second = server.connect().await;
    second.write_all(REQUEST).await.unwrap();
    let mut third = server.connect().await;
    third.write_all(REQUEST).await.unwrap();
    let operators = server.operate("GET", "/livez", "").await;
    assert_eq!(operators.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(server.metric("waypost_connections").await, Some(1.0));

    first.write_all(b"Host: a\r\n\r\n").await.unwrap();
    for stream in [&mut first, &mut second, &mut third] {
        let reply = rest(stream).await;
        assert_eq!(reply.status_line(), FOUND);
        // Other clients wait, so no connection is kept open.
        assert_eq!(reply.header("connection").unwrap(), "close");
    }
    crate::support::until(async || server.metric("waypost_connections").await == Some(0.0)).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_given_up_on() {
    let config = Config {
        timeouts: Timeouts {
            head: FOREVER,
            idle: FOREVER,
            stall: Duration::from_millis(50),
        },
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    // A redirect is answered without hyper, the page is not.
    for path in ["/x", "/"] {
        let mut stream = server.connect().await;
        let flood = async {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n");
            let requests = request.repeat(100);
            while stream.write_all(requests.as_bytes()).await.is_ok() {}
        };
        soon(flood).await;
        let mut bytes = Vec::new();
        let _ = soon(stream.read_to_end(&mut bytes)).await;
    }
}

#[tokio::test]
async fn silent_clients_do_not_keep_others_out() {
    let config = Config {
        max_connections: 8,
        ..with_timeouts(Duration::from_millis(300), FOREVER)
    };
    let server = Running::configured(config, TABLE).await;
    let limit = Some(8.0);
    assert_eq!(server.metric("waypost_connections_limit").await, limit);
    let mut silent = Vec::new();
    for said in ["", "P", "GET /x HTTP/1.1\r\nHost: a\r\n", "\r\n"] {
        for _ in 0..4 {
            let mut stream = server.connect().await;
            stream.write_all(said.as_bytes()).await.unwrap();
            silent.push(stream);
        }
    }
    crate::support::until(async || server.metric("waypost_connections").await == limit).await;
    // Twice as many clients as the limit came before.
    let reply = server.say(LAST).await;
    assert_eq!(reply.status_line(), FOUND);
    for mut stream in silent {
        assert_eq!(rest(&mut stream).await.0, b"");
    }
    crate::support::until(async || server.metric("waypost_connections").await == Some(0.0)).await;
    assert_eq!(server.counted().await, 1.0);
}

#[tokio::test]
async fn what_is_counted_adds_up() {
    let server = Running::start(TABLE).await;
    let mut answers = 0;
    for (bytes, answered) in [
        (LAST, 1),
        (&b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n"[..], 1),
        (&[REQUEST, REQUEST, LAST].concat(), 3),
        (b"P", 0),
        (b"", 0),
        (b"nonsense\r\n\r\n", 1),
        (b"GET /x HTTP/1.1\r\n\r\n", 1),
        (
            b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc",
            1,
        ),
    ] {
        let mut stream = server.connect().await;
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let replies = rest(&mut stream).await.to_string();
        assert_eq!(replies.matches("HTTP/1.1 ").count(), answered, "{replies}");
        answers += answered;
    }
    // Clients that leave before they are answered.
    for _ in 0..20 {
        let mut stream = server.connect().await;
        stream.write_all(b"GET /x HTTP/1.1\r\nHo").await.unwrap();
        stream.set_zero_linger().unwrap();
    }
    crate::support::until(async || server.metric("waypost_connections").await == Some(0.0)).await;
    assert_eq!(server.counted().await, answers as f64);
}
