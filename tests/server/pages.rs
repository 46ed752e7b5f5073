//! Pages: what people and programs are shown.

use waypost::server::Config;

use crate::support::{Reply, Running, quiet};
use crate::torn::git::git;

const TABLE: &str = r#"---
base_url: https://short.code/
mapping:
- url: https://framasoft.org/?a=1&b=%3Cscript%3E
  short-code: frama
  title: "<script>alert('title')</script> & more"
  owner: "\"><img src=x onerror=alert(1)>"
  tags: ["<b>tag</b>", plain]
  expires: 2999-12-31
  forward: query
  below: https://docs.example/?q=%3C&r=
- {url: 'https://e.example/old', short-code: old, retired: true, title: '<i>old</i>', archive: 'https://a.example/?x=%22'}
- {url: 'https://e.example/1', short-code: example-one, aliases: [été/1, one]}
- {url: 'https://e.example/2', short-code: example-two}
"#;

const HTML: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

async fn page(server: &Running, path: &str) -> Reply {
    server.ask("GET", path, HTML).await
}

#[tokio::test]
async fn a_preview_shows_and_follows_nothing() {
    let server = Running::start(TABLE).await;
    let reply = page(&server, "/frama+").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    assert_eq!(reply.header("location"), None);
    let text = reply.text();
    let link =
        "href=\"https://framasoft.org/?a=1&#38;b=%3Cscript%3E\" rel=\"noreferrer nofollow\">";
    assert_eq!(text.matches(link).count(), 2, "{text}");
    for shown in [
        "https://<strong>framasoft.org</strong>/?a=1&#38;b=%3Cscript%3E",
        ">Continue to framasoft.org</a>",
        "<dt>Paths below the code lead to</dt><dd><a href=\"https://docs.example/?q=%3C&#38;r=\"",
        "https://short.code/frama",
        "plain",
        "through <time datetime=\"2999-12-31\">31 December 2999</time>",
        "sha256:",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

#[tokio::test]
async fn the_landing_page_says_what_this_is() {
    let server = Running::start(TABLE).await;
    let text = page(&server, "/").await.text();
    for shown in [
        "https://short.code/",
        "4 links",
        "<a class=\"button\" href=\"/-/propose\">Propose a link</a>",
        "pull request",
        "sha256:",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

#[tokio::test]
async fn with_home_the_base_url_leads_elsewhere() {
    let table = "base_url: https://short.code/go/\nhome: https://e.example/welcome\nmapping: []\n";
    let server = Running::start(table).await;
    for method in ["GET", "HEAD"] {
        let reply = server.ask(method, "/go/?query", "").await;
        assert!(reply.status_line().contains("302"), "{reply:?}");
        let header = |name| reply.header(name).unwrap();
        assert_eq!(header("location"), "https://e.example/welcome");
        assert_eq!(header("cache-control"), "public, max-age=60");
        assert_eq!(header("referrer-policy"), "no-referrer");
    }
    let redirects = "waypost_requests_total{outcome=\"redirect\"}";
    assert_eq!(server.metric(redirects).await, Some(2.0));
    for path in ["/go/", "/go/-/"] {
        let posted = server.ask("POST", path, "").await;
        assert!(posted.status_line().contains("405"), "{posted:?}");
    }
    // Every page links to the landing page, which is below the base URL.
    for path in ["/go/-/", "/-/", "/go/nothing"] {
        let text = page(&server, path).await.text();
        assert!(
            text.contains("<a class=\"wordmark\" href=\"/go/-/\">"),
            "{text}"
        );
    }
    let landing = page(&server, "/go/-/").await.text();
    assert!(landing.contains("https://short.code/go/"), "{landing}");
    let without = Running::start(TABLE).await;
    let reply = without.get("/-/").await;
    assert!(reply.status_line().contains("404"), "{reply:?}");
}

#[tokio::test]
async fn with_a_fallback_unknown_paths_lead_elsewhere() {
    let table = "base_url: https://short.code/\nfallback: https://old.example/l/\nmapping:\n\
                 - {url: 'https://e.example/', short-code: x}\n";
    let server = Running::start(table).await;
    for method in ["GET", "HEAD"] {
        let reply = server.ask(method, "/a%20b/ä?q=1&r", "").await;
        assert!(reply.status_line().contains("302"), "{reply:?}");
        let header = |name| reply.header(name).unwrap();
        assert_eq!(
            header("location"),
            "https://old.example/l/a%20b/%C3%A4?q=1&r"
        );
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(reply.body(), b"");
    }
    assert_eq!(server.location("/x").await, "https://e.example/");
    let count = async |outcome: &str| {
        let name = format!("waypost_requests_total{{outcome=\"{outcome}\"}}");
        server.metric(&name).await.unwrap()
    };
    assert_eq!(
        (count("fallback").await, count("not_found").await),
        (2.0, 0.0)
    );
    for (method, path) in [("POST", "/abc"), ("GET", "/a/../b"), ("GET", "/-/nothing")] {
        let reply = server.ask(method, path, HTML).await;
        assert!(
            reply.status_line().contains("404"),
            "{method} {path}: {reply:?}"
        );
    }
    assert_eq!(
        (count("fallback").await, count("not_found").await),
        (2.0, 3.0)
    );
}

#[tokio::test]
async fn an_unknown_code_brings_the_nearest() {
    let server = Running::start(TABLE).await;
    let text = page(&server, "/exampel-one").await.text();
    assert!(
        text.contains(
            "<a href=\"/example-one\">example-one</a> <span class=\"to\">e.example</span>"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn the_page_of_a_link_has_its_other_codes() {
    let server = Running::start(TABLE).await;
    for path in ["/example-one+", "/one+"] {
        let text = page(&server, path).await.text();
        for alias in [
            "<li><a href=\"/%C3%A9t%C3%A9/1\"><bdi>été/1</bdi></a></li>",
            "<li><a href=\"/one\"><bdi>one</bdi></a></li>",
        ] {
            assert!(text.contains(alias), "{alias}: {text}");
        }
    }
    let json = "Accept: application/json\r\n";
    let preview = server.ask("GET", "/one+", json).await.json();
    assert_eq!(preview["code"], "example-one");
    assert_eq!(preview["aliases"], serde_json::json!(["été/1", "one"]));
    let text = page(&server, "/example-two+").await.text();
    assert!(!text.contains("Other codes"), "{text}");
}

#[tokio::test]
async fn a_table_that_is_not_public_discloses_no_codes() {
    let config = Config {
        public_table: false,
        ..quiet()
    };
    let server = Running::configured(config, TABLE).await;
    for accept in [HTML, "Accept: application/json\r\n"] {
        let reply = server.ask("GET", "/exampel-one", accept).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
        let text = reply.text();
        assert!(!text.contains("example-one"), "{text}");
        assert!(!text.contains("e.example"), "{text}");
        let reply = server.ask("GET", "/example-one+", accept).await;
        assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
        assert!(!reply.text().contains("/one"), "{reply}");
    }
}

#[tokio::test]
async fn the_requested_path_is_escaped() {
    let server = Running::start(TABLE).await;
    let text = page(&server, "/caf%C3%A9%3Cscript%3Ealert(1)%3C%2Fscript%3E")
        .await
        .text();
    assert!(text.contains("/café&#60;script&#62;alert(1)"), "{text}");
    let raw = "GET /\"><svg/onload=alert(1)> HTTP/1.1\r\nHost: a\r\n\
               Accept: text/html\r\nConnection: close\r\n\r\n";
    assert!(!server.say(raw).await.to_string().contains("<svg"));
}

#[tokio::test]
async fn every_page_is_safe_small_and_whole() {
    let server = Running::start(TABLE).await;
    let long = format!("/{}", "%3Cscript%3E".repeat(600));
    for path in ["/", "/frama+", "/none", "/old", &long, "/-/none"] {
        let reply = page(&server, path).await;
        let header = |name| {
            reply
                .header(name)
                .unwrap_or_else(|| panic!("no {name}: {reply}"))
        };
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("vary"), "Accept, Accept-Language");
        assert_eq!(header("content-language"), "en");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-cache");
        assert_eq!(reply.header("set-cookie"), None);
        let policy = header("content-security-policy");
        for part in [
            "default-src 'none'",
            "style-src 'sha256-",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");

        let text = reply.text();
        assert!(text.len() < 15 * 1024, "{path} has {} bytes", text.len());
        for there in [
            "<!doctype html>",
            "<html lang=\"en\">",
            "<title>",
            "<main>",
            "<h1>",
            "color-scheme",
            "focus-visible",
            "table revision <code>sha256:",
        ] {
            assert!(text.contains(there), "{path} lacks {there}");
        }
        // Nothing is loaded for it unless the visitor adds the search to the browser.
        let text = text.replace("<link rel=\"search\"", "");
        for not_there in [
            "<script",
            "<img src=x",
            "<b>tag",
            "<i>old",
            "<link",
            "@import",
            "url(",
        ] {
            assert!(!text.contains(not_there), "{path} has {not_there}: {text}");
        }
    }
}

/// A table that describes itself, with links that have ended in each way.
const ABOUT: &str = r#"---
base_url: https://short.code/
name: Free <software> & "us"
repository: https://forge.example/us/links
contact: mailto:links@short.code
mapping:
- {url: 'https://xn--mnchen-3ya.example/', short-code: m, expires: 2999-12-31T10:30:00Z}
- {url: 'https://e.example/1', short-code: expired, expires: 2020-12-31}
- {url: 'https://e.example/2', short-code: retired, retired: 2021-03-01}
- {url: 'https://e.example/3', short-code: always, retired: true}
"#;

#[tokio::test]
async fn every_page_leads_to_those_who_made_the_collection() {
    let server = Running::start(ABOUT).await;
    for path in ["/", "/m+", "/none", "/expired", "/-/none"] {
        let text = page(&server, path).await.text();
        for shown in [
            "<bdi>Free &#60;software&#62; &#38; &#34;us&#34;</bdi></a>",
            " · Free &#60;software&#62; &#38; &#34;us&#34;</title>",
            "<a class=\"wordmark\" href=\"/\">",
            "<a href=\"https://forge.example/us/links\">Repository</a>",
            "<a href=\"mailto:links@short.code\">Contact</a>",
        ] {
            assert!(text.contains(shown), "{path} lacks {shown}: {text}");
        }
    }
}

#[tokio::test]
async fn the_page_of_a_link_has_its_qr_code_and_the_way_to_report_it() {
    let table = ABOUT.replace("short-code: m,", "short-code: größe/1,");
    let table = table.replace("https://short.code/", "https://short.code/go/");
    let server = Running::start(&table).await;
    let text = page(&server, "/go/gr%C3%B6%C3%9Fe/1+").await.text();
    let report = "mailto:links@short.code?subject=About%20the%20short%20link%20\
                  https%3A%2F%2Fshort.code%2Fgo%2F";
    assert!(text.contains(&format!("<a href=\"{report}")), "{text}");
    assert!(text.contains(">Report this link</a>"), "{text}");
    let image = text.split("<img src=\"").nth(1).unwrap();
    let image = image.split('"').next().unwrap();
    assert!(image.starts_with("/go/-/qr/gr%C3%B6"), "{image}");
    let reply = server.get(image).await;
    assert_eq!(reply.header("content-type").unwrap(), "image/svg+xml");

    let server = Running::start(&ABOUT.replace("mailto:links@", "https://")).await;
    let text = page(&server, "/m+").await.text();
    let report = "<a href=\"https://short.code/\" rel=\"noreferrer\">Report this link</a>";
    assert!(text.contains(report), "{text}");

    let server = Running::start(TABLE).await;
    let text = page(&server, "/frama+").await.text();
    assert!(!text.contains("Report this link"), "{text}");
}

#[tokio::test]
async fn the_page_of_a_link_leads_to_its_line_in_the_repository() {
    let table = ABOUT.replace("forge.example", "github.com");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mapping.yaml");
    std::fs::write(&file, &table).unwrap();
    git(directory.path(), "init --quiet");
    git(directory.path(), "add .");
    git(directory.path(), "commit --quiet -m links");
    let commit = git(directory.path(), "rev-parse HEAD");
    let server = Running::in_directory(quiet(), directory).await;
    let text = page(&server, "/m+").await.text();
    let address = format!("https://github.com/us/links/blob/{commit}/mapping.yaml#L7");
    let line = "<code>mapping.yaml</code>, line 7</a>";
    let editor = "https://github.com/us/links/edit/main/mapping.yaml";
    for shown in [
        &format!("<a href=\"{address}\" rel=\"noreferrer\">{line}"),
        &format!("<a href=\"{editor}\" rel=\"noreferrer\">Propose a change</a>"),
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }

    // The line of what is not committed may be another one there.
    server.replace_table(&format!("# one more\n{table}"));
    server.reload().await;
    let text = page(&server, "/m+").await.text();
    assert!(
        text.contains("<dd><code>mapping.yaml</code>, line 8</dd>"),
        "{text}"
    );

    // For an unknown forge, the addresses of pages are unknown too.
    let server = Running::start(ABOUT).await;
    let text = page(&server, "/m+").await.text();
    assert!(
        text.contains("<dd><code>mapping.yaml</code>, line 7</dd>"),
        "{text}"
    );
    let repository = "<a href=\"https://forge.example/us/links\" rel=\"noreferrer\">";
    assert!(text.contains(repository), "{text}");
    // A table that does not name its repository does not show its files.
    let server = Running::start(TABLE).await;
    assert!(
        !page(&server, "/frama+")
            .await
            .text()
            .contains("mapping.yaml")
    );
}

#[tokio::test]
async fn a_person_gets_a_page_for_a_refusal() {
    let server = Running::start(ABOUT).await;
    let german = format!("{HTML}Accept-Language: de\r\n");
    let reply = server.ask("POST", "/m", &german).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
    assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
    let text = reply.text();
    assert!(
        text.contains("<h1>Hierher lässt sich nichts senden</h1>"),
        "{text}"
    );
    assert!(text.contains("Free &#60;software&#62;"), "{text}");
    let reply = server.ask("POST", "/-/links", HTML).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert!(reply.text().contains("<h1>"), "{reply}");
    // Programs go by the status.
    for accept in ["", "Accept: */*\r\n"] {
        let reply = server.ask("POST", "/m", accept).await;
        assert_eq!(reply.text(), "405 Method Not Allowed\n");
        assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
    }
    let json = "Accept: application/json\r\n";
    let reply = server.ask("POST", "/m", json).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(reply.header("allow").unwrap(), "GET, HEAD");
    assert_eq!(reply.json()["error"], "method not allowed");
}

#[tokio::test]
async fn a_cache_distinguishes_formats_and_languages() {
    let server = Running::start(ABOUT).await;
    let forms = [HTML, "Accept: application/json\r\n", "Accept: */*\r\n"];
    let languages = ["en", "de"].map(|tag| format!("Accept-Language: {tag}\r\n"));
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/m+"),
        ("GET", "/none"),
        ("GET", "/expired"),
        ("GET", "/-/none"),
        ("GET", "/-/links"),
        ("GET", "/-/links?state=Live"),
        ("GET", "/-/go?q=always"),
        ("GET", "/-/opensearch.xml"),
        ("GET", "/-/propose"),
        ("GET", "/-/propose?url=https://n.example/&code=m"),
        ("GET", "/-/qr/none.svg"),
        ("POST", "/m"),
    ] {
        let mut answers = Vec::new();
        for form in forms {
            for language in &languages {
                let headers = format!("{form}{language}");
                answers.push((form, language, server.ask(method, path, &headers).await));
            }
        }
        for (form, language, one) in &answers {
            // No part of it is reused without revalidation.
            let kept = one.header("cache-control").unwrap_or_default();
            assert!(["no-cache", "no-store"].contains(&&*kept), "{path}: {one}");
            for (other_form, other_language, other) in &answers {
                let vary = one.header("vary").unwrap_or_default();
                let mut vary = vary.split(", ");
                let differs = one.text() != other.text();
                if differs && form != other_form && language == other_language {
                    assert!(vary.any(|name| name == "Accept"), "{path}: {one}");
                } else if differs && form == other_form {
                    assert!(vary.any(|name| name == "Accept-Language"), "{path}: {one}");
                }
            }
        }
        // It can fail: each has several forms or languages.
        let first = answers[0].2.text();
        assert!(answers.iter().any(|(.., it)| it.text() != first), "{path}");
    }
}

#[tokio::test]
async fn each_refusal_has_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::create_dir(&table).unwrap();
    std::fs::write(table.join("about.yaml"), ABOUT).unwrap();
    let other = "base_url: https://other.code/\nmapping: []\n";
    std::fs::write(table.join("other.yaml"), other).unwrap();
    let server = Running::in_directory(quiet(), directory).await;
    let say = async |target: &str, fields: &str| {
        let head = format!("GET {target} HTTP/1.1\r\n{fields}{HTML}Connection: close\r\n\r\n");
        server.say(head).await
    };
    for (target, fields, status, heading) in [
        ("/m", "", "400 Bad Request", "This request is not valid"),
        (
            "/m",
            "Host: a b\r\n",
            "400 Bad Request",
            "This request is not valid",
        ),
        (
            "/-/links?state=Live",
            "Host: short.code\r\n",
            "400 Bad Request",
            "This search is not possible",
        ),
        (
            "/-/links",
            "Host: third.code\r\n",
            "421 Misdirected Request",
            "No links under this address",
        ),
        (
            "/-/qr/m.svg",
            "Host: third.code\r\n",
            "421 Misdirected Request",
            "No links under this address",
        ),
        (
            "/-/qr/none.svg",
            "Host: short.code\r\n",
            "404 Not Found",
            "No such short link",
        ),
    ] {
        let reply = say(target, fields).await;
        assert_eq!(reply.status_line(), format!("HTTP/1.1 {status}"));
        let text = reply.text();
        assert!(
            text.contains(&format!("<h1>{heading}</h1>")),
            "{target}: {text}"
        );
        assert!(text.len() < 20 * 1024);
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(policy.contains("default-src 'none'"), "{policy}");
    }
    // A refusal of a site has its frame.
    let text = say("/-/links?state=Live", "Host: short.code\r\n")
        .await
        .text();
    assert!(text.contains("Free &#60;software&#62;"), "{text}");
}

#[tokio::test]
async fn a_page_is_in_the_requested_language() {
    let server = Running::start(ABOUT).await;
    for (path, shown) in [
        ("/", "<h1>Kurzlinks</h1>"),
        (
            "/m+",
            "bis <time datetime=\"2999-12-31T10:30:00Z\">31. Dezember 2999, 10:30 Uhr (UTC)</time>",
        ),
        ("/m+", "<bdi>münchen.example</bdi>"),
        ("/m+", ">Weiter zu xn--mnchen-3ya.example</a>"),
        (
            "/expired",
            "war bis zum <time datetime=\"2020-12-31\">31. Dezember 2020</time> gültig.",
        ),
        (
            "/retired",
            "seit dem <time datetime=\"2021-03-01\">1. März 2021</time>",
        ),
        ("/always", "Dieser Link wird nicht mehr verwendet"),
        ("/none", "Diesen Kurzlink gibt es nicht"),
    ] {
        let headers = format!("{HTML}Accept-Language: de-DE,de;q=0.9,en;q=0.8\r\n");
        let reply = server.ask("GET", path, &headers).await;
        assert_eq!(reply.header("content-language").unwrap(), "de");
        assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
        let text = reply.text();
        assert!(text.contains("<html lang=\"de\">"), "{text}");
        assert!(text.contains(shown), "{path} lacks {shown}: {text}");
        // JSON has no language.
        let json = "Accept: application/json\r\nAccept-Language: de\r\n";
        let reply = server.ask("GET", path, json).await;
        assert_eq!(reply.header("content-language"), None);
        assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
    }
}

#[tokio::test]
async fn the_end_of_a_link_is_a_day_or_a_time_in_words() {
    let table = "base_url: https://short.code/
mapping:
- {url: 'https://e.example/1', short-code: a, expires: 2020-12-31}
- {url: 'https://e.example/2', short-code: b, expires: 2020-12-31T10:30:00Z}
- {url: 'https://e.example/3', short-code: c, retired: 2021-03-01}
- {url: 'https://e.example/4', short-code: d, retired: 2021-03-01T12:30:00+01:00}
- {url: 'https://e.example/5', short-code: e, retired: true}
- {url: 'https://e.example/6', short-code: f, expires: 2999-12-31}
- {url: 'https://e.example/7', short-code: g, expires: 2999-12-31T10:30:00Z}
";
    let server = Running::start(table).await;
    for (path, english, german) in [
        (
            "/a",
            "was valid through 31 December 2020.",
            "war bis zum 31. Dezember 2020 gültig.",
        ),
        (
            "/b",
            "was valid until 10:30 UTC on 31 December 2020.",
            "war bis zum 31. Dezember 2020, 10:30 Uhr (UTC), gültig.",
        ),
        (
            "/c",
            "was retired on 1 March 2021.",
            "ist seit dem 1. März 2021 außer Betrieb.",
        ),
        (
            "/d",
            "was retired at 11:30 UTC on 1 March 2021.",
            "ist seit dem 1. März 2021, 11:30 Uhr (UTC), außer Betrieb.",
        ),
        ("/e", "has been retired.", "ist außer Betrieb."),
        ("/f+", "through 31 December 2999", "bis 31. Dezember 2999"),
        (
            "/g+",
            "until 10:30 UTC on 31 December 2999",
            "bis 31. Dezember 2999, 10:30 Uhr (UTC)",
        ),
    ] {
        for (language, expected) in [("en", english), ("de", german)] {
            let headers = format!("{HTML}Accept-Language: {language}\r\n");
            let text = server.ask("GET", path, &headers).await.text();
            let parts = text.split('<').map(|part| match part.split_once('>') {
                Some((_, text)) => text,
                None => part,
            });
            let words: String = parts.collect();
            assert!(words.contains(expected), "{path}: {words}");
        }
    }
}

#[tokio::test]
async fn programs_get_json_and_others_text() {
    let server = Running::start(TABLE).await;
    let json = "Accept: application/json\r\n";
    for (path, status) in [("/", 200), ("/frama+", 200), ("/none", 404), ("/old", 410)] {
        let reply = server.ask("GET", path, json).await;
        assert!(reply.status_line().contains(&status.to_string()));
        assert_eq!(reply.header("content-type").unwrap(), "application/json");
        assert_eq!(reply.header("vary").unwrap(), "Accept, Accept-Language");
        let revision = reply.json()["revision"].as_str().unwrap().to_owned();
        assert!(revision.starts_with("sha256:"));
    }
    let preview = server.ask("GET", "/frama+", json).await.json();
    assert_eq!(preview["title"], "<script>alert('title')</script> & more");
    assert_eq!(
        preview["target"],
        "https://framasoft.org/?a=1&b=%3Cscript%3E"
    );

    let plain = server.ask("GET", "/exampel-one", "Accept: */*\r\n").await;
    assert_eq!(
        plain.header("content-type").unwrap(),
        "text/plain; charset=utf-8"
    );
    assert_eq!(plain.text(), "no such short link\n");
}
