//! The form that proposes a link: what it shows, and what it refuses to do.

use waypost::mapping::{MAX_CODE_BYTES, MAX_TARGET_BYTES, SourceFile, compile};
use waypost::server::Config;

use crate::support::{Reply, Running, quiet};

const TABLE: &str = "---
base_url: https://short.code/
name: Links of <Example>
repository: https://github.com/example/links
mapping:
- url: https://framasoft.org/
- {url: 'https://e.example/docs/', short-code: docs, forward: path}
- {url: 'https://e.example/old', short-code: old, retired: true}
";

const HTML: &str = "Accept: text/html\r\n";
const FORM: &str = "/-/propose";

const HOSTILE: &str = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%0d%0aSet-Cookie:%20a=b";

async fn page(server: &Running, query: &str) -> Reply {
    server.ask("GET", &format!("{FORM}?{query}"), HTML).await
}

/// A server on a directory of files, in which each proposal is a file of its own.
async fn on_a_directory() -> Running {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::create_dir(&table).unwrap();
    std::fs::write(table.join("all.yaml"), TABLE).unwrap();
    Running::in_directory(quiet(), directory).await
}

fn attribute<'t>(text: &'t str, before: &str) -> &'t str {
    let start = text
        .find(before)
        .unwrap_or_else(|| panic!("{before}: {text}"));
    text[start + before.len()..].split('"').next().unwrap()
}

#[tokio::test]
async fn an_empty_form_asks_for_a_page() {
    let server = Running::start(TABLE).await;
    let reply = page(&server, "").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    let text = reply.text();
    for shown in [
        "<form action=\"/-/propose\" method=\"get\">",
        "Links of &#60;Example&#62;",
        "javascript:location.href=&#39;https://short.code/-/propose?url=&#39;",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("id=\"lines\""));
}

#[tokio::test]
async fn a_proposal_shows_the_link_the_lines_and_the_way() {
    let server = Running::start(TABLE).await;
    let query = "url=HTTPS://New.Example&code=new&title=A+%22b%22:&tags=x,+z&expires=2999-12-31";
    let reply = page(&server, query).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    let text = reply.text();
    for shown in [
        "https://short.code/new",
        "- url: https://new.example/\n  short-code: new\n",
        "  tags: [x, z]\n  expires: 2999-12-31\n",
        "https://github.com/example/links/edit/main/mapping.yaml",
        "value=\"HTTPS://New.Example\"",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }

    let json = server
        .ask(
            "GET",
            &format!("{FORM}?{query}"),
            "Accept: application/json\r\n",
        )
        .await
        .json();
    assert_eq!(json["short_url"], "https://short.code/new");
    assert_eq!(json["path"], "mapping.yaml");
    let added = format!("{TABLE}{}", json["text"].as_str().unwrap());
    let file = SourceFile {
        path: "mapping.yaml".into(),
        bytes: added.into_bytes(),
    };
    let compiled = compile(&[file]);
    assert!(compiled.table.is_some(), "{:?}", compiled.diagnostics);
}

#[tokio::test]
async fn in_a_directory_a_new_file_is_filled_in() {
    let server = on_a_directory().await;
    let text = page(&server, "url=https://new.example/&code=a/b")
        .await
        .text();
    let address = attribute(&text, "id=\"send\" href=\"").replace("&#38;", "&");
    assert_eq!(
        address,
        "https://github.com/example/links/new/main?filename=mapping.yaml%2Fa%252Fb.yaml\
         &value=mapping%3A%0A-%20url%3A%20https%3A%2F%2Fnew.example%2F%0A%20%20\
         short-code%3A%20a%2Fb%0A&message=Add%20a%2Fb"
    );
}

#[tokio::test]
async fn the_whole_file_is_filled_in_only_as_a_commit_has_it() {
    // This table is no commit of a repository, so its text may be an old one.
    let table = TABLE.replace("github.com", "codeberg.org");
    let server = Running::start(&table).await;
    let text = page(&server, "url=https://new.example/").await.text();
    let address = attribute(&text, "id=\"send\" href=\"");
    assert_eq!(
        address,
        "https://codeberg.org/example/links/_edit/main/mapping.yaml"
    );
}

