//! What is refused, and how that is answered.

use std::fs;

use waypost::server::Config;

use crate::fixture::{ADA, EMPTY, Fixture, problem, status};
use crate::schema::{Description, fields_of};
use crate::support::{quiet, until};

const JSON: &str = "Content-Type: application/json\r\n";

#[tokio::test]
async fn registering_needs_a_token() {
    let fixture = Fixture::new().await;
    let body = r#"{"url": "https://e.org/"}"#;
    let twice = format!("Authorization: Bearer {ADA}\r\nAuthorization: Bearer {ADA}\r\n");
    for headers in [
        "",
        "Authorization: Bearer x\r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Basic ada-secret\r\n",
        "Authorization: ada-secret\r\n",
        &twice,
    ] {
        let reply = fixture.post(&format!("{headers}{JSON}"), body).await;
        assert_eq!(status(&reply), 401, "{headers}");
        assert_eq!(reply.header("www-authenticate").unwrap(), "Bearer");
    }
    let headers = format!("authorization: bearer {ADA}\r\n{JSON}");
    assert_eq!(status(&fixture.post(&headers, body).await), 201);
    assert_eq!(fixture.counted("unauthorized").await, 6.0);
}

#[tokio::test]
async fn tokens_come_and_go_with_their_file() {
    let fixture = Fixture::new().await;
    let body = r#"{"url": "https://e.org/", "get_or_create": true}"#;
    let tokens = fs::read_to_string(fixture.root.join("tokens")).unwrap();
    fs::write(fixture.root.join("tokens"), "# all revoked\n").unwrap();
    until(async || status(&fixture.register(body).await) == 401).await;
    fs::write(fixture.root.join("tokens"), tokens).unwrap();
    until(async || status(&fixture.register(body).await) != 401).await;
}

