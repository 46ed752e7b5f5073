//! The end of a server: announced, orderly, and in time.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use waypost::server::{Config, Signal};

use crate::support::{FOREVER, Reply, Running, head_of, quiet, rest, soon, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n";
const REQUEST: &[u8] = b"GET /x HTTP/1.1\r\nHost: short.code\r\n\r\n";
const FOUND: &str = "HTTP/1.1 302 Found";
const UNREADY: &str = "HTTP/1.1 503 Service Unavailable";

fn delayed(drain_delay: Duration) -> Config {
    Config {
        drain_delay,
        drain_timeout: FOREVER * 2,
        ..quiet()
    }
}

async fn unready(server: &Running) -> bool {
    let reply = server.operate("GET", "/readyz", "").await;
    reply.status_line() == UNREADY
}

#[tokio::test]
async fn while_draining_it_serves_but_is_not_ready() {
    let server = Running::configured(delayed(FOREVER * 2), TABLE).await;
    let mut kept = server.connect().await;
    kept.write_all(REQUEST).await.unwrap();
    head_of(&mut kept).await;

    server.signals.send(Signal::Terminate).await.unwrap();
    until(async || unready(&server).await).await;
    let health = server.get("/healthz").await;
    assert_eq!(health.status_line(), UNREADY);
    assert_eq!(health.json()["status"], "fail");
    assert_eq!(
        server.operate("GET", "/livez", "").await.status_line(),
        "HTTP/1.1 200 OK"
    );
    assert_eq!(server.get("/x").await.status_line(), FOUND);
    // An open connection is closed with its next answer, so that no later one is lost.
    kept.write_all(REQUEST).await.unwrap();
    let last = rest(&mut kept).await;
    assert_eq!(last.status_line(), FOUND);
    assert_eq!(last.header("connection").unwrap(), "close");

    server.signals.send(Signal::Terminate).await.unwrap();
    server.until_ended().await;
}

#[tokio::test]
async fn a_pipeline_ends_with_an_answer_that_announces_it() {
    const REQUESTS: usize = 4_000;
    // More than the kernel keeps for a client that does not read yet.
    let target = format!("https://e.example/{}", "a".repeat(8_000));
    let table = TABLE.replace("https://e.example/", &target);
    let server = Running::configured(delayed(FOREVER * 2), &table).await;
    let (mut read, mut write) = server.connect().await.into_split();
    let asking = tokio::spawn(async move {
        // Not all of it need be taken.
        let _ = write.write_all(&REQUEST.repeat(REQUESTS)).await;
        write
    });
    until(async || server.counted().await >= 100.0).await;
    server.signals.send(Signal::Terminate).await.unwrap();
    until(async || unready(&server).await).await;

    let mut answers = String::new();
    soon(read.read_to_string(&mut answers)).await.unwrap();
    let answers: Vec<_> = answers.split_terminator("\r\n\r\n").collect();
    assert!(
        (100..REQUESTS).contains(&answers.len()),
        "{}",
        answers.len()
    );
    let location = format!("\r\nLocation: {target}\r\n");
    for answer in &answers {
        assert!(answer.starts_with(FOUND) && answer.contains(&location));
    }
    let closing = |answer: &&&str| answer.contains("\r\nConnection: close\r\n");
    assert_eq!(answers.iter().filter(closing).count(), 1);
    assert!(answers.last().as_ref().is_some_and(closing));
    drop(soon(asking).await);

    server.signals.send(Signal::Terminate).await.unwrap();
    server.until_ended().await;
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_it_up() {
    for signal in [Signal::Terminate, Signal::Interrupt] {
        let server = Running::configured(delayed(Duration::ZERO), TABLE).await;
        let mut kept = server.connect().await;
        kept.write_all(REQUEST).await.unwrap();
        head_of(&mut kept).await;
        let _silent = server.connect().await;
        server.signals.send(signal).await.unwrap();
        server.until_ended().await;
        assert_eq!(rest(&mut kept).await.0, b"");
    }
}

#[tokio::test]
async fn a_request_that_has_begun_is_finished() {
    let server = Running::configured(delayed(Duration::ZERO), TABLE).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /x HTTP/1.1\r\n").await.unwrap();
    until(async || server.metric("waypost_connections").await == Some(1.0)).await;

    server.signals.send(Signal::Terminate).await.unwrap();
    let public = server.public;
    until(async || TcpStream::connect(public).await.is_err()).await;
    stream.write_all(b"Host: a\r\n\r\n").await.unwrap();
    let reply = rest(&mut stream).await;
    assert_eq!(reply.status_line(), FOUND);
    assert_eq!(reply.header("connection").unwrap(), "close");
    server.until_ended().await;
}

#[tokio::test]
async fn a_request_that_has_begun_on_a_kept_connection_is_finished() {
    // The second needs hyper, and so does what follows it.
    for first in [REQUEST, b"HEAD /healthz HTTP/1.1\r\nHost: a\r\n\r\n"] {
        let server = Running::configured(delayed(Duration::ZERO), TABLE).await;
        let mut stream = server.connect().await;
        stream.write_all(first).await.unwrap();
        head_of(&mut stream).await;
        let mut idle = server.connect().await;
        idle.write_all(REQUEST).await.unwrap();
        head_of(&mut idle).await;
        stream.write_all(b"GET /x HTTP/1.1\r\n").await.unwrap();

        server.signals.send(Signal::Terminate).await.unwrap();
        // Idle connections are closed meanwhile.
        assert_eq!(rest(&mut idle).await.0, b"");
        stream.write_all(b"Host: a\r\n\r\n").await.unwrap();
        let reply = rest(&mut stream).await;
        assert_eq!(reply.status_line(), FOUND);
        assert_eq!(reply.header("connection").unwrap(), "close");
        server.until_ended().await;
    }
}

#[tokio::test]
async fn clients_that_waited_for_their_turn_get_it() {
    let config = Config {
        max_connections: 1,
        ..delayed(Duration::ZERO)
    };
    let server = Running::configured(config, TABLE).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /x HTTP/1.1\r\n").await.unwrap();
    until(async || server.metric("waypost_connections").await == Some(1.0)).await;
    let mut second = server.connect().await;
    second.write_all(REQUEST).await.unwrap();

    server.signals.send(Signal::Terminate).await.unwrap();
    let public = server.public;
    until(async || TcpStream::connect(public).await.is_err()).await;
    first.write_all(b"Host: a\r\n\r\n").await.unwrap();
    for stream in [&mut first, &mut second] {
        assert_eq!(rest(stream).await.status_line(), FOUND);
    }
    server.until_ended().await;
}

#[tokio::test]
async fn it_ends_while_a_client_dribbles() {
    let config = Config {
        drain_timeout: Duration::from_millis(50),
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /x HTTP/1.1\r\nA: ").await.unwrap();
    until(async || server.metric("waypost_connections").await == Some(1.0)).await;
    let dribble = tokio::spawn(async move {
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    server.signals.send(Signal::Terminate).await.unwrap();
    server.until_ended().await;
    soon(dribble).await.unwrap();
}

#[tokio::test]
async fn no_request_is_lost_during_shutdown() {
    let server = Running::configured(delayed(Duration::from_millis(100)), TABLE).await;
    let public = server.public;
    let clients: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(async move {
                let mut answered = 0_u32;
                // Until the listener is closed, every connection gets its answer.
                while let Ok(mut stream) = TcpStream::connect(public).await {
                    let Ok(reply) = ask(&mut stream).await else {
                        // The kernel took it in the very moment of the end, which no program can
                        // prevent; so it must be the end.
                        assert!(TcpStream::connect(public).await.is_err());
                        break;
                    };
                    assert_eq!(Reply(reply).status_line(), FOUND);
                    answered += 1;
                }
                answered
            })
        })
        .collect();
    let counted = "waypost_requests_total{outcome=\"redirect\"}";
    until(async || server.metric(counted).await > Some(100.0)).await;
    server.signals.send(Signal::Terminate).await.unwrap();
    server.until_ended().await;
    for client in clients {
        assert!(soon(client).await.unwrap() > 0);
    }
}

async fn ask(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut reply = Vec::new();
    stream.write_all(REQUEST).await?;
    stream.shutdown().await?;
    soon(stream.read_to_end(&mut reply)).await?;
    Ok(reply)
}
