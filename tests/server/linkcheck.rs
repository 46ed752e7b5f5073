//! Link checks in the background: what people and programs see of them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use waypost::frontier::Clock;
use waypost::linkcheck::{
    CertificateProblem, CheckState, Failure, FileState, MemoryState, Requester,
};
use waypost::server::{Config, LinkChecking, LinkStore, OpeningState, Signal};

use crate::interposed::Interposed;
use crate::support::{Reply, Running, quiet, until};
use crate::web::{DAY, DELAY, Forward, Web, checker, in_memory, options, page, status, to, usual};

const HTML: &str = "Accept: text/html\r\n";
const JSON: &str = "Accept: application/json\r\n";

/// A table whose codes name the verdicts of their targets.
const TABLE: &str = "\
base_url: https://short.code/
mapping:
- {url: 'https://ok.example/', short-code: ok}
- {url: 'https://moved.example/old', short-code: moved, archive: 'https://archive.example/1'}
- {url: 'https://a.example/failing', short-code: failing}
- {url: 'https://a.example/dead', short-code: dead, aliases: [dead-too], archive: 'https://archive.example/2'}
- {url: 'https://a.example/dead', short-code: deceased, title: the same}
- {url: 'https://a.example/gone', short-code: gone}
- {url: 'https://a.example/blocked', short-code: blocked}
- {url: 'https://soft.example/a', short-code: soft}
- {url: 'https://no.example/secret', short-code: disallowed}
- {url: 'https://insecure.example/', short-code: insecure}
- {url: 'https://slow.example/x', short-code: unchecked}
- {url: 'https://short.code/nothing', short-code: own}
- {url: 'https://short.code/dead', short-code: chain}
- {url: 'https://a.example/retired', short-code: retired, retired: true}
";

/// The targets of that table that are requested.
const TARGETS: [&str; 10] = [
    "https://ok.example/",
    "https://moved.example/old",
    "https://a.example/failing",
    "https://a.example/dead",
    "https://a.example/gone",
    "https://a.example/blocked",
    "https://soft.example/a",
    "https://no.example/secret",
    "https://insecure.example/",
    "https://slow.example/x",
];

/// Returns a Web in which one link begins to fail on request.
fn web(fails: &Arc<AtomicBool>) -> Arc<Web> {
    let fails = Arc::clone(fails);
    Web::new(move |url, _| match url {
        "https://moved.example/old" => to(301, "/new"),
        "https://a.example/failing" if fails.load(Ordering::SeqCst) => status(500),
        "https://a.example/dead" => status(404),
        "https://a.example/gone" => status(410),
        "https://a.example/blocked" => status(403),
        "https://no.example/robots.txt" => page("User-agent: *\nDisallow: /secret"),
        "https://insecure.example/" => Err(Failure::Certificate(CertificateProblem::Expired)),
        "https://slow.example/robots.txt" => page("User-agent: *\nCrawl-delay: 1000"),
        url if url.starts_with("https://soft.example/") && !url.ends_with("robots.txt") => {
            page("there is no such page")
        }
        url => usual(url).unwrap_or_else(|| page("x")),
    })
}

fn checking(state: &Arc<dyn CheckState>, clock: &Forward, web: &Arc<Web>) -> LinkChecking {
    LinkChecking {
        store: LinkStore::Open(Arc::clone(state), Arc::new(clock.clone())),
        requester: Arc::clone(web) as Arc<dyn Requester>,
        options: options(),
        members: Vec::new(),
    }
}

fn config(checking: LinkChecking) -> Config {
    Config {
        link_checking: Some(checking),
        ..quiet()
    }
}

/// Starts a server on that table, of which everything is known after checks over days.
async fn after_days() -> Running {
    let fails = Arc::new(AtomicBool::new(false));
    let web = web(&fails);
    let (clock, state) = in_memory();
    for _ in 0..3 {
        let checker = checker(&state, &clock.shared(), &web, &TARGETS, options());
        checker.run().await.unwrap();
        clock.pass(3 * DAY);
    }
    fails.store(true, Ordering::SeqCst);
    clock.pass(30 * DAY);
    let checker = checker(&state, &clock.shared(), &web, &TARGETS, options());
    checker.run().await.unwrap();
    let server = Running::configured(config(checking(&state, &clock, &web)), TABLE).await;
    until_counted(&server, "dead", 2.0).await;
    server
}

async fn counted(server: &Running, verdict: &str) -> Option<f64> {
    let name = format!("waypost_links{{verdict=\"{verdict}\"}}");
    server.metric(&name).await
}

async fn until_counted(server: &Running, verdict: &str, count: f64) {
    until(async || counted(server, verdict).await == Some(count)).await;
}