#[tokio::test]
async fn requests_from_pages_in_browsers_are_refused() {
    let fixture = Fixture::new().await;
    let origin = "Origin: https://evil.example\r\n";
    let reply = fixture
        .register_as(ADA, origin, r#"{"url": "https://e.org/"}"#)
        .await;
    assert_eq!(status(&reply), 403);
    let site = "Sec-Fetch-Site: cross-site\r\n";
    let reply = fixture
        .register_as(ADA, site, r#"{"url": "https://e.org/"}"#)
        .await;
    assert_eq!(status(&reply), 403);
    let asked = "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n";
    let reply = fixture.server.ask("OPTIONS", "/-/api/links", asked).await;
    assert_eq!(status(&reply), 405);
    assert_eq!(reply.header("allow").unwrap(), "GET, HEAD, POST");
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn what_is_no_registration_is_answered_with_the_reason() {
    let fixture = Fixture::new().await;
    let long = format!(r#"{{"url": "https://e.org/{}"}}"#, "a".repeat(100_000));
    for (body, expected) in [
        ("", 400),
        ("{", 400),
        ("[]", 422),
        ("{}", 422),
        (r#"{"url": "https://e.org/", "code": "x"}"#, 422),
        (r#"{"url": "https://e.org/", "short_code": "a+"}"#, 422),
        (r#"{"url": "https://e.org/", "title": "a\u0007"}"#, 422),
        (r#"{"url": "https://e.org/\n"}"#, 422),
        (r#"{"url": "https://e.org/", "expires": "soon"}"#, 422),
        (r#"{"url": "https://short.code/x"}"#, 422),
        (&long, 413),
    ] {
        let reply = fixture.register(body).await;
        assert_eq!(status(&reply), expected, "{reply}");
    }
    for key in ["expires", "site", "file", "short_code", "unknown"] {
        let long = "a".repeat(60_000);
        let reply = fixture
            .register(&format!(
                r#"{{"url": "https://e.org/", "{key}": "{long}"}}"#
            ))
            .await;
        assert_eq!(status(&reply), 422, "{key}");
        assert!(reply.text().len() < 2_000, "{key}");
    }
    let headers = format!("Authorization: Bearer {ADA}\r\nContent-Type: text/plain\r\n");
    assert_eq!(status(&fixture.post(&headers, "{}").await), 415);
    for (method, path, allow) in [
        ("PUT", "/-/api/links", "GET, HEAD, POST"),
        ("DELETE", "/-/api/links", "GET, HEAD, POST"),
        ("POST", "/-/api/links/x", "GET, HEAD, PATCH, DELETE"),
        ("POST", "/-/api/openapi.json", "GET, HEAD"),
    ] {
        let reply = fixture.server.ask(method, path, "").await;
        assert_eq!(status(&reply), 405, "{method} {path}");
        assert_eq!(reply.header("allow").unwrap(), allow);
    }
    assert_eq!(status(&fixture.server.get("/-/api/linksx").await), 404);
    assert_eq!(
        (fixture.commits(), fixture.table()),
        (1, EMPTY.trim().to_owned())
    );
    assert_eq!(fixture.counted("refused").await, 17.0);
}

#[tokio::test]
async fn a_table_that_is_full_stays_as_it_is() {
    // What the server reads is at most 1 MiB.
    let full = format!("# {}\n{EMPTY}", "x".repeat((1 << 20) - 60));
    let fixture = Fixture::with_table(&full).await;
    let body = r#"{"url": "https://e.org/", "short_code": "a"}"#;
    let reply = fixture.register(body).await;
    assert_eq!((status(&reply), &*problem(&reply)), (422, "invalid"));
    assert!(reply.text().contains("larger than 1048576 bytes"));
    assert_eq!(fixture.commits(), 1);
}

#[tokio::test]
async fn a_table_that_is_not_public_is_looked_up_with_a_token() {
    let config = Config {
        public_table: false,
        ..quiet()
    };
    let fixture = Fixture::configured(config, EMPTY).await;
    assert_eq!(status(&fixture.look_up("/x").await), 401);
    let token = format!("Authorization: Bearer {ADA}\r\n");
    let reply = fixture.server.ask("GET", "/-/api/links/x", &token).await;
    assert_eq!(status(&reply), 404);
}

/// The statuses that no test here can cause: a panic, and 10 seconds of a slow body.
const UNSEEN: [u16; 2] = [408, 500];

/// The other tests check that each answer is described; this one, that each described one occurs.
#[tokio::test]
async fn all_that_is_described_is_answered() {
    let variants = "- url: https://v.org/\n  short-code: v\n  forward: all\n  variants:\n  \
                    - accept: text/turtle\n    url: https://v.org/ttl\n    below: https://v.org/ttl/\n";
    let fixture = Fixture::with_table(&EMPTY.replace("[]\n", &format!("\n{variants}"))).await;
    assert_eq!(status(&fixture.look_up("/v").await), 200);
    let register = async |body: &str| fixture.register(body).await;
    let large = format!(r#"{{"url": "{}"}}"#, "a".repeat(70_000));
    register(r#"{"url": "https://e.org/", "title": "T", "tags": ["t"], "aliases": ["a"], "below": "https://b.org/"}"#).await;
    register(r#"{"url": "https://e.org/", "get_or_create": true}"#).await;
    let taken = register(r#"{"url": "https://e.org/2", "short_code": "a"}"#).await;
    assert_eq!(problem(&taken), "code-taken");
    register("{").await;
    register(r#"{"url": "https://e.org/2", "short_cod": "a"}"#).await;
    register(&large).await;
    fixture.post(JSON, "{}").await;
    fixture
        .post(&format!("Authorization: Bearer {ADA}\r\n"), "{}")
        .await;
    fixture.register_as(ADA, "Origin: null\r\n", "{}").await;
    fixture.hook("pre-receive", "exit 1");
    register(r#"{"url": "https://e.org/3"}"#).await;
    fs::rename(
        fixture.root.join("remote.git"),
        fixture.root.join("gone.git"),
    )
    .unwrap();
    register(r#"{"url": "https://e.org/3"}"#).await;

    let description = Description::new(fixture.server.get("/-/api/openapi.json").await.json());
    let seen = fixture.seen.lock().unwrap().clone();
    // Too many at a time are seen in `groups`.
    let unseen = [&UNSEEN[..], &[429]].concat();
    for status in description.statuses("post", "/-/api/links") {
        let is_seen = seen.iter().any(|(seen, _)| *seen == status);
        assert!(is_seen != unseen.contains(&status), "{status}");
    }
    let mut fields = Vec::new();
    for (_, content) in &seen {
        fields_of(content, "", &mut fields);
    }
    for schema in ["Link", "Problem"] {
        // Results of link checks are seen in `link_checks`.
        let mut described = description.fields(schema);
        described.retain(|field| !field.starts_with("/link_check"));
        for field in described {
            assert!(
                fields.contains(&field),
                "{field} of a {schema} was not seen"
            );
        }
    }
}

/// A table whose links have the owner `ada`, another one, or none.
const OWNED: &str = "base_url: https://short.code/\nmapping:\n\
    - {url: https://bank.example/app/, short-code: bank, forward: path-and-query, owner: carol}\n\
    - {url: https://docs.example/, short-code: docs}\n\
    - {url: https://ada.example/, short-code: ada, forward: path, owner: ada}\n";

#[tokio::test]
async fn no_token_takes_over_paths_of_others() {
    let fixture = Fixture::with_table(OWNED).await;
    let commits = fixture.commits();
    for (code, path, held_by) in [
        ("bank/login", "/bank/login?x=1", "bank"),
        ("docs.", "/docs.", "docs"),
    ] {
        let before = fixture.server.get(path).await.header("location");
        assert!(before.is_some());
        // The owner that the request names makes no difference.
        let body = format!(
            r#"{{"url": "https://evil.example/", "short_code": "{code}", "owner": "carol"}}"#
        );
        let reply = fixture.register(&body).await;
        assert_eq!(status(&reply), 422, "{reply}");
        assert_eq!(problem(&reply), "shadowing");
        assert_eq!(reply.json()["existing"]["code"], held_by);
        let after = fixture.server.get(path).await.header("location");
        assert_eq!(after, before);
    }
    let body = r#"{"url": "https://evil.example/", "aliases": ["bank/x"]}"#;
    assert_eq!(problem(&fixture.register(body).await), "shadowing");
    assert_eq!(fixture.commits(), commits);
    // They may change their own, and the commit declares it.
    let body = r#"{"url": "https://else.example/", "short_code": "ada/x"}"#;
    let reply = fixture.register(body).await;
    assert_eq!(status(&reply), 201, "{reply}");
    let message = fixture.remote("log -1 --format=%B main");
    assert!(
        message.ends_with("Registered-By: ada\nWaypost-Allow: retarget ada/x"),
        "{message}"
    );
}
