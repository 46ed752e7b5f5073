//! Every row of the design's HTTP table.

use crate::support::{Reply, Running};

const TABLE: &str = r"---
base_url: https://short.code/
mapping:
- url: https://framasoft.org/
- url: https://www.gnu.org/
  short-code: gnu-home
- {url: 'https://e.example/301', short-code: moved, status: 301}
- {url: 'https://e.example/303', short-code: other, status: 303, cache-max-age: 0}
- {url: 'https://e.example/307', short-code: same, status: 307, cache-max-age: 86400}
- {url: 'https://e.example/308', short-code: kept, status: 308}
- {url: 'https://e.example/docs/', short-code: docs, forward: path-and-query}
- {url: 'https://e.example/old', short-code: old, retired: true, archive: 'https://a.example/old'}
- {url: 'https://e.example/late', short-code: late, expires: 2001-01-01}
- {url: 'https://e.example/api', short-code: api, status: 307, retired: true}
";

async fn server() -> Running {
    Running::start(TABLE).await
}

#[tokio::test]
async fn the_first_table_of_the_readme_redirects() {
    let server = server().await;
    for (path, location) in [
        ("/t0P0JMya", "https://framasoft.org/"),
        ("/gnu-home", "https://www.gnu.org/"),
    ] {
        let reply = server.get(path).await;
        let head = [
            "HTTP/1.1 302 Found",
            &format!("Location: {location}"),
            "Cache-Control: public, max-age=60",
            "Referrer-Policy: no-referrer",
            "Connection: close",
            "Content-Length: 0",
        ];
        assert_eq!(reply.head(), head);
        assert_eq!(reply.body(), b"");
        assert!(reply.header("date").is_some());
    }
}

#[tokio::test]
async fn the_entry_says_status_and_caching() {
    let server = server().await;
    for (path, status, cache) in [
        ("/moved", "301 Moved Permanently", "public, max-age=60"),
        ("/other", "303 See Other", "no-store"),
        ("/same", "307 Temporary Redirect", "public, max-age=86400"),
        ("/kept", "308 Permanent Redirect", "public, max-age=60"),
    ] {
        let reply = server.get(path).await;
        assert_eq!(reply.status_line(), format!("HTTP/1.1 {status}"));
        assert_eq!(reply.header("cache-control").unwrap(), cache);
    }
}

#[tokio::test]
async fn path_and_query_are_forwarded_verbatim() {
    let server = server().await;
    let reply = server.get("/docs/a%2Fb/%C3%A9?x=1&y=%20").await;
    let location = "https://e.example/docs/a%2Fb/%C3%A9?x=1&y=%20";
    assert_eq!(reply.header("location").unwrap(), location);
    assert_eq!(server.get("/docs/../x").await.status_line(), NOT_FOUND);
    assert_eq!(server.get("/docs/%2e%2E/x").await.status_line(), NOT_FOUND);
}

#[tokio::test]
async fn a_repaired_link_is_not_cached() {
    let server = server().await;
    let reply = server.get("/gnu-home).").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 302 Found");
    assert_eq!(reply.header("location").unwrap(), "https://www.gnu.org/");
    assert_eq!(reply.header("cache-control").unwrap(), "no-store");
}

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found";

#[tokio::test]
async fn an_unknown_code_is_not_found_whatever_the_method() {
    let server = server().await;
    for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let reply = server.ask(method, "/none", "").await;
        assert_eq!(
            reply.head(),
            [
                NOT_FOUND,
                "Content-Type: text/plain; charset=utf-8",
                "X-Content-Type-Options: nosniff",
                "Content-Length: 19",
                "Vary: Accept, Accept-Language",
                "Cache-Control: no-cache",
                "Referrer-Policy: no-referrer",
                "Connection: close",
            ],
            "{method}"
        );
        assert_eq!(reply.text(), "no such short link\n");
    }
}

#[tokio::test]
async fn retired_and_expired_links_are_gone_whatever_the_method() {
    let server = server().await;
    for path in ["/old", "/late", "/api"] {
        for method in ["GET", "POST"] {
            let reply = server.ask(method, path, "").await;
            assert_eq!(reply.status_line(), "HTTP/1.1 410 Gone");
            assert_eq!(reply.header("cache-control").unwrap(), "no-cache");
            assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
        }
    }
    assert!(
        server
            .get("/old")
            .await
            .text()
            .contains("https://a.example/old")
    );
}

#[tokio::test]
async fn other_methods_are_refused_on_what_is_known() {
    let server = server().await;
    let known = [
        "/gnu-home",
        "/gnu-home+",
        "/",
        "/moved",
        "/other",
        "/robots.txt",
        "/favicon.ico",
        "/healthz",
    ];
    for path in known {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"] {
            let reply = server.ask(method, path, "").await;
            assert_eq!(
                reply.head(),
                [
                    "HTTP/1.1 405 Method Not Allowed",
                    "Content-Type: text/plain; charset=utf-8",
                    "X-Content-Type-Options: nosniff",
                    "Content-Length: 23",
                    "Allow: GET, HEAD",
                    "Vary: Accept, Accept-Language",
                    "Cache-Control: no-cache",
                    "Referrer-Policy: no-referrer",
                    "Connection: close",
                ],
                "{method} {path}"
            );
        }
    }
}

