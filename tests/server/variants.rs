//! Redirects to the variants of an entry, by the field `Accept`.

use crate::support::{Running, quiet};

const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://example.org/page
  short-code: x
  status: 301
  variants:
  - accept: text/turtle
    url: https://example.org/turtle
  - accept: [application/ld+json, application/json]
    url: https://example.org/json
- url: https://example.org/
  short-code: same
";

/// Requests by the fields that they have, and where they lead.
const CASES: &[(&str, &str)] = &[
    ("", "page"),
    ("Accept: */*\r\n", "page"),
    (
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n",
        "page",
    ),
    ("Accept: text/turtle\r\n", "turtle"),
    ("accept: Text/Turtle;q=0.9, */*;q=0.1\r\n", "turtle"),
    (
        "Accept: text/turtle;q=0.5\r\nAccept: application/json\r\n",
        "json",
    ),
    (
        "Accept: text/turtle;q=0.5\r\nX: y\r\nAccept: text/html\r\n",
        "page",
    ),
    ("Accept: text/turtle;p=\"\u{e9},\"\r\n", "turtle"),
    ("Accept: text/turtle;p=\"\r\n", "page"),
    (
        "Accept: text/turtle;q=7, application/json;q=0.1\r\n",
        "json",
    ),
    ("Accept: \r\n", "page"),
];

#[tokio::test]
async fn a_request_leads_to_the_variant_that_it_prefers() {
    for fast_path in [true, false] {
        let config = waypost::server::Config {
            fast_path,
            ..quiet()
        };
        let server = Running::configured(config, TABLE).await;
        for (fields, target) in CASES {
            for method in ["GET", "HEAD"] {
                let reply = server.ask(method, "/x", fields).await;
                let case = format!("{method} {fields:?}");
                assert_eq!(
                    reply.status_line(),
                    "HTTP/1.1 301 Moved Permanently",
                    "{case}"
                );
                let location = format!("https://example.org/{target}");
                assert_eq!(reply.header("location"), Some(location), "{case}");
                assert_eq!(reply.header("vary").as_deref(), Some("Accept"), "{case}");
                let cached = reply.header("cache-control");
                assert_eq!(cached.as_deref(), Some("public, max-age=60"), "{case}");
            }
        }
        let reply = server.get("/same").await;
        assert_eq!(reply.header("vary"), None);
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn the_same_over_http2() {
    use crate::http2::{ask, asking, client};
    use hyper::Method;
    use hyper::header::{HeaderName, HeaderValue};

    let tables = &[TABLE];
    let secure = crate::secure::Secure::with_tables(quiet(), tables).await;
    let mut sender = client(&secure).await;
    for (fields, target) in CASES {
        for method in [Method::GET, Method::HEAD] {
            let mut request = asking(method, "https://short.code/x");
            for line in fields.split_terminator("\r\n") {
                let (name, value) = line.split_once(':').unwrap();
                let name: HeaderName = name.parse().unwrap();
                let value = HeaderValue::from_bytes(value.trim().as_bytes()).unwrap();
                request.headers_mut().append(name, value);
            }
            let answer = ask(&mut sender, request).await;
            let location = format!("https://example.org/{target}");
            assert_eq!(answer.headers()["location"], location, "{fields:?}");
            assert_eq!(answer.headers()["vary"], "Accept", "{fields:?}");
        }
    }
}

#[tokio::test]
async fn pages_and_programs_see_all_variants() {
    let server = Running::start(TABLE).await;
    let page = server.get("/x+").await.text();
    for target in ["page", "turtle", "json"] {
        assert!(
            page.contains(&format!("href=\"https://example.org/{target}\"")),
            "{page}"
        );
    }
    assert!(
        page.contains("application/ld+json, application/json"),
        "{page}"
    );
    let expected = serde_json::json!([
        {"accept": ["text/turtle"], "url": "https://example.org/turtle"},
        {"accept": ["application/ld+json", "application/json"], "url": "https://example.org/json"},
    ]);
    let accept = "Accept: application/json\r\n";
    let preview = server.ask("GET", "/x+", accept).await;
    assert_eq!(preview.json()["variants"], expected);
    let link = server.get("/-/api/links/x").await.json();
    assert_eq!(link["variants"], expected);
    let other = server.get("/-/api/links/same").await.json();
    assert_eq!(other.get("variants"), None);
}
