//! Workers that share their work on a real server.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use waypost::frontier::StoreError;
use waypost::linkcheck::{CheckOptions, Checker, Verdict};

use crate::engines::Shard;
use crate::redis_server::Server;
use crate::watching::until;
use crate::web::{Web, checker, options, page, status, to, usual, verdicts};

/// Longer than a lease lasts.
const LEASE: Duration = Duration::from_secs(61);

/// Some hosts answer, some redirect to another one, some have nothing.
fn web() -> Arc<Web> {
    Web::new(|url, _| match url {
        url if url.contains("/moved") => to(301, "https://other.example/there"),
        url if url.contains("/missing") => status(404),
        url => usual(url).unwrap_or_else(|| page("x")),
    })
}

fn targets() -> Vec<String> {
    let paths = ["1", "2", "moved", "missing"];
    let hosts = 0..8;
    let all = hosts.flat_map(|host| paths.map(|path| format!("https://h{host}.example/{path}")));
    all.collect()
}

fn start(checker: &Arc<Checker>) -> JoinHandle<Result<(), StoreError>> {
    let checker = Arc::clone(checker);
    tokio::spawn(async move { checker.run().await })
}

async fn worker(shard: &Shard, web: &Arc<Web>, targets: &[&str]) -> Arc<Checker> {
    let (state, clock) = shard.worker().await;
    let few = CheckOptions {
        concurrency: 3,
        ..options()
    };
    checker(&state, &clock, web, targets, few)
}

/// Returns how often each target was requested with `HEAD`.
fn times(web: &Web) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    for asked in web.asked() {
        if let Some(url) = asked.strip_prefix("HEAD ") {
            *times.entry(url.to_owned()).or_default() += 1;
        }
    }
    times
}

async fn assert_known(checker: &Checker, targets: &[&str]) {
    let found = verdicts(checker, targets).await;
    for (target, verdict) in targets.iter().zip(found) {
        let expected = match *target {
            it if it.ends_with("missing") => Verdict::Failing,
            it if it.ends_with("moved") => Verdict::Moved,
            _ => Verdict::Ok,
        };
        assert_eq!(verdict, Some(expected), "{target}");
    }
}

#[tokio::test]
#[ignore = "needs a server, which tests/e2e/frontier starts"]
async fn workers_ask_each_link_once_between_them() {
    for workers in [2, 4] {
        let (shard, web, targets) = (Shard::new(), web(), targets());
        let targets: Vec<_> = targets.iter().map(String::as_str).collect();
        let mut runs = Vec::new();
        let mut checkers = Vec::new();
        for _ in 0..workers {
            let checker = worker(&shard, &web, &targets).await;
            runs.push(start(&checker));
            checkers.push(checker);
        }
        for run in runs {
            run.await.unwrap().unwrap();
        }
        assert_known(&checkers[0], &targets).await;
        web.assert_polite(str::to_owned);
        let times = times(&web);
        for target in &targets {
            assert_eq!(times.get(*target), Some(&1), "{target}");
        }
        let shares = checkers.iter().map(|it| it.progress().checked);
        let shares: Vec<_> = shares.collect();
        assert_eq!(shares.iter().sum::<usize>(), targets.len());
        // A worker that starts late may find all hosts taken until the end.
        let busy = shares.iter().filter(|share| **share > 0).count();
        assert!(busy > 1, "{shares:?}");
        let counts = checkers[0].hosts().await.unwrap();
        assert_eq!((counts.busy, counts.busy_aliases), (0, 0));
    }
}

#[tokio::test]
#[ignore = "needs a server, which tests/e2e/frontier starts"]
async fn what_a_dead_worker_had_is_done_by_others() {
    let (shard, web, targets) = (Shard::new(), web(), targets());
    let targets: Vec<_> = targets.iter().map(String::as_str).collect();
    let (one, two) = (
        worker(&shard, &web, &targets).await,
        worker(&shard, &web, &targets).await,
    );
    let dying = start(&one);
    until("some requests", async || web.asked().len() > 20).await;
    dying.abort();
    assert!(dying.await.unwrap_err().is_cancelled());
    let left = two.hosts().await.unwrap().busy;
    // Before its leases end, no worker sends requests to their hosts.
    let run = start(&two);
    let (state, _) = shard.worker().await;
    let due = async || state.store().due(Duration::ZERO).await.unwrap();
    let others = async || due().await == left;
    until("the end of all other work", others).await;
    assert!(left == 0 || !run.is_finished());
    shard.forward.pass(LEASE);
    run.await.unwrap().unwrap();
    assert_known(&two, &targets).await;
    let repeated = times(&web).values().map(|times| times - 1).sum::<usize>();
    // Not only the targets: also where they lead.
    let hops = times(&web)["https://other.example/there"] - 1;
    assert!(repeated - hops <= 3, "{:?}", web.asked());
}