#[tokio::test]
async fn redirects_that_keep_the_method_take_every_method() {
    let server = server().await;
    for path in ["/same", "/kept"] {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
            let reply = server.ask(method, path, "Content-Length: 0\r\n").await;
            assert!(
                reply.header("location").is_some(),
                "{method} {path}: {reply}"
            );
        }
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let server = server().await;
    let everything = [
        "/gnu-home",
        "/other",
        "/same",
        "/docs/x",
        "/gnu-home.",
        "/gnu-home+",
        "/",
        "/none",
        "/old",
        "/robots.txt",
        "/favicon.ico",
        "/healthz",
        "/-/none",
    ];
    for path in everything {
        for accept in ["text/html", "application/json", "*/*"] {
            let header = format!("Accept: {accept}\r\n");
            let mut get = server.ask("GET", path, &header).await.head();
            let head = server.ask("HEAD", path, &header).await;
            assert_eq!(head.body(), b"", "{path}");
            let mut head = head.head();
            get.sort();
            head.sort();
            assert_eq!(head, get, "{path} as {accept}");
            assert!(get.iter().any(|line| line.starts_with("Content-Length: ")));
        }
    }
}

#[tokio::test]
async fn fixed_paths_are_always_answered() {
    let server = server().await;
    let ok = "HTTP/1.1 200 OK";
    let robots = server.get("/robots.txt").await;
    assert_eq!(robots.status_line(), ok);
    assert!(robots.text().starts_with("User-agent: *\n"));
    let favicon = server.get("/favicon.ico").await;
    assert_eq!(favicon.status_line(), ok);
    assert_eq!(favicon.header("content-type").unwrap(), "image/svg+xml");

    let health = server.get("/healthz").await;
    assert_eq!(health.status_line(), ok);
    let media_type = "application/health+json";
    assert_eq!(health.header("content-type").unwrap(), media_type);
    assert_eq!(health.json()["status"], "pass");
    assert_eq!(health.json()["version"], env!("CARGO_PKG_VERSION"));
    let revision = health.json()["revision"].as_str().unwrap().to_owned();
    assert!(revision.starts_with("sha256:"), "{revision}");

    for path in ["/-/", "/-/status", "/-/reload", "/-/hook"] {
        assert_eq!(server.get(path).await.status_line(), NOT_FOUND, "{path}");
        let posted = server.ask("POST", path, "").await;
        assert_eq!(posted.status_line(), NOT_FOUND, "{path}");
    }
}

const TWO_SITES: [(&str, &str); 2] = [
    (
        "a.yaml",
        "base_url: https://a.example/go/\nmapping:\n- {url: 'https://e.example/a', short-code: x}\n",
    ),
    (
        "b.yaml",
        "base_url: https://b.example/\nmapping:\n- {url: 'https://e.example/b', short-code: x}\n",
    ),
];

async fn two_sites() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::create_dir(&table).unwrap();
    for (name, text) in TWO_SITES {
        std::fs::write(table.join(name), text).unwrap();
    }
    Running::in_directory(crate::support::quiet(), directory).await
}

async fn at(server: &Running, target: &str, host: &str) -> Reply {
    server
        .say(format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
        .await
}

#[tokio::test]
async fn the_host_chooses_among_several_sites() {
    let server = two_sites().await;
    for (target, host, location) in [
        ("/go/x", "a.example", "https://e.example/a"),
        ("/x", "b.example", "https://e.example/b"),
        ("/x", "B.EXAMPLE.:8443", "https://e.example/b"),
        // RFC 9112 section 3.2.2: the target's host counts, whatever the field says.
        ("http://b.example/x", "a.example", "https://e.example/b"),
        ("HTTP://B.example:80/x", "", "https://e.example/b"),
    ] {
        let reply = at(&server, target, host).await;
        assert_eq!(
            reply.header("location").as_deref(),
            Some(location),
            "{target} {host}"
        );
    }
}

#[tokio::test]
async fn an_unknown_host_is_misdirected() {
    let server = two_sites().await;
    for (target, host) in [
        ("/x", "c.example"),
        ("/x", ""),
        ("http://c.example/x", "b.example"),
    ] {
        let reply = at(&server, target, host).await;
        let misdirected = "HTTP/1.1 421 Misdirected Request";
        assert_eq!(reply.status_line(), misdirected, "{target} {host}");
    }
    let page =
        "GET /x HTTP/1.1\r\nHost: c.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n";
    let page = server.say(page).await;
    assert!(page.status_line().contains(" 421 "), "{page}");
    assert!(
        page.text().contains("<h1>No links under this address</h1>"),
        "{page}"
    );
    let outside = at(&server, "/x", "a.example").await;
    assert_eq!(outside.status_line(), NOT_FOUND);
    let forwarded = "GET /x HTTP/1.1\r\nHost: c.example\r\nX-Forwarded-Host: b.example\r\n\
                     Forwarded: host=b.example\r\nConnection: close\r\n\r\n";
    assert!(server.say(forwarded).await.status_line().contains(" 421 "));
    assert!(
        at(&server, "/healthz", "c.example")
            .await
            .status_line()
            .contains(" 200 ")
    );
}

#[tokio::test]
async fn one_site_answers_for_any_host() {
    let server = server().await;
    for host in ["", "localhost:8080", "192.0.2.1", "[::1]:8080"] {
        let reply = at(&server, "/gnu-home", host).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 302 Found", "{host:?}");
    }
    let old = server.say("GET /gnu-home HTTP/1.0\r\n\r\n").await;
    assert_eq!(old.status_line(), "HTTP/1.0 302 Found");
}
