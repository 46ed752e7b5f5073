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

const HTML: &str = "Accept: text/html\r\n";

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
    for path in [
        "/-/api/links",
        "/-/api/links/zoo",
        "/-/api/openapi.json",
        "/-/links",
        "/-/go?q=zoo",
        "/-/opensearch.xml",
    ] {
        assert!(has_status(&server.get(path).await, 404), "{path}");
    }
    let landing = server.ask("GET", "/", HTML).await.text();
    assert!(!landing.contains("/-/links") && !landing.contains("opensearch"));
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

#[tokio::test]
async fn people_search_with_a_form() {
    let server = Running::start(TABLE).await;
    let landing = server.ask("GET", "/", HTML).await.text();
    assert!(landing.contains("href=\"/-/links\""), "{landing}");
    let reply = server.ask("GET", "/-/links?q=gnu+PROJECT", HTML).await;
    assert_eq!(
        reply.header("content-type").unwrap(),
        "text/html; charset=utf-8"
    );
    assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
    assert_eq!(reply.header("cache-control").unwrap(), "no-cache");
    assert_eq!(reply.header("content-language").unwrap(), "en");
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    let page = reply.text();
    assert!(
        page.contains("<a href=\"/gnu-home+\">gnu-home</a>"),
        "{page}"
    );
    assert!(page.contains("value=\"gnu PROJECT\""), "{page}");
    assert!(page.contains("Found 1 link."), "{page}");
    assert!(!page.contains("zoo"), "{page}");
    let all = server.ask("GET", "/-/links", HTML).await.text();
    assert!(all.contains("There are 4 links."), "{all}");
    assert!(all.contains("tier/park"), "{all}");
    let nothing = server.ask("GET", "/-/links?q=nothing", HTML).await.text();
    assert!(nothing.contains("No links found."), "{nothing}");
    assert_eq!(
        server
            .metric("waypost_requests_total{outcome=\"page\"}")
            .await,
        Some(4.0)
    );
    let reply = server
        .ask("POST", "/-/links", "Content-Length: 0\r\n")
        .await;
    assert!(has_status(&reply, 405), "{reply}");
}

#[tokio::test]
async fn a_query_without_a_meaning_is_explained() {
    let server = Running::start(TABLE).await;
    for (query, text, error) in [
        (
            "state=dead",
            "There is no such state.",
            "there is no such state",
        ),
        (
            "q=a&tag=b&q=c",
            "a search field twice.",
            "a parameter is repeated",
        ),
        (
            &format!("q={}", "x".repeat(201)),
            "is too long.",
            "a parameter is too long",
        ),
    ] {
        let path = format!("/-/links?{query}");
        let page = server.ask("GET", &path, HTML).await;
        assert!(has_status(&page, 400), "{page}");
        assert!(page.text().contains(text), "{page}");
        assert!(page.text().contains("href=\"/-/links\""), "{page}");
        let reply = server
            .ask("GET", &path, "Accept: application/json\r\n")
            .await;
        assert!(has_status(&reply, 400), "{reply}");
        assert!(
            reply.json()["error"].as_str().unwrap().starts_with(error),
            "{reply}"
        );
        let reply = server.get(&path).await;
        assert!(
            has_status(&reply, 400) && reply.text().starts_with(error),
            "{reply}"
        );
    }
    assert_eq!(
        server
            .metric("waypost_requests_total{outcome=\"bad_request\"}")
            .await,
        Some(9.0)
    );
}

#[tokio::test]
async fn a_list_without_links_says_so_once() {
    let server = Running::start("base_url: https://short.code/\nmapping: []\n").await;
    let page = server.ask("GET", "/-/links", HTML).await.text();
    assert!(
        page.contains("No links found.") && !page.contains("0 links"),
        "{page}"
    );
}

#[tokio::test]
async fn each_form_and_language_has_a_tag_of_its_own() {
    let server = Running::start(TABLE).await;
    let mut tags = BTreeSet::new();
    for headers in [
        HTML,
        "Accept: text/html\r\nAccept-Language: de\r\n",
        "Accept: application/json\r\n",
    ] {
        let reply = server.ask("GET", "/-/links?q=gnu", headers).await;
        let tag = reply.header("etag").unwrap();
        let known = format!("{headers}If-None-Match: {tag}\r\n");
        let reply = server.ask("GET", "/-/links?q=gnu", &known).await;
        assert!(has_status(&reply, 304), "{reply}");
        assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
        assert!(tags.insert(tag));
    }
    let german = "Accept: text/html\r\nAccept-Language: de-AT, en;q=0.5\r\n";
    let reply = server.ask("GET", "/-/links?q=gnu", german).await;
    assert_eq!(reply.header("content-language").unwrap(), "de");
    assert!(reply.text().contains("1 Link gefunden."), "{reply}");
    let json = server
        .ask("GET", "/-/links?q=gnu", "Accept: application/json\r\n")
        .await;
    assert_eq!(codes(&json), ["gnu-home"]);
}

#[tokio::test]
async fn what_is_searched_for_is_shown_and_nothing_more() {
    let server = Running::start(TABLE).await;
    let hostile = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%0D%0AX-Injected:%20y";
    for key in ["q", "tag", "owner", "after"] {
        let path = format!("/-/links?{key}={hostile}");
        let reply = server.ask("GET", &path, HTML).await;
        assert!(has_status(&reply, 200), "{reply}");
        assert_eq!(reply.header("x-injected"), None);
        assert!(!reply.text().contains("<script"), "{reply}");
        let reply = server
            .ask("GET", &format!("/-/go?{key}={hostile}"), HTML)
            .await;
        assert!(has_status(&reply, 303), "{reply}");
        assert_eq!(reply.header("x-injected"), None);
    }
}