#[tokio::test]
#[ignore = "needs a server, which tests/e2e/frontier starts"]
async fn workers_with_different_tables_lose_nothing() {
    let (shard, web, targets) = (Shard::new(), web(), targets());
    let newer: Vec<_> = targets.iter().map(String::as_str).collect();
    let older: Vec<_> = newer.iter().copied().step_by(2).collect();
    let (newer_worker, older_worker) = (
        worker(&shard, &web, &newer).await,
        worker(&shard, &web, &older).await,
    );
    let runs = [start(&newer_worker), start(&older_worker)];
    for run in runs {
        run.await.unwrap().unwrap();
    }
    assert_known(&newer_worker, &newer).await;
    let times = times(&web);
    for target in &newer {
        assert_eq!(times.get(*target), Some(&1), "{target}");
    }
}

#[tokio::test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
async fn a_server_that_is_killed_twice_loses_nothing() {
    let mut server = Server::start(&["--port", "0"]);
    let shard = Shard::at(&server.url());
    let (web, targets) = (web(), targets());
    let targets: Vec<_> = targets.iter().map(String::as_str).collect();
    let mut workers = Vec::new();
    for _ in 0..4 {
        let checker = worker(&shard, &web, &targets).await;
        workers.push((start(&checker), checker));
    }
    for asked in [15, 40] {
        until("some requests", async || web.asked().len() > asked).await;
        server.kill();
        // A worker without links left does not use the store any more.
        let outage = async || {
            let has_outage = |it: &Checker| it.outage().borrow().is_some();
            (workers.iter()).all(|(run, it)| run.is_finished() || has_outage(it))
        };
        until("an outage", outage).await;
        server.restart();
        let over = async || (workers.iter()).all(|(_, it)| it.outage().borrow().is_none());
        until("its end", over).await;
    }
    // A lease that was given and never received ends by itself.
    let mut before = 0;
    while !workers.iter().all(|(run, _)| run.is_finished()) {
        let asked = web.asked().len();
        if asked == before {
            shard.forward.pass(LEASE);
        }
        before = asked;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    for (run, checker) in workers {
        run.await.unwrap().unwrap();
        assert_known(&checker, &targets).await;
    }
    web.assert_polite(str::to_owned);
}

/// Runs `waypost linkcheck` on a table without links to request.
fn command(store: &str, password: Option<&str>) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    std::fs::write(&table, "base_url: https://short.code/\nmapping: []\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .arg("linkcheck")
        .arg(&table)
        .args(["--store", store]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("WAYPOST_")) {
        command.env_remove(name);
    }
    if let Some(password) = password {
        let file = directory.path().join("password");
        std::fs::write(&file, password).unwrap();
        command.env("WAYPOST_LINKCHECK_STORE_PASSWORD_FILE", file);
    }
    command.output().unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, status: i32, message: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{error}");
    assert!(error.contains(message), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn an_address_is_refused_that_has_a_password_or_is_none() {
    for url in ["redis://:secret@127.0.0.1:1", "redis://secret@127.0.0.1:1"] {
        let message = "WAYPOST_LINKCHECK_STORE_PASSWORD";
        assert_refused(&command(url, None), 2, message);
    }
    assert_refused(
        &command("http://secret", None),
        2,
        "not the address of a server",
    );
}

#[test]
fn what_is_no_store_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let _ = connection.read(&mut [0; 1000]);
        let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    assert_refused(&command(&url, None), 3, "the server cannot be reached");
    server.join().unwrap();
    // Nothing listens there now.
    assert_refused(&command(&url, None), 3, "the server cannot be reached");
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn the_password_of_a_store_is_in_a_file() {
    let server = Server::start(&["--port", "0"]);
    assert!(command(&server.url(), None).status.success());
    server.run(&["CONFIG", "SET", "requirepass", "secret"]);
    assert!(command(&server.url(), Some("secret")).status.success());
    let refused = "the server refuses this user or password";
    for password in [None, Some("secret-not")] {
        assert_refused(&command(&server.url(), password), 3, refused);
    }
}
