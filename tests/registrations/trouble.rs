//! Remotes that are down or refuse, requests that are sent again, and a server that stops.

use std::fs;
use std::time::Duration;

use waypost::server::{Config, Signal};

use crate::fixture::{ADA, BOB, EMPTY, Fixture, problem, status};
use crate::support::{quiet, until};

#[tokio::test]
async fn a_remote_that_is_away_is_waited_for_and_nothing_is_half_done() {
    let fixture = Fixture::new().await;
    assert_eq!(
        status(&fixture.register(r#"{"url": "https://e.org/1"}"#).await),
        201
    );
    let (here, away) = (
        fixture.root.join("remote.git"),
        fixture.root.join("away.git"),
    );
    fs::rename(&here, &away).unwrap();
    let body = r#"{"url": "https://e.org/2"}"#;
    for _ in 0..2 {
        let reply = fixture.register(body).await;
        assert_eq!((status(&reply), &*problem(&reply)), (503, "remote-down"));
        assert_eq!(reply.header("retry-after").unwrap(), "5");
    }
    let found = fixture.look_up("?url=https%3A%2F%2Fe.org%2F2").await;
    assert_eq!(status(&found), 404);
    fs::rename(&away, &here).unwrap();
    assert_eq!(status(&fixture.register(body).await), 201);
    assert_eq!(fixture.commits(), 3);
    assert_eq!(fixture.counted("failed").await, 2.0);
}

#[tokio::test]
async fn a_reload_reports_that_the_remote_cannot_be_fetched() {
    let fixture = Fixture::new().await;
    let (here, away) = (
        fixture.root.join("remote.git"),
        fixture.root.join("away.git"),
    );
    fs::rename(&here, &away).unwrap();
    let reply = fixture.server.reload().await;
    assert_eq!(status(&reply), 502);
    let failure = reply.json();
    assert_eq!(failure["result"], "failed");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.starts_with("cannot fetch the latest: "),
        "{message}"
    );
    // The table did not cause it.
    assert!(fixture.server.status().await["last_error"].is_null());
    fs::rename(&away, &here).unwrap();
    let reply = fixture.server.reload().await;
    assert_eq!(status(&reply), 200);
    assert_eq!(reply.json()["result"], "unchanged");
}

#[tokio::test]
async fn what_the_remote_refuses_is_nowhere() {
    let fixture = Fixture::new().await;
    fixture.hook("pre-receive", "echo internal words; exit 1");
    let body = r#"{"url": "https://e.org/", "short_code": "e"}"#;
    let reply = fixture.register(body).await;
    assert_eq!((status(&reply), &*problem(&reply)), (502, "remote-refused"));
    assert!(!reply.text().contains("internal"));
    assert_eq!(status(&fixture.server.get("/e").await), 404);
    fixture.hook("pre-receive", "exit 0");
    assert_eq!(status(&fixture.register(body).await), 201);
}

#[tokio::test]
async fn a_table_with_errors_is_left_alone() {
    let fixture = Fixture::new().await;
    fixture.push("mapping: 1\n");
    let reply = fixture.register(r#"{"url": "https://e.org/"}"#).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "no-table"));
    assert_eq!(fixture.table(), "mapping: 1");
    // More than is read.
    fixture.push(&format!("# {}\n{EMPTY}", "x".repeat(1 << 20)));
    let reply = fixture.register(r#"{"url": "https://e.org/"}"#).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "no-table"));
    fixture.push(EMPTY);
    assert_eq!(
        status(&fixture.register(r#"{"url": "https://e.org/"}"#).await),
        201
    );
}

#[tokio::test]
async fn the_same_again_gets_the_same_answer() {
    let fixture = &Fixture::new().await;
    let key = "Idempotency-Key: \"8e03978e-40d5\"\r\n";
    let body = r#"{"url": "https://e.org/"}"#;
    fixture.hold();
    let first = fixture.register_as(ADA, key, body);
    let meanwhile = async {
        fixture.until_held().await;
        let reply = fixture.register_as(ADA, key, body).await;
        assert_eq!((status(&reply), &*problem(&reply)), (409, "under-way"));
        fixture.release();
    };
    let (first, ()) = tokio::join!(first, meanwhile);
    assert_eq!(status(&first), 201);
    assert_eq!(
        fixture.register_as(ADA, key, body).await.undated(),
        first.undated()
    );
    let other = fixture
        .register_as(ADA, key, r#"{"url": "https://other.example/"}"#)
        .await;
    assert_eq!(
        (status(&other), &*problem(&other)),
        (422, "idempotency-key-reused")
    );
    // The same key of another owner is a different key.
    assert_eq!(status(&fixture.register_as(BOB, key, body).await), 409);
    let bad = fixture
        .register_as(ADA, "Idempotency-Key: a b\r\n", body)
        .await;
    assert_eq!(
        (status(&bad), &*problem(&bad)),
        (400, "bad-idempotency-key")
    );
    assert_eq!(fixture.commits(), 2);
}

#[tokio::test]
async fn who_left_finds_the_answer_under_its_key() {
    let fixture = &Fixture::new().await;
    let key = "Idempotency-Key: k\r\n";
    let body = r#"{"url": "https://e.org/"}"#;
    fixture.hold();
    tokio::select! {
        _ = fixture.register_as(ADA, key, body) => panic!("it was answered"),
        () = fixture.until_held() => {}
    }
    fixture.release();
    until(async || status(&fixture.register_as(ADA, key, body).await) == 201).await;
    assert_eq!(fixture.commits(), 2);
}

#[tokio::test]
async fn a_server_that_stops_finishes_what_it_pushes_and_takes_no_more() {
    let config = Config {
        drain_delay: Duration::from_secs(3_600),
        drain_timeout: Duration::from_secs(3_600),
        ..quiet()
    };
    let fixture = Fixture::configured(config, EMPTY).await;
    fixture.hold();
    let held = fixture.register(r#"{"url": "https://e.org/1"}"#);
    let terminate = || fixture.server.signals.send(Signal::Terminate);
    let stopping = async {
        fixture.until_held().await;
        terminate().await.unwrap();
        until(async || status(&fixture.server.get("/healthz").await) == 503).await;
        let reply = fixture.register(r#"{"url": "https://e.org/2"}"#).await;
        assert_eq!((status(&reply), &*problem(&reply)), (503, "draining"));
        terminate().await.unwrap();
        fixture.release();
    };
    let (held, ()) = tokio::join!(held, stopping);
    assert_eq!(status(&held), 201);
    fixture.server.until_ended().await;
}