#[tokio::test]
async fn a_page_of_links_is_small_and_leads_on() {
    let mut yaml = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 100..160 {
        yaml += &format!(
            "- {{url: 'https://www.example.org/a/path/of/some/length/{number}', short-code: link-{number}, \
             title: 'A title of common length, {number}', tags: [handbook]}}\n"
        );
    }
    let server = Running::start(&yaml).await;
    let page = server
        .ask("GET", "/-/links?tag=handbook", HTML)
        .await
        .text();
    assert!(page.len() < 20_000, "{} bytes", page.len());
    assert!(!page.contains("link-150"));
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    assert_eq!(next, "?tag=handbook&after=link-149");
    let page = server
        .ask("GET", &format!("/-/links{next}"), HTML)
        .await
        .text();
    assert_eq!(page.matches("/link-1").count(), 10, "{page}");
    assert!(!page.contains("rel=\"next\""), "{page}");
    assert!(
        page.contains("href=\"?tag=handbook\">First links</a>"),
        "{page}"
    );
}

#[tokio::test]
async fn a_code_leads_to_its_target_and_anything_else_is_searched_for() {
    let server = Running::start(TABLE).await;
    for name in [
        "gnu-home",
        "+gnu-home+",
        "https%3A%2F%2Fshort.code%2Fgnu-home",
        "short.code/gnu-home",
    ] {
        let reply = server.get(&format!("/-/go?q={name}")).await;
        assert!(has_status(&reply, 303), "{reply}");
        assert_eq!(reply.header("location").unwrap(), "https://www.gnu.org/");
        assert_eq!(reply.header("cache-control").unwrap(), "no-store");
        assert_eq!(reply.header("referrer-policy").unwrap(), "no-referrer");
    }
    for name in ["old", "taken-down", "tier/park"] {
        let reply = server.get(&format!("/-/go?q={name}")).await;
        assert!(has_status(&reply, 410), "{reply}");
    }
    for (asked, query) in [
        ("?q=gnu", "q=gnu"),
        ("?q=GNU-home", "q=GNU-home"),
        ("?q=gnu-home%2B", "q=gnu-home%2B"),
        (
            "?q=https%3A%2F%2Fwww.gnu.org%2F",
            "q=https%3A%2F%2Fwww.gnu.org%2F",
        ),
        ("?q=%2F%2Fevil.example", "q=%2F%2Fevil.example"),
        ("?q=caf%C3%A9", "q=caf%C3%A9"),
        ("?url=https%3A%2F%2Fevil.example%2F", ""),
        ("", ""),
    ] {
        let reply = server.get(&format!("/-/go{asked}")).await;
        assert!(has_status(&reply, 303), "{reply}");
        assert_eq!(
            reply.header("location").unwrap(),
            format!("/-/links?{query}")
        );
    }
    // Of a text that is too long to search for, the beginning.
    let long = server.get(&format!("/-/go?q={}", "x".repeat(201))).await;
    let location = long.header("location").unwrap();
    assert_eq!(location, format!("/-/links?q={}", "x".repeat(200)));
    let reply = server
        .ask("POST", "/-/go?q=gnu-home", "Content-Length: 0\r\n")
        .await;
    assert!(has_status(&reply, 405), "{reply}");
}

#[tokio::test]
async fn browsers_learn_how_to_search() {
    let server = Running::start(&format!("name: Tom & \"Söhne\" <Handbuch>\n{TABLE}")).await;
    let reply = server
        .ask(
            "GET",
            "/-/opensearch.xml",
            "X-Forwarded-Host: evil.example\r\n",
        )
        .await;
    assert_eq!(
        reply.header("content-type").unwrap(),
        "application/opensearchdescription+xml"
    );
    let xml = reply.text();
    assert!(
        xml.contains("<ShortName>Tom &#38; &#34;Söhne&#34; &#60;H</ShortName>"),
        "{xml}"
    );
    assert!(
        xml.contains("template=\"https://short.code/-/go?q={searchTerms}\""),
        "{xml}"
    );
    for path in ["/", "/gnu-home+", "/-/links", "/nowhere"] {
        let page = server.ask("GET", path, HTML).await.text();
        assert!(page.contains("<link rel=\"search\""), "{path}: {page}");
    }
}

#[tokio::test]
async fn host_and_base_path_choose_what_is_listed() {
    let yaml = "base_url: https://short.code/go/\nmapping:\n- {url: 'https://a.example/', short-code: a}\n";
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::create_dir(&table).unwrap();
    std::fs::write(table.join("a.yaml"), yaml).unwrap();
    let other =
        "base_url: https://other.code/\nmapping:\n- {url: 'https://b.example/', short-code: b}\n";
    std::fs::write(table.join("b.yaml"), other).unwrap();
    let server = Running::in_directory(quiet(), directory).await;
    let list = async |host: &str, path: &str| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
        );
        server.say(request).await
    };
    for path in ["/-/links", "/go/-/links"] {
        assert_eq!(codes(&list("short.code", path).await), ["a"], "{path}");
    }
    assert_eq!(codes(&list("other.code:8080", "/-/links").await), ["b"]);
    let go = list("short.code", "/go/-/go?q=nothing").await;
    assert_eq!(go.header("location").unwrap(), "/go/-/links?q=nothing");
    // A code of another site does not exist here.
    let go = list("short.code", "/-/go?q=b").await;
    assert_eq!(go.header("location").unwrap(), "/go/-/links?q=b");
    for path in ["/-/links", "/-/go?q=a", "/-/opensearch.xml"] {
        let reply = list("elsewhere.example", path).await;
        assert!(has_status(&reply, 421), "{path}: {reply}");
    }
    assert!(has_status(&list("other.code", "/x/-/links").await, 404));
}
