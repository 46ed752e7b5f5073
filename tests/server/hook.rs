//! The hook: a Git host's notice of a push.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;
use waypost::mapping::TableFile;
use waypost::server::{Config, Files, HookSecret, Source};
use waypost::source::{Earlier, Fingerprint, Reading, SourceError};

use crate::support::{Reply, Running, quiet, rest, until};

const SECRET: &str = "It's a Secret to Everybody";

/// `printf %s '{"ref":"refs/heads/main"}' | openssl dgst -sha256 -hmac "$SECRET"`
const BODY: &str = r#"{"ref":"refs/heads/main"}"#;
const SIGNATURE: &str = "6a42699496d8c4fb346af1c930df527931a321e28ada69dbc5ee82f438517fd2";

const BEFORE: &str = "base_url: https://short.code/\nmapping: []\n";
const AFTER: &str =
    "base_url: https://short.code/\nmapping:\n- url: https://framasoft.org/\n  short-code: new\n";

async fn server() -> Running {
    let hook = HookSecret::new(SECRET);
    Running::configured(Config { hook, ..quiet() }, BEFORE).await
}

async fn send(server: &Running, header: &str, body: &str) -> Reply {
    let length = body.len();
    let head = "Host: short.code\r\nConnection: close\r\n";
    let request =
        format!("POST /-/hook HTTP/1.1\r\n{head}{header}Content-Length: {length}\r\n\r\n{body}");
    server.say(request).await
}

#[tokio::test]
async fn each_hosts_form_brings_the_new_table() {
    for header in [
        format!("X-Hub-Signature-256: sha256={SIGNATURE}\r\n"),
        format!("X-Gitea-Signature: {SIGNATURE}\r\n"),
        format!("X-Gitlab-Token: {SECRET}\r\n"),
    ] {
        let server = server().await;
        server.replace_table(AFTER);
        let reply = send(&server, &header, BODY).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 202 Accepted", "{header}");
        until(async || server.get("/new").await.status_line() == "HTTP/1.1 302 Found").await;
        // A replay is the same hint again.
        let replay = send(&server, &header, BODY).await;
        assert_eq!(replay.status_line(), "HTTP/1.1 202 Accepted", "{header}");
    }
}

/// A table in files, for which it is counted how often it was to be fetched.
struct Counted(Files, Arc<AtomicU64>);

impl Source for Counted {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn hints(&self) -> Arc<Notify> {
        self.0.hints()
    }

    fn refresh(&self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn read(
        &self,
        known: Option<&Fingerprint>,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, SourceError> {
        self.0.read(known, earlier)
    }
}

#[tokio::test]
async fn a_hook_sent_again_and_again_fetches_once_a_second() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    std::fs::write(&path, BEFORE).unwrap();
    let fetches = Arc::new(AtomicU64::new(0));
    let source = Counted(Files::polled(vec![path], 1 << 20), Arc::clone(&fetches));
    let hook = HookSecret::new(SECRET);
    let server = Running::on(Config { hook, ..quiet() }, directory, source).await;
    let so_far = || fetches.load(Ordering::Relaxed);
    let before = so_far();

    let began = Instant::now();
    let recorded = format!("X-Hub-Signature-256: sha256={SIGNATURE}\r\n");
    for number in 1..=300 {
        let reply = send(&server, &recorded, BODY).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 202 Accepted", "{number}");
    }
    // The first at once, and the last of them after all.
    until(async || so_far() >= before + 2).await;
    let most = before + 2 + began.elapsed().as_secs();
    assert!(so_far() <= most, "{} of at most {most}", so_far());
}

#[tokio::test]
async fn who_does_not_know_the_secret_is_refused() {
    let server = server().await;
    let tampered = BODY.replace("main", "evil");
    let signed = format!("X-Hub-Signature-256: sha256={SIGNATURE}\r\n");
    for (header, body) in [
        ("", BODY),
        (&*signed, &*tampered),
        ("X-Gitlab-Token: x\r\n", BODY),
    ] {
        let reply = send(&server, header, body).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 403 Forbidden", "{header}");
    }
}

#[tokio::test]
async fn a_body_of_more_than_a_megabyte_is_not_read() {
    let server = server().await;
    let signed = format!("X-Hub-Signature-256: sha256={SIGNATURE}\r\n");
    let reply = send(&server, &signed, &"x".repeat((1 << 20) + 1)).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 413 Payload Too Large");
    // In whichever way it is sent.
    let head = format!("POST /-/hook HTTP/1.1\r\nHost: a\r\n{signed}");
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(1 << 16));
    let chunks = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\n{}",
        chunk.repeat(17)
    );
    let reply = server.say(chunks).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 413 Payload Too Large");
}

