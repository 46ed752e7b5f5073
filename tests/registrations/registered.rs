//! Links that are registered, and found again.

use crate::fixture::{BOB, Fixture, status};
use crate::support::quiet;

#[tokio::test]
async fn a_new_link_is_in_the_remote_and_redirects() {
    let fixture = Fixture::new().await;
    let body = r#"{"url": "https://Git-SCM.com", "short_code": "git", "title": "Git: it",
        "tags": ["vcs"], "aliases": ["scm"], "status": 301, "forward": "query",
        "below": "https://Docs.git-scm.com", "expires": "2999-01-01"}"#;
    let reply = fixture.register(body).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 201 Created");
    assert_eq!(reply.header("location").unwrap(), "https://short.code/git");
    let link = reply.json();
    assert_eq!(link["short_url"], "https://short.code/git");
    assert_eq!(link["url"], "https://git-scm.com/");
    assert_eq!(link["below"], "https://docs.git-scm.com/");
    assert_eq!(link["owner"], "ada");
    assert_eq!(link["aliases"][0], "scm");
    assert_eq!(link["commit"], fixture.remote("rev-parse main"));

    let followed = fixture.server.get("/scm").await;
    assert_eq!(followed.status_line(), "HTTP/1.1 301 Moved Permanently");
    let below = fixture.server.get("/scm/a%2Fb?q").await;
    let location = "https://docs.git-scm.com/a%2Fb?q";
    assert_eq!(below.header("location").unwrap(), location);
    let revision = fixture.server.status().await["revision"]["commit"].clone();
    assert_eq!(revision, link["commit"]);
    assert_eq!(
        fixture.table(),
        "base_url: https://short.code/\nmapping:\n- url: https://git-scm.com/\n  \
         below: https://docs.git-scm.com/\n  short-code: git\n  aliases: [scm]\n  title: \"Git: it\"\n  owner: ada\n  tags: [vcs]\n  \
         status: 301\n  forward: query\n  expires: 2999-01-01"
    );
    assert_eq!(
        fixture.remote("log -1 --format=%an%n%B main"),
        "W\nAdd git\n\nShort-Link: https://short.code/git\nRegistered-By: ada"
    );
    assert_eq!(fixture.counted("created").await, 1.0);
}