#[tokio::test]
async fn the_issue_form_of_the_repository_is_another_way() {
    let directory = tempfile::tempdir().unwrap();
    let run = std::process::Command::new("git")
        .args(["init", "--quiet", "--initial-branch=main"])
        .current_dir(directory.path())
        .status();
    assert!(run.unwrap().success());
    let forms = directory.path().join(".github/ISSUE_TEMPLATE");
    std::fs::create_dir_all(&forms).unwrap();
    std::fs::write(directory.path().join("mapping.yaml"), TABLE).unwrap();
    std::fs::write(forms.join("propose-link.yml"), "").unwrap();
    let server = Running::in_directory(quiet(), directory).await;
    let query = "url=https://new.example/&code=new&title=%22%3E%3Cscript%3E";
    let text = page(&server, query).await.text();
    let address = attribute(&text, "id=\"send-issue\" href=\"").replace("&#38;", "&");
    assert_eq!(
        address,
        "https://github.com/example/links/issues/new?template=propose-link.yml&title=Add%20new\
         &url=https%3A%2F%2Fnew.example%2F&code=new&link-title=%22%3E%3Cscript%3E"
    );
    assert!(!text.contains("<script"), "{text}");
    // Only for a link that is possible, and where there is a form.
    let refused = page(&server, "url=https://new.example/&code=docs").await;
    assert!(!refused.text().contains("send-issue"));
    let server = Running::start(TABLE).await;
    assert!(!page(&server, query).await.text().contains("send-issue"));
}

#[tokio::test]
async fn what_is_not_possible_is_explained() {
    let server = Running::start(TABLE).await;
    for (query, shown) in [
        ("url=ftp://e.example/", "The address cannot be used:"),
        (
            "url=https://short.code/docs",
            "already a short link of this collection",
        ),
        (
            "url=https://framasoft.org",
            "This page already has a short link.",
        ),
        ("url=https://e.example/old", "which is no longer in use"),
        (
            "url=https://n.example/&code=docs",
            "<code>docs</code> is taken",
        ),
        ("url=https://n.example/&code=old", "stays reserved"),
        (
            "url=https://n.example/&code=docs/x",
            "would change where an existing link leads",
        ),
        (
            "url=https://n.example/&code=a%20b",
            "The code cannot be used:",
        ),
        (
            "url=https://n.example/&expires=soon",
            "The last day is not a date.",
        ),
        (
            "url=https://n.example/&title=%E2%80%AEx",
            "changes the direction of writing",
        ),
        ("url=https://n.example/&tags=a%00b", "cannot be shown"),
    ] {
        let reply = page(&server, query).await;
        assert_eq!(
            reply.status_line(),
            "HTTP/1.1 422 Unprocessable Entity",
            "{query}"
        );
        let text = reply.text();
        assert!(text.contains(shown), "{query}: {text}");
        assert!(!text.contains("id=\"lines\""), "{query}");
    }
    let text = page(&server, "url=https://framasoft.org").await.text();
    assert!(
        text.contains("<a href=\"https://short.code/t0P0JMya+\">https://short.code/t0P0JMya</a>")
    );
    let path = format!("{FORM}?url=https://framasoft.org");
    let json = "Accept: application/json\r\n";
    let reply = server.ask("GET", &path, json).await;
    assert_eq!(reply.json()["existing"], "https://short.code/t0P0JMya");
}

#[tokio::test]
async fn the_fields_take_as_much_as_a_table_does() {
    let server = Running::start(TABLE).await;
    let text = page(&server, "").await.text();
    for (field, limit) in [
        ("url", MAX_TARGET_BYTES),
        ("code", MAX_CODE_BYTES),
        ("title", 1000),
    ] {
        let start = format!("id=\"{field}\"");
        let field = text.split("<input ").find(|it| it.starts_with(&start));
        let field = field.unwrap();
        assert!(field.contains(&format!("maxlength=\"{limit}\"")), "{field}");
    }
}

