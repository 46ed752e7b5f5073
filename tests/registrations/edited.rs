//! Links that are changed and retired: by owners and admins, if unchanged since they were read.

use std::sync::Arc;

use serde_json::json;

use crate::fixture::{ADA, ADMIN, BOB, Fixture, problem, status};
use crate::support::{Reply, soon};

/// Links of Ada, of Bob, and without an owner.
const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://a.example/ # stays
  title: A
  owner: ada
- {url: https://b.example/, short-code: b, owner: bob}
- url: https://n.example/
  short-code: n
  aliases: [m]
";

/// The code that is derived from Ada's URL.
fn code() -> String {
    waypost::mapping::Scheme::Sha256
        .code("https://a.example/")
        .to_string()
}

fn etag(reply: &Reply) -> String {
    reply.header("etag").unwrap()
}

#[tokio::test]
async fn an_owner_changes_what_was_read_and_nothing_else() {
    let fixture = Fixture::with_table(TABLE).await;
    let code = code();
    let read = fixture.look_up(&format!("/{code}")).await;
    let patch =
        r#"{"url": "https://new.example", "title": null, "tags": ["x"], "aliases": ["other"]}"#;
    let changed = fixture.edit(ADA, "PATCH", &code, &etag(&read), patch).await;
    assert_eq!(status(&changed), 200, "{changed}");
    let link = changed.json();
    assert_eq!(
        (&link["url"], &link["code"]),
        (&json!("https://new.example/"), &json!(code))
    );
    assert_eq!(
        (&link["aliases"], link.get("title")),
        (&json!(["other"]), None)
    );
    let expected = TABLE.replace(
        "- url: https://a.example/ # stays\n  title: A\n  owner: ada\n",
        &format!(
            "- url: https://new.example/ # stays\n  short-code: {code}\n  aliases: [other]\n  owner: ada\n  \
             tags: [x]\n"
        ),
    );
    assert_eq!(format!("{}\n", fixture.table()), expected);
    let message = fixture.remote("log -1 --format=%B main");
    assert!(message.starts_with(&format!("Edit {code}\n")), "{message}");
    assert!(message.contains("Edited-By: ada") && message.contains("Waypost-Allow: retarget"));
    let followed = fixture.server.get("/other").await;
    assert_eq!(
        followed.header("location").as_deref(),
        Some("https://new.example/")
    );

    // The same request again, whose answer may have been lost, changes nothing.
    let commits = fixture.commits();
    let again = fixture.edit(ADA, "PATCH", &code, &etag(&read), patch).await;
    assert_eq!((status(&again), etag(&again)), (200, etag(&changed)));
    assert_eq!(fixture.commits(), commits);
    // Another request with the earlier tag is refused.
    let stale = fixture
        .edit(ADA, "PATCH", &code, &etag(&read), r#"{"title": "B"}"#)
        .await;
    assert_eq!(
        (status(&stale), &*problem(&stale)),
        (412, "precondition-failed")
    );
    let fresh = fixture
        .edit(ADA, "PATCH", &code, &etag(&changed), r#"{"title": "B"}"#)
        .await;
    assert_eq!(status(&fresh), 200);
    assert_eq!(fixture.counted("edited").await, 3.0);
}

#[tokio::test]
async fn variants_are_replaced_as_a_whole() {
    let fixture = Fixture::with_table(TABLE).await;
    let code = code();
    let patch = async |variants: &str| {
        let body = format!(r#"{{"variants": {variants}}}"#);
        fixture.edit(ADA, "PATCH", &code, "*", &body).await
    };
    let lines = "\n  variants:\n  - accept: text/turtle\n    url: https://a.example/ttl";
    let changed = patch(r#"[{"accept": "text/turtle", "url": "https://A.example/ttl"}]"#).await;
    assert_eq!(status(&changed), 200, "{changed}");
    let expected = json!([{"accept": ["text/turtle"], "url": "https://a.example/ttl"}]);
    assert_eq!(changed.json()["variants"], expected);
    assert_eq!(
        fixture.look_up(&format!("/{code}")).await.json()["variants"],
        expected
    );
    let with = TABLE.replace("  owner: ada", &format!("  owner: ada{lines}"));
    assert_eq!(format!("{}\n", fixture.table()), with);
    // New types break no promise; a type that leads elsewhere does.
    let message = || fixture.remote("log -1 --format=%B main");
    assert!(!message().contains("Waypost-Allow"), "{}", message());
    let commits = fixture.commits();
    let same = patch(r#"[{"accept": ["Text/Turtle"], "url": "https://a.example/ttl"}]"#).await;
    assert_eq!((status(&same), fixture.commits()), (200, commits));
    let moved = patch(r#"[{"accept": "a/b", "url": "https://a.example/b"}]"#).await;
    assert_eq!(status(&moved), 200, "{moved}");
    assert!(
        message().contains("Waypost-Allow: retarget"),
        "{}",
        message()
    );
    let own = patch(r#"[{"accept": "a/b", "url": "https://short.code/b"}]"#).await;
    assert_eq!(own.json()["errors"][0]["pointer"], "/variants");
    let alone =
        r#"[{"accept": "a/b", "url": "https://a.example/", "below": "https://a.example/"}]"#;
    assert_eq!(status(&patch(alone).await), 422);
    // An empty list and null remove them.
    for none in ["[]", "null"] {
        let removed = patch(none).await;
        assert_eq!(
            (status(&removed), removed.json().get("variants")),
            (200, None)
        );
        assert_eq!(format!("{}\n", fixture.table()), TABLE);
        patch(r#"[{"accept": "a/b", "url": "https://a.example/b"}]"#).await;
    }
    let retired = fixture.edit(ADA, "DELETE", &code, "*", "").await;
    assert_eq!(status(&retired), 200);
    let regiven = patch(r#"[{"accept": "a/b", "url": "https://a.example/c"}]"#).await;
    assert_eq!(status(&regiven), 422, "{regiven}");
}

#[tokio::test]
async fn a_link_is_retired_once() {
    let fixture = Fixture::with_table(TABLE).await;
    let read = fixture.look_up("/b").await;
    let retired = fixture.edit(BOB, "DELETE", "b", &etag(&read), "").await;
    assert_eq!(
        (status(&retired), &retired.json()["gone"]),
        (200, &json!(true))
    );
    assert_eq!(status(&fixture.server.get("/b").await), 410);
    let (table, commits) = (fixture.table(), fixture.commits());
    assert!(
        table.contains("short-code: b, owner: bob, retired: 2"),
        "{table}"
    );
    for tag in [etag(&read), etag(&retired), "*".to_owned()] {
        let again = fixture.edit(BOB, "DELETE", "b", &tag, "").await;
        assert_eq!(status(&again), 200, "{again}");
    }
    assert_eq!((fixture.table(), fixture.commits()), (table, commits));
}

#[tokio::test]
async fn entries_of_others_are_for_admins() {
    let fixture = Fixture::with_table(TABLE).await;
    for (token, code, expected) in [
        (ADA, "b", 403),
        (ADA, "n", 403),
        (ADMIN, "b", 200),
        (ADMIN, "m", 200),
    ] {
        let reply = fixture
            .edit(token, "PATCH", code, "*", r#"{"title": "T"}"#)
            .await;
        assert_eq!(status(&reply), expected, "{code}: {reply}");
        let kind = (expected == 403).then(|| problem(&reply));
        assert!(kind.is_none_or(|kind| kind == "not-owned"));
    }
    // An owner may hand over an entry, and then no longer has it.
    let code = code();
    let given = fixture
        .edit(ADA, "PATCH", &code, "*", r#"{"owner": "bob"}"#)
        .await;
    assert_eq!(status(&given), 200);
    let reply = fixture.edit(ADA, "DELETE", &code, "*", "").await;
    assert_eq!(status(&reply), 403);
}

#[tokio::test]
async fn what_cannot_be_changed_is_refused_with_all_reasons() {
    let fixture = Fixture::with_table(TABLE).await;
    let table = fixture.table();
    let code = code();
    let missing = fixture
        .send(ADA, "PATCH", &code, "", r#"{"title": "T"}"#)
        .await;
    assert_eq!(
        (status(&missing), &*problem(&missing)),
        (428, "precondition-required")
    );
    let body = r#"{"url": null, "status": 200, "short_code": "x", "title": "a\nb"}"#;
    let invalid = fixture.edit(ADA, "PATCH", &code, "*", body).await;
    assert_eq!(status(&invalid), 422);
    let pointers: Vec<_> = (invalid.json()["errors"].as_array().unwrap().iter())
        .map(|it| it["pointer"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(pointers, ["/url", "/title", "/status", "/short_code"]);
    for (token, method, code, body, expected) in [
        (ADA, "PATCH", "nosuch", r#"{"title": "T"}"#, 404),
        (ADA, "DELETE", "nosuch", "", 404),
        ("wrong", "DELETE", "b", "", 401),
        (ADMIN, "PATCH", "n", r#"{"aliases": []}"#, 422),
        (ADMIN, "PATCH", "n", r#"{"aliases": ["m", "b"]}"#, 409),
        (
            ADMIN,
            "PATCH",
            "n",
            r#"{"url": "https://short.code/b"}"#,
            422,
        ),
        (ADMIN, "PATCH", "n", r#"{"url": "https://b.example/"}"#, 409),
        (ADMIN, "PATCH", "n", "{", 400),
        (ADMIN, "PATCH", "n", "[]", 422),
    ] {
        let reply = fixture.edit(token, method, code, "*", body).await;
        assert_eq!(status(&reply), expected, "{method} {code} {body}: {reply}");
    }
    let page = fixture
        .send(
            ADMIN,
            "DELETE",
            "b",
            "If-Match: *\r\nOrigin: https://short.code\r\n",
            "",
        )
        .await;
    assert_eq!((status(&page), &*problem(&page)), (403, "from-a-page"));
    let text = fixture
        .send(
            ADMIN,
            "PATCH",
            "b",
            "If-Match: *\r\nContent-Type: text/plain\r\n",
            "{}",
        )
        .await;
    assert_eq!(status(&text), 415);
    let put = fixture.server.say(format!(
        "PUT /-/api/links/{code} HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )).await;
    assert_eq!(status(&put), 405);
    assert_eq!(
        put.header("allow").as_deref(),
        Some("GET, HEAD, PATCH, DELETE")
    );
    assert_eq!(
        put.header("accept-patch").as_deref(),
        Some("application/merge-patch+json")
    );
    assert_eq!(fixture.table(), table);
}

#[tokio::test]
async fn of_those_who_read_the_same_only_one_writes() {
    let fixture = Arc::new(Fixture::with_table(TABLE).await);
    let tag = etag(&fixture.look_up("/b").await);
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..8 {
        let (fixture, tag) = (Arc::clone(&fixture), tag.clone());
        writers.spawn(async move {
            let body = format!(r#"{{"title": "by {n}"}}"#);
            status(&fixture.edit(BOB, "PATCH", "b", &tag, &body).await)
        });
    }
    let mut statuses = soon(writers.join_all()).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412, 412, 412, 412, 412]);
}
