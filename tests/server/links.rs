//! Lists of links: searched, and taken page by page.

use std::collections::BTreeSet;

use serde_json::Value;
use waypost::server::Config;

use crate::support::{Reply, Running, quiet};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
    - {url: 'https://www.gnu.org/', short-code: gnu-home, title: The GNU Project, owner: docs, tags: [free]}\n\
    - {url: 'https://zoo.example/', short-code: zoo, aliases: [tier/park], expires: 2020-01-01}\n\
    - {short-code: taken-down, title: Was here, retired: true}\n\
    - {url: 'https://old.example/', short-code: old, retired: true}\n";

/// Returns the codes of a list in JSON.
fn codes(reply: &Reply) -> Vec<String> {
    assert!(reply.status_line().ends_with("200 OK"), "{reply}");
    let links = reply.json()["links"].clone();
    let code = |link: &Value| link["code"].as_str().unwrap().to_owned();
    links.as_array().unwrap().iter().map(code).collect()
}

fn has_status(reply: &Reply, status: u16) -> bool {
    reply.status_line().contains(&format!(" {status} "))
}

#[tokio::test]
async fn programs_search_on_every_server() {
    let server = Running::start(TABLE).await;
    for (query, expected) in [
        ("", &["gnu-home", "old", "taken-down", "zoo"][..]),
        ("?q=GNU+project", &["gnu-home"]),
        ("?q=tier%2FPARK", &["zoo"]),
        ("?q=nothing", &[]),
        ("?tag=Free", &["gnu-home"]),
        ("?owner=Docs", &["gnu-home"]),
        ("?state=live", &["gnu-home"]),
        ("?state=expired", &["zoo"]),
        ("?state=retired&q=", &["old", "taken-down"]),
        ("?after=old", &["taken-down", "zoo"]),
        ("?after=p", &["taken-down", "zoo"]),
        ("?after=zoo", &[]),
        ("?site=https%3A%2F%2Fshort.code%2F&q=old", &["old"]),
    ] {
        let reply = server.get(&format!("/-/api/links{query}")).await;
        assert_eq!(codes(&reply), expected, "{query}");
        assert_eq!(reply.header("content-type").unwrap(), "application/json");
        assert_eq!(reply.json().get("next"), None, "{query}");
    }
    let links = server.get("/-/api/links").await.json();
    assert_eq!(
        links["links"][0]["short_url"],
        "https://short.code/gnu-home"
    );
    assert_eq!(links["links"][0]["url"], "https://www.gnu.org/");
    assert_eq!(links["links"][0]["title"], "The GNU Project");
    assert_eq!(links["links"][2].get("url"), None, "what was taken down");
    assert_eq!(links["links"][3]["gone"], true);
    for query in ["?q=a&q=b", "?state=dead", "?page=2", "?url=x&q=y"] {
        let reply = server.get(&format!("/-/api/links{query}")).await;
        assert!(has_status(&reply, 400), "{query}: {reply}");
    }
    let long = "x".repeat(201);
    let reply = server.get(&format!("/-/api/links?q={long}")).await;
    assert!(has_status(&reply, 400), "{reply}");
    // Look-ups and the description need no registrations either.
    let link = server.get("/-/api/links/zoo").await.json();
    assert_eq!(link["gone"], true);
    let link = server
        .get("/-/api/links?url=https%3A%2F%2Fwww.gnu.org")
        .await
        .json();
    assert_eq!(link["code"], "gnu-home");
    let described = server.get("/-/api/openapi.json").await.json();
    assert_eq!(described["openapi"], "3.1.0");
    for method in ["POST", "PUT", "DELETE"] {
        let reply = server
            .ask(method, "/-/api/links", "Content-Length: 0\r\n")
            .await;
        assert!(has_status(&reply, 405), "{reply}");
        assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
    }
}

#[tokio::test]
async fn a_table_that_is_not_public_is_not_listed() {
    let config = Config {
        public_table: false,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    for path in ["/-/api/links", "/-/api/links/zoo", "/-/api/openapi.json"] {
        assert!(has_status(&server.get(path).await, 404), "{path}");
    }
}

#[tokio::test]
async fn a_list_that_is_known_is_not_sent_again() {
    let server = Running::start(TABLE).await;
    let path = "/-/api/links?q=gnu";
    let reply = server.get(path).await;
    assert_eq!(reply.header("cache-control").unwrap(), "no-cache");
    let tag = reply.header("etag").unwrap();
    let head = server.ask("HEAD", path, "").await;
    assert_eq!(head.header("etag").unwrap(), tag);
    assert_eq!(
        head.header("content-length"),
        reply.header("content-length")
    );
    let known = format!("If-None-Match: {tag}\r\n");
    let reply = server.ask("GET", path, &known).await;
    assert!(has_status(&reply, 304), "{reply}");
    assert_eq!(reply.header("etag").unwrap(), tag);
    assert!(reply.body().is_empty(), "{reply}");
    // Another list has another tag, and so has the same list of another table.
    let reply = server.ask("GET", "/-/api/links?q=zoo", &known).await;
    assert!(has_status(&reply, 200), "{reply}");
    server.replace_table(&TABLE.replace("The GNU", "Your GNU"));
    server.reload().await;
    let reply = server.ask("GET", path, &known).await;
    assert!(has_status(&reply, 200), "{reply}");
    assert_eq!(reply.json()["links"][0]["title"], "Your GNU Project");
}

#[tokio::test]
async fn pages_follow_one_another_until_the_end() {
    let mut yaml = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..137 {
        yaml += &format!("- url: https://e.example/{number}\n");
    }
    let server = Running::start(&yaml).await;
    let mut seen = Vec::new();
    let mut next = Some(String::new());
    while let Some(after) = next {
        let reply = server.get(&format!("/-/api/links?after={after}")).await;
        seen.extend(codes(&reply));
        next = reply.json()["next"].as_str().map(str::to_owned);
        assert!(seen.len() == 137 || next.is_some(), "{reply}");
    }
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 137);
    assert!(seen.is_sorted());
}