#[tokio::test]
async fn a_new_link_has_variants() {
    let fixture = Fixture::new().await;
    let body = r#"{"url": "https://e.org/", "short_code": "e", "below": "https://e.org/b/", "variants": [
        {"accept": "text/Turtle", "url": "https://E.org/ttl"},
        {"accept": ["a/b", "a/c"], "url": "https://e.org/x", "below": "https://e.org/x/"}]}"#;
    let reply = fixture.register(body).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 201 Created", "{reply}");
    let expected = serde_json::json!([
        {"accept": ["text/turtle"], "url": "https://e.org/ttl"},
        {"accept": ["a/b", "a/c"], "url": "https://e.org/x", "below": "https://e.org/x/"},
    ]);
    assert_eq!(reply.json()["variants"], expected);
    let read = fixture.look_up("/e").await;
    assert_eq!(read.json()["variants"], expected);
    assert!(fixture.table().ends_with(
        "  owner: ada\n  variants:\n  - accept: text/turtle\n    url: https://e.org/ttl\n  \
         - accept: [a/b, a/c]\n    url: https://e.org/x\n    below: https://e.org/x/"
    ));
    for (variants, expected) in [
        // Short links of the table, and what the entry cannot have.
        (r#"[{"accept": "a/b", "url": "https://short.code/e"}]"#, 422),
        (
            r#"[{"accept": "a/b", "url": "https://e.org/", "below": "https://e.org/"}]"#,
            422,
        ),
        (r#"[{"accept": "a/b"}]"#, 422),
        (r#"[{"accept": "a/b", "url": "https://e.org/"}]"#, 201),
    ] {
        let body = format!(r#"{{"url": "https://f.org/", "variants": {variants}}}"#);
        let reply = fixture.register(&body).await;
        assert_eq!(status(&reply), expected, "{variants}: {reply}");
        if variants.contains("short.code") {
            assert_eq!(reply.json()["errors"][0]["pointer"], "/variants");
        }
    }
}

#[tokio::test]
async fn a_url_has_one_link() {
    let fixture = Fixture::new().await;
    let reply = fixture.register(r#"{"url": "https://e.org/"}"#).await;
    let first = reply.json();
    let reply = fixture
        .register(r#"{"url": "https://E.org", "short_code": "e"}"#)
        .await;
    assert_eq!(reply.status_line(), "HTTP/1.1 409 Conflict");
    let report = reply.json();
    assert_eq!(report["title"], "ERR-000-02-00: URL already registered");
    assert_eq!(report["existing"]["short_url"], first["short_url"]);
    let body = r#"{"url": "https://E.org", "get_or_create": true}"#;
    let reply = fixture.register_as(BOB, "", body).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(reply.json(), first);
    assert_eq!(fixture.commits(), 2);
    assert_eq!(fixture.counted("existing").await, 2.0);
}

#[tokio::test]
async fn numbers_go_on() {
    let table = "base_url: https://short.code/\ndefaults:\n  new: number\nmapping:\n\
                 - url: https://old.example/\n  number: 61\n";
    let fixture = Fixture::with_table(table).await;
    for (body, code) in [
        (r#"{"url": "https://e.org/1"}"#, "10"),
        (r#"{"url": "https://e.org/2", "number": "next"}"#, "11"),
        (r#"{"url": "https://e.org/3"}"#, "12"),
    ] {
        assert_eq!(fixture.register(body).await.json()["code"], code, "{body}");
    }
}

#[tokio::test]
async fn what_others_pushed_counts() {
    let fixture = Fixture::new().await;
    let reply = fixture.register(r#"{"url": "https://e.org/1"}"#).await;
    assert_eq!(status(&reply), 201);
    // The server has not fetched it when the next registration comes.
    let theirs = fixture.table() + "\n- url: https://theirs.example/\n  short-code: taken\n";
    fixture.push(&theirs);
    let body = r#"{"url": "https://e.org/2", "short_code": "taken"}"#;
    let reply = fixture.register(body).await;
    assert_eq!(status(&reply), 409, "{reply}");
    assert_eq!(reply.json()["existing"]["url"], "https://theirs.example/");
    let reply = fixture.register(r#"{"url": "https://e.org/2"}"#).await;
    assert_eq!(status(&reply), 201);
    assert_eq!(fixture.commits(), 4);
    assert!(fixture.table().contains("taken"));
    assert_eq!(status(&fixture.server.get("/taken").await), 302);
}

#[tokio::test]
async fn links_are_looked_up_by_code_and_by_url() {
    let table = "base_url: https://short.code/\nmapping:\n\
                 - url: https://e.org/?a=b&c\n  short-code: a/é\n\
                 - short-code: old\n  retired: true\n";
    let fixture = Fixture::with_table(table).await;
    let link = fixture.look_up("/a/%C3%A9").await.json();
    assert_eq!(link["code"], "a/é");
    assert_eq!(link["short_url"], "https://short.code/a/%C3%A9");
    assert_eq!(fixture.look_up("/a%2Fe%CC%81").await.json(), link);
    let by_url = fixture
        .look_up("?url=HTTPS%3A%2F%2Fe.org%2F%3Fa%3Db%26c")
        .await;
    assert_eq!(by_url.json(), link);
    let named = fixture
        .look_up("/a/%C3%A9?site=https%3A%2F%2Fshort.code%2F")
        .await;
    assert_eq!(named.json(), link);
    let old = fixture.look_up("/old").await.json();
    assert_eq!((&old["gone"], old.get("url")), (&true.into(), None));
    for (rest, expected) in [
        ("/new", 404),
        ("/%FF", 404),
        ("/old?site=https%3A%2F%2Fother.example%2F", 404),
        ("?url=https%3A%2F%2Fother.example%2F", 404),
        ("?url=none", 422),
        ("?q=old", 200),
        ("", 200),
        ("?page=2", 400),
        ("?url=a&url=b", 400),
    ] {
        assert_eq!(status(&fixture.look_up(rest).await), expected, "{rest}");
    }
}

#[tokio::test]
async fn of_a_directory_of_sites_the_right_file_is_written() {
    let site = |host| format!("base_url: https://{host}/\nmapping: []\n");
    let (ours, theirs) = (site("short.code"), site("other.example"));
    let files = [("a.yaml", &*ours), ("b.yaml", &theirs), ("c.yaml", &theirs)];
    let fixture = &Fixture::of(quiet(), ".", &files).await;
    let register = async |body: &str| fixture.register(body).await.json();
    let link = register(r#"{"url": "https://e.org/"}"#).await;
    assert_eq!(
        link["short_url"], "https://short.code/GuTqBuqD",
        "of the host that was asked"
    );
    let other = r#""url": "https://e.org/", "site": "https://other.example/""#;
    let refused = register(&format!("{{{other}}}")).await;
    assert_eq!(refused["errors"][0]["pointer"], "/file");
    assert_eq!(refused["errors"][0]["hint"], "name one as \"file\"");
    let link = register(&format!(r#"{{{other}, "file": "c.yaml"}}"#)).await;
    assert_eq!(link["short_url"], "https://other.example/GuTqBuqD");
    let refused = register(r#"{"url": "https://e.org/", "site": "https://x.example/"}"#).await;
    assert_eq!(refused["errors"][0]["pointer"], "/site");
    let of = |file| fixture.remote(&format!("show main:{file}"));
    let entries = ["a.yaml", "b.yaml", "c.yaml"].map(|file| of(file).matches("- url").count());
    assert_eq!(entries, [1, 0, 1]);
    let found = fixture
        .look_up("/GuTqBuqD?site=https%3A%2F%2Fother.example%2F")
        .await;
    assert_eq!(found.json()["short_url"], link["short_url"]);
}
