//! The hook: a Git host's word that there is something new.

use waypost::server::{Config, HookSecret};

use crate::support::{Reply, Running, quiet, until};

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
    let reply = send(&server, "", &"x".repeat((1 << 20) + 1)).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 413 Payload Too Large");
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