/// Takes the listing in one piece, as HTTP/1.0 has it.
async fn listing(server: &Running, headers: &str) -> Reply {
    let request = format!("GET /-/linkcheck.jsonl HTTP/1.0\r\nHost: short.code\r\n{headers}\r\n");
    server.say(request).await
}

fn is_unavailable(reply: &Reply) -> bool {
    let is_refused = reply.status_line().ends_with("503 Service Unavailable");
    is_refused && reply.header("retry-after").is_some()
}

fn lines(reply: &Reply) -> Vec<Value> {
    let text = reply.text();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[tokio::test]
async fn the_page_of_a_link_shows_the_result_of_its_check() {
    let server = after_days().await;
    for (code, words) in [
        ("ok", "Worked on <time"),
        ("moved", ", and has moved permanently."),
        ("failing", "Did not work on <time"),
        ("failing", "; it last worked on <time"),
        ("dead", "Seems dead since <time"),
        ("chain", "Seems dead since <time"),
        ("gone", "Permanently gone since <time"),
        ("blocked", "Could not be checked on <time"),
        ("soft", "Probably missing since <time"),
        (
            "disallowed",
            "Not checked, because the robots.txt of its host does not allow it.",
        ),
        ("insecure", "Not secure since <time"),
        ("own", "Leads to a short link that does not exist."),
    ] {
        let reply = server.ask("GET", &format!("/{code}+"), HTML).await;
        let text = reply.text();
        assert!(text.contains(words), "{code}: {text}");
        assert!(text.len() < 20 * 1024 && !text.contains("<script"));
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
    }
    let text = server.ask("GET", "/unchecked+", HTML).await.text();
    assert!(!text.contains("Last check"), "{text}");
    let text = server.ask("GET", "/dead+", HTML).await.text();
    let archive = "<a href=\"https://archive.example/2\" rel=\"noreferrer nofollow\">";
    assert!(text.contains(archive), "{text}");
    assert!(!text.contains("404"), "{text}");

    let json = server.ask("GET", "/dead+", JSON).await.json();
    assert_eq!(json["archive"], "https://archive.example/2");
    let check = &json["link_check"];
    assert_eq!(check["verdict"], "dead");
    for (key, is_there) in [("since", true), ("checked", true), ("last_ok", false)] {
        let day = check[key].as_str();
        assert_eq!(day.is_some_and(|day| day.len() == 10), is_there, "{json}");
    }
    let unchecked = server.ask("GET", "/unchecked+", JSON).await.json();
    assert_eq!(unchecked["link_check"]["verdict"], "unchecked");
    assert_eq!(
        server.get("/dead").await.status_line(),
        "HTTP/1.1 302 Found"
    );
}

#[tokio::test]
async fn verdicts_requests_and_hosts_are_counted() {
    let server = after_days().await;
    for (verdict, count) in [
        ("ok", 1.0),
        ("moved", 1.0),
        // One of them has not failed for long, the other is a short link that is not there.
        ("failing", 2.0),
        ("dead", 2.0),
        ("gone", 1.0),
        ("blocked", 1.0),
        ("soft-404", 1.0),
        ("robots-disallowed", 1.0),
        ("insecure", 1.0),
        ("unchecked", 1.0),
    ] {
        assert_eq!(counted(&server, verdict).await, Some(count), "{verdict}");
    }
    for result in [
        "success",
        "redirect",
        "client_error",
        "server_error",
        "failed",
    ] {
        let name = format!("waypost_linkcheck_requests_total{{result=\"{result}\"}}");
        assert!(server.metric(&name).await.is_some(), "{result}");
    }
    let queued = "waypost_linkcheck_hosts{state=\"queued\"}";
    until(async || server.metric(queued).await == Some(7.0)).await;
    for state in ["busy", "blocked"] {
        let name = format!("waypost_linkcheck_hosts{{state=\"{state}\"}}");
        assert_eq!(server.metric(&name).await, Some(0.0), "{state}");
    }
}

#[tokio::test]
async fn what_does_not_simply_work_is_listed() {
    let server = after_days().await;
    let reply = listing(&server, "").await;
    assert!(reply.status_line().ends_with("200 OK"), "{reply}");
    assert_eq!(reply.header("content-type").unwrap(), "application/jsonl");
    assert_eq!(reply.header("cache-control").unwrap(), "no-cache");
    let links = lines(&reply);
    let verdicts: Vec<_> = links
        .iter()
        .map(|link| link["verdict"].as_str().unwrap())
        .collect();
    let expected = [
        "moved",
        "failing",
        "dead",
        "gone",
        "blocked",
        "soft-404",
        "robots-disallowed",
        "insecure",
        "failing",
        "dead",
    ];
    assert_eq!(verdicts, expected);
    let dead = &links[2];
    assert_eq!(dead["codes"], json!(["dead", "deceased"]));
    assert_eq!(dead["status"], 404);
    assert_eq!(dead["strikes"], 3);
    assert_eq!(dead["archive"], "https://archive.example/2");
    let keys: Vec<_> = dead.as_object().unwrap().keys().collect();
    let expected = [
        "archive", "codes", "detail", "last_ok", "moved_to", "since", "status", "strikes",
        "target", "verdict",
    ];
    assert_eq!(keys, expected);
    assert_eq!(links[0]["moved_to"], "https://moved.example/new");

    // A client that has it need not download it again.
    let tag = reply.header("etag").unwrap();
    assert!(tag.starts_with("W/\"sha256:"), "{tag}");
    let known = listing(&server, &format!("If-None-Match: {tag}\r\n")).await;
    assert!(known.status_line().ends_with("304 Not Modified"), "{known}");
    let head = server.ask("HEAD", "/-/linkcheck.jsonl", "").await;
    assert_eq!(
        (head.header("etag"), head.body()),
        (Some(tag.clone()), &b""[..])
    );
    let post = server.ask("POST", "/-/linkcheck.jsonl", "").await;
    assert_eq!(post.status_line(), "HTTP/1.1 405 Method Not Allowed");
    // Another table is another listing.
    server.replace_table(&TABLE.replace("short-code: gone", "short-code: lost"));
    server.reload().await;
    let other = listing(&server, &format!("If-None-Match: {tag}\r\n")).await;
    assert!(other.status_line().ends_with("200 OK"), "{other}");
    assert_eq!(lines(&other)[3]["codes"], json!(["lost"]));
}

#[tokio::test]
async fn links_are_checked_as_tables_go_live() {
    let fails = Arc::new(AtomicBool::new(true));
    let web = web(&fails);
    let (clock, state) = in_memory();
    let table =
        "base_url: https://short.code/\nmapping:\n- {url: 'https://one.example/', short-code: x}\n";
    let server = Running::configured(config(checking(&state, &clock, &web)), table).await;
    until_counted(&server, "ok", 1.0).await;
    let before = listing(&server, "").await;
    assert_eq!(before.text(), "");
    let text = server.ask("GET", "/x+", HTML).await.text();
    assert!(text.contains("Worked on <time"), "{text}");

    let second = "- {url: 'https://a.example/gone', short-code: y}\n";
    server.replace_table(&format!("{table}{second}"));
    server.reload().await;
    until_counted(&server, "gone", 1.0).await;
    assert_eq!(counted(&server, "ok").await, Some(1.0));
    let tag = before.header("etag").unwrap();
    let after = listing(&server, &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!(lines(&after)[0]["target"], "https://a.example/gone");
    let text = server.ask("GET", "/y+", HTML).await.text();
    assert!(text.contains("Permanently gone since <time"), "{text}");

    server.replace_table(table);
    server.reload().await;
    until_counted(&server, "gone", 0.0).await;
    let asked = web.asked();
    let times = |line: &str| asked.iter().filter(|it| *it == line).count();
    assert_eq!(times("HEAD https://one.example/"), 1, "{asked:?}");
    web.assert_polite(str::to_owned);
}

async fn stop(server: Running) -> tempfile::TempDir {
    let Running {
        signals,
        ended,
        directory,
        ..
    } = server;
    signals.send(Signal::Interrupt).await.unwrap();
    crate::support::soon(ended).await.unwrap();
    directory
}

#[tokio::test]
async fn a_restart_keeps_what_is_known() {
    let fails = Arc::new(AtomicBool::new(true));
    let clock = Forward::new();
    let opened = |path: &Path| -> Arc<dyn CheckState> {
        Arc::new(FileState::open(path, clock.clone(), DELAY).unwrap())
    };
    let table = "base_url: https://short.code/\nmapping:\n\
                 - {url: 'https://one.example/', short-code: x}\n\
                 - {url: 'https://a.example/gone', short-code: y}\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("linkcheck.redb");
    let first = web(&fails);
    let server = Running::configured(config(checking(&opened(&path), &clock, &first)), table).await;
    until_counted(&server, "ok", 1.0).await;
    until_counted(&server, "gone", 1.0).await;
    stop(server).await;

    // The file is free as soon as the server has ended.
    let second = web(&fails);
    let server =
        Running::configured(config(checking(&opened(&path), &clock, &second)), table).await;
    until_counted(&server, "ok", 1.0).await;
    until_counted(&server, "gone", 1.0).await;
    assert_eq!(lines(&listing(&server, "").await)[0]["status"], 410);
    assert_eq!(second.asked(), [""; 0]);
    stop(server).await;
}

#[tokio::test]
async fn an_unreachable_store_delays_no_request() {
    let fails = Arc::new(AtomicBool::new(true));
    let web = web(&fails);
    let clock = Forward::new();
    let inner = Arc::new(MemoryState::new(clock.clone(), DELAY));
    let interposed = Arc::new(Interposed::before(inner));
    interposed.is_down.store(true, Ordering::SeqCst);
    let state: Arc<dyn CheckState> = Arc::clone(&interposed) as _;
    let server = Running::configured(config(checking(&state, &clock, &web)), TABLE).await;
    until(async || interposed.failed.load(Ordering::SeqCst) > 0).await;
    assert_eq!(server.get("/ok").await.status_line(), "HTTP/1.1 302 Found");
    let text = server.ask("GET", "/ok+", HTML).await.text();
    assert!(!text.contains("Last check"), "{text}");
    // The state of the table's own links is known nevertheless.
    until(async || {
        let text = server.ask("GET", "/own+", HTML).await.text();
        text.contains("Leads to a short link that does not exist.")
    })
    .await;
    // The listing is refused at once, so that it takes no slot from the dumps.
    until(async || is_unavailable(&listing(&server, "").await)).await;
    for _ in 0..8 {
        assert!(is_unavailable(&listing(&server, "").await));
    }
    let dump = server.get("/-/mapping.jsonl").await;
    assert_eq!(dump.status_line(), "HTTP/1.1 200 OK");
    server.replace_table(&TABLE.replace("short-code: ok", "short-code: fine"));
    assert_eq!(server.reload().await.json()["result"], "success");
    assert_eq!(
        server.get("/fine").await.status_line(),
        "HTTP/1.1 302 Found"
    );
    assert!(
        counted(&server, "unchecked")
            .await
            .is_some_and(|count| count > 0.0)
    );
    assert_eq!(web.asked(), [""; 0]);

    interposed.is_down.store(false, Ordering::SeqCst);
    until_counted(&server, "ok", 1.0).await;
    let text = server.ask("GET", "/fine+", HTML).await.text();
    assert!(text.contains("Worked on <time"), "{text}");
    until(async || listing(&server, "").await.status_line().ends_with("200 OK")).await;
}

#[tokio::test]
async fn a_store_that_is_not_there_yet_is_opened_later() {
    let web = web(&Arc::default());
    let (clock, state) = in_memory();
    let is_there = Arc::new(AtomicBool::new(false));
    let opened = {
        let (is_there, state, clock) = (Arc::clone(&is_there), Arc::clone(&state), clock.clone());
        move || -> OpeningState {
            let state: (Arc<dyn CheckState>, Arc<dyn Clock>) =
                (Arc::clone(&state), Arc::new(clock.clone()));
            let is_there = is_there.load(Ordering::SeqCst);
            Box::pin(async move { is_there.then_some(state).ok_or("it is not there".into()) })
        }
    };
    let checking = LinkChecking {
        store: LinkStore::Later(Arc::new(opened)),
        ..checking(&state, &clock, &web)
    };
    let server = Running::configured(config(checking), TABLE).await;
    until_counted(&server, "gone", 0.0).await;
    until(async || counted(&server, "unchecked").await > Some(0.0)).await;
    assert_eq!(server.get("/ok").await.status_line(), "HTTP/1.1 302 Found");
    // What the table says by itself would not be the whole listing.
    assert!(is_unavailable(&listing(&server, "").await));
    is_there.store(true, Ordering::SeqCst);
    until_counted(&server, "gone", 1.0).await;
    let listed = lines(&listing(&server, "").await);
    assert!(listed.len() > 1, "{listed:?}");
}

#[tokio::test]
async fn where_links_are_not_checked_there_is_nothing() {
    let server = Running::start(TABLE).await;
    assert_eq!(counted(&server, "ok").await, None);
    let reply = server.get("/-/linkcheck.jsonl").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
    let json = server.ask("GET", "/dead+", JSON).await.json();
    assert_eq!(json.get("link_check"), None);
    let text = server.ask("GET", "/dead+", HTML).await.text();
    assert!(!text.contains("Last check"), "{text}");

    // A table that is not public has no public listing, either.
    let web = web(&Arc::default());
    let (clock, state) = in_memory();
    let config = Config {
        public_table: false,
        ..config(checking(&state, &clock, &web))
    };
    let server = Running::configured(config, TABLE).await;
    let reply = server.get("/-/linkcheck.jsonl").await;
    assert_eq!(reply.status_line(), "HTTP/1.1 404 Not Found");
}
