//! Remotes that are down or refuse, requests that are sent again, and a server that stops.

use std::fs;
use std::time::Duration;

use waypost::server::{Config, Signal};

use crate::scene::{ADA, BOB, EMPTY, Scene, problem, status};
use crate::support::{quiet, until};

#[tokio::test]
async fn a_remote_that_is_away_is_waited_for_and_nothing_is_half_done() {
    let scene = Scene::new().await;
    assert_eq!(
        status(&scene.register(r#"{"url": "https://e.org/1"}"#).await),
        201
    );
    let (here, away) = (scene.root.join("remote.git"), scene.root.join("away.git"));
    fs::rename(&here, &away).unwrap();
    let body = r#"{"url": "https://e.org/2"}"#;
    for _ in 0..2 {
        let reply = scene.register(body).await;
        assert_eq!((status(&reply), &*problem(&reply)), (503, "remote-down"));
        assert_eq!(reply.header("retry-after").unwrap(), "5");
    }
    let found = scene.look_up("?url=https%3A%2F%2Fe.org%2F2").await;
    assert_eq!(status(&found), 404);
    fs::rename(&away, &here).unwrap();
    assert_eq!(status(&scene.register(body).await), 201);
    assert_eq!(scene.commits(), 3);
    assert_eq!(scene.counted("failed").await, 2.0);
}

#[tokio::test]
async fn what_the_remote_refuses_is_nowhere() {
    let scene = Scene::new().await;
    scene.hook("pre-receive", "echo internal words; exit 1");
    let body = r#"{"url": "https://e.org/", "short_code": "e"}"#;
    let reply = scene.register(body).await;
    assert_eq!((status(&reply), &*problem(&reply)), (502, "remote-refused"));
    assert!(!reply.text().contains("internal"));
    assert_eq!(status(&scene.server.get("/e").await), 404);
    scene.hook("pre-receive", "exit 0");
    assert_eq!(status(&scene.register(body).await), 201);
}

#[tokio::test]
async fn a_table_with_errors_is_left_alone() {
    let scene = Scene::new().await;
    scene.push("mapping: 1\n");
    let reply = scene.register(r#"{"url": "https://e.org/"}"#).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "no-table"));
    assert_eq!(scene.table(), "mapping: 1");
    // More than is read.
    scene.push(&format!("# {}\n{EMPTY}", "x".repeat(1 << 20)));
    let reply = scene.register(r#"{"url": "https://e.org/"}"#).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "no-table"));
    scene.push(EMPTY);
    assert_eq!(
        status(&scene.register(r#"{"url": "https://e.org/"}"#).await),
        201
    );
}

#[tokio::test]
async fn the_same_again_gets_the_same_answer() {
    let scene = &Scene::new().await;
    let key = "Idempotency-Key: \"8e03978e-40d5\"\r\n";
    let body = r#"{"url": "https://e.org/"}"#;
    scene.hold();
    let first = scene.register_as(ADA, key, body);
    let meanwhile = async {
        scene.until_held().await;
        let reply = scene.register_as(ADA, key, body).await;
        assert_eq!((status(&reply), &*problem(&reply)), (409, "under-way"));
        scene.release();
    };
    let (first, ()) = tokio::join!(first, meanwhile);
    assert_eq!(status(&first), 201);
    assert_eq!(
        scene.register_as(ADA, key, body).await.undated(),
        first.undated()
    );
    let other = scene
        .register_as(ADA, key, r#"{"url": "https://other.example/"}"#)
        .await;
    assert_eq!(
        (status(&other), &*problem(&other)),
        (422, "idempotency-key-reused")
    );
    // Another's key is another key.
    assert_eq!(status(&scene.register_as(BOB, key, body).await), 409);
    let bad = scene
        .register_as(ADA, "Idempotency-Key: a b\r\n", body)
        .await;
    assert_eq!(
        (status(&bad), &*problem(&bad)),
        (400, "bad-idempotency-key")
    );
    assert_eq!(scene.commits(), 2);
}

#[tokio::test]
async fn who_left_finds_the_answer_under_its_key() {
    let scene = &Scene::new().await;
    let key = "Idempotency-Key: k\r\n";
    let body = r#"{"url": "https://e.org/"}"#;
    scene.hold();
    tokio::select! {
        _ = scene.register_as(ADA, key, body) => panic!("it was answered"),
        () = scene.until_held() => {}
    }
    scene.release();
    until(async || status(&scene.register_as(ADA, key, body).await) == 201).await;
    assert_eq!(scene.commits(), 2);
}

#[tokio::test]
async fn a_server_that_stops_finishes_what_it_pushes_and_takes_no_more() {
    let config = Config {
        drain_delay: Duration::from_secs(3_600),
        drain_timeout: Duration::from_secs(3_600),
        ..quiet()
    };
    let scene = Scene::configured(config, EMPTY).await;
    scene.hold();
    let held = scene.register(r#"{"url": "https://e.org/1"}"#);
    let stopping = async {
        scene.until_held().await;
        scene.server.signals.send(Signal::Terminate).await.unwrap();
        until(async || status(&scene.server.get("/healthz").await) == 503).await;
        let reply = scene.register(r#"{"url": "https://e.org/2"}"#).await;
        assert_eq!((status(&reply), &*problem(&reply)), (503, "draining"));
        scene.server.signals.send(Signal::Terminate).await.unwrap();
        scene.release();
    };
    let (held, ()) = tokio::join!(held, stopping);
    assert_eq!(status(&held), 201);
    scene.server.until_ended().await;
}