#[tokio::test]
async fn a_table_that_is_not_public_does_not_disclose_codes() {
    let config = Config {
        public_table: false,
        ..quiet()
    };
    let table =
        format!("{TABLE}- {{url: 'https://p.example/', short-code: main, aliases: [alias]}}\n");
    let server = Running::configured(config, &table).await;
    for (query, code) in [
        ("url=https://framasoft.org", "t0P0JMya"),
        ("url=https://n.example/&code=alias", "short.code/main"),
        ("url=https://n.example/&code=docs/x", "short.code/docs+"),
    ] {
        let text = page(&server, query).await.text();
        assert!(text.contains("class=\"problem\""), "{text}");
        assert!(!text.contains(code), "{text}");
    }
    for (query, error) in [
        ("code=docs", "the code \"docs\" is taken"),
        ("code=alias", "the code \"alias\" is taken"),
        (
            "code=docs/x",
            "the code \"docs/x\" would change where an existing link leads",
        ),
    ] {
        let path = format!("{FORM}?url=https://n.example/&{query}");
        let json = "Accept: application/json\r\n";
        let json = server.ask("GET", &path, json).await.json();
        assert_eq!(json["error"], error);
        assert_eq!(json.get("existing").is_some(), query == "code=docs");
    }
}

#[tokio::test]
async fn what_was_entered_is_shown_harmlessly() {
    let server = Running::start(TABLE).await;
    for query in [
        format!("url=https://n.example/&title={HOSTILE}"),
        format!("url={HOSTILE}&code={HOSTILE}&title={HOSTILE}&tags={HOSTILE}&expires={HOSTILE}"),
        format!("url=javascript:alert(1)&code={HOSTILE}"),
        format!(
            "url=https://n.example/&tags={}",
            HOSTILE.replace("%0d%0a", "")
        ),
    ] {
        let reply = page(&server, &query).await;
        assert_eq!(reply.header("set-cookie"), None);
        let text = reply.text();
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains("href=\"javascript:alert"), "{text}");
    }
}

#[tokio::test]
async fn the_form_can_be_neither_framed_nor_sent_elsewhere() {
    let server = Running::start(TABLE).await;
    for query in ["", "url=https://n.example/", "url=nonsense"] {
        let reply = page(&server, query).await;
        let policy = reply.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"));
        for (name, value) in [
            ("referrer-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-cache"),
            ("vary", "Accept, Accept-Language"),
        ] {
            assert_eq!(reply.header(name).as_deref(), Some(value));
        }
        assert!(reply.text().len() < 20 * 1024);
    }
}

#[tokio::test]
async fn nothing_is_changed_and_nothing_can_be_posted() {
    let server = Running::start(TABLE).await;
    let headers = "Origin: https://evil.example\r\nContent-Length: 0\r\n";
    let reply = server.ask("POST", FORM, headers).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 405 Method Not Allowed");
    page(&server, "url=https://n.example/&code=new").await;
    let after = server.get("/new").await;
    assert_eq!(after.status_line(), "HTTP/1.1 404 Not Found");
    assert_eq!(std::fs::read_to_string(server.table()).unwrap(), TABLE);
}

#[tokio::test]
async fn only_so_much_is_read() {
    let server = Running::start(TABLE).await;
    let long = |bytes: usize| format!("url=https://n.example/&title={}", "t".repeat(bytes));
    let reply = page(&server, &long(1000)).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 200 OK");
    let reply = page(&server, &long(1001)).await;
    assert_eq!(reply.status_line(), "HTTP/1.1 422 Unprocessable Entity");
    let reply = page(&server, &long(20_000)).await;
    let status = "HTTP/1.1 431 Request Header Fields Too Large";
    assert_eq!(reply.status_line(), status);
    // A title that fits, but not into an address.
    let server = on_a_directory().await;
    let tags = format!("{},", "%C3%A9".repeat(40)).repeat(50);
    let query = format!("url=https://n.example/&code=c&tags={tags}");
    let text = page(&server, &query).await.text();
    let address = attribute(&text, "id=\"send\" href=\"");
    assert!(
        address.ends_with("&#38;value=&#38;message=Add%20c"),
        "{address}"
    );
    assert!(text.contains("paste the lines above"), "{text}");
}

#[tokio::test]
async fn the_form_is_in_german_too() {
    let server = Running::start(TABLE).await;
    let headers = format!("{HTML}Accept-Language: de\r\n");
    let text = server.ask("GET", FORM, &headers).await.text();
    assert!(text.contains("<html lang=\"de\">") && text.contains("Vorschlag prüfen"));
}