#[tokio::test]
async fn a_body_that_nothing_vouches_for_is_not_waited_for() {
    let server = server().await;
    for header in [
        "",
        "X-Hub-Signature-256: sha256=zz\r\n",
        "X-Hub-Signature-256: \u{e4}\r\n",
        "X-Gitlab-Token: x\r\n",
    ] {
        for length in ["10000000000", "5"] {
            let head = format!("{header}Content-Length: {length}\r\n\r\n");
            let request = format!("POST /-/hook HTTP/1.1\r\nHost: a\r\n{head}");
            let reply = server.say(request).await;
            assert_eq!(reply.status_line(), "HTTP/1.1 403 Forbidden", "{header}");
            assert_eq!(reply.header("connection").unwrap(), "close");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_no_body_is_refused() {
    let server = server().await;
    let signed = format!("X-Hub-Signature-256: sha256={SIGNATURE}\r\n");
    for rest in [
        // Shorter than it says, and chunks that are none.
        format!("Content-Length: 100\r\n\r\n{BODY}"),
        format!("Transfer-Encoding: chunked\r\n\r\nzz\r\n{BODY}\r\n"),
        format!("Transfer-Encoding: chunked\r\n\r\n19\r\n{BODY}\r\n"),
    ] {
        let mut stream = server.connect().await;
        let request = format!("POST /-/hook HTTP/1.1\r\nHost: a\r\n{signed}{rest}");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let reply = crate::support::rest(&mut stream).await.to_string();
        assert!(!reply.contains(" 202 "), "{rest}: {reply}");
    }
    // More than it says is another request, and none at that.
    let longer = format!("{signed}Content-Length: 25\r\n\r\n{BODY}{BODY}");
    let request = format!("POST /-/hook HTTP/1.1\r\nHost: a\r\n{longer}");
    let replies = server.say(request).await.to_string();
    let lines: Vec<_> = replies
        .lines()
        .filter(|line| line.contains("HTTP/1.1"))
        .collect();
    assert_eq!(lines, ["HTTP/1.1 202 Accepted", "HTTP/1.1 400 Bad Request"]);
}

#[tokio::test]
async fn a_hook_of_many_lines_is_a_hook() {
    let server = server().await;
    let header = format!("X-Gitlab-Token: {SECRET}\r\n");
    let reply = send(&server, &header, "{\n  \"ref\": \"refs/heads/main\"\n}\n").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 202 Accepted");
}

#[tokio::test]
async fn only_a_post_is_a_hook() {
    let server = server().await;
    let reply = server.get("/-/hook").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.header("allow").unwrap(), "POST");
}

#[tokio::test]
async fn without_a_secret_there_is_no_hook() {
    let server = Running::start(BEFORE).await;
    let header = format!("X-Gitlab-Token: {SECRET}\r\n");
    let reply = send(&server, &header, BODY).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
}

#[tokio::test]
async fn what_follows_a_body_of_several_lines_is_not_taken_for_its_rest() {
    let server = server().await;
    let body = "{\n  \"ref\": \"refs/heads/main\"\n}\n";
    let length = body.len();
    let mut stream = server.connect().await;
    let head = format!(
        "POST /-/hook HTTP/1.1\r\nHost: a\r\nX-Gitlab-Token: {SECRET}\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    until(async || server.metric("waypost_connections").await == Some(1.0)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let reply = rest(&mut stream).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 202 Accepted");
    assert_eq!(reply.header("connection").unwrap(), "close");
}

#[tokio::test]
async fn a_hook_that_others_may_read_otherwise_is_the_last_request() {
    let server = server().await;
    for header in ["Transfer-Encoding: gzip, chunked\r\n", "Host: b\r\n"] {
        let request = format!("POST /-/hook HTTP/1.1\r\nHost: a\r\n{header}\r\n");
        let reply = server.say(request).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 400 Bad Request");
        assert_eq!(reply.header("connection").unwrap(), "close");
    }
}

#[tokio::test]
async fn a_head_has_no_content() {
    let server = server().await;
    let reply = server.ask("HEAD", "/-/hook", "").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.body(), b"");
}
