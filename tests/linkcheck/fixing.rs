//! Fixing a table by the program, from what an injected clock has let a check find over weeks, and
//! from an archive that has all kinds of answers.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use waypost::frontier::{Clock, SystemClock};
use waypost::linkcheck::{CheckOptions, CheckState, Checker, FileState, Links, Requester};
use waypost::mapping::{SourceFile, Timestamp, compile};

use crate::git::git;
use crate::web::{DAY, DELAY, Web, page, status, to, usual};

/// The system's clock, some days ago.
#[derive(Clone)]
struct Ago(SystemClock, Arc<AtomicU64>);

impl Clock for Ago {
    fn now(&self) -> Duration {
        self.0.now() - DAY * u32::try_from(self.1.load(Ordering::SeqCst)).unwrap()
    }
}

/// Entries of all kinds, without those that work.
const TABLE: &str = "\
base_url: https://short.code/ # ours
mapping:
- url: http://a.example/old # printed on posters
- {url: http://a.example/page#part, short-code: part, aliases: [p]}
- url: http://a.example/home
  short-code: home
- url: https://a.example/plain
  short-code: plain
- url: http://prefix.example/
  short-code: prefix
  forward: path
- url: http://a.example/known
  short-code: known
- url: https://b.example/known
  short-code: there
- url: http://a.example/one
  short-code: one
- url: http://a.example/two
  short-code: two
- url: http://a.example/own
  short-code: own
- url: http://a.example/later
  short-code: later
- url: http://a.example/tested
  short-code: tested
- url: http://8.8.8.8/dead
  short-code: dead
- url: http://8.8.8.8/none
  short-code: none
- url: http://8.8.8.8/evil
  short-code: evil
- url: http://8.8.8.8/kept
  short-code: kept
  archive: https://kept.example/
- url: http://10.0.0.1/private
  short-code: private
- url: http://a.example/left#1
  short-code: left
- url: http://a.example/right#2
  short-code: right
- url: http://a.example/near
  short-code: near
- url: http://a.example/campaign
  short-code: campaign
- url: https://short.code/part
  short-code: via
tests:
- from: /tested
  to: http://a.example/tested
";

/// The answers of the hosts of the table; `later` moves on the last day only.
fn web(day: Arc<AtomicU64>) -> Arc<Web> {
    Web::new(move |url, _| match url {
        "http://a.example/old" => to(301, "https://b.example/new"),
        "http://a.example/page#part" => to(308, "https://b.example/page"),
        "http://a.example/home" => to(301, "https://b.example/"),
        "https://a.example/plain" => to(301, "http://b.example/plain"),
        "http://prefix.example/" => to(301, "https://b.example/prefix/"),
        "http://a.example/known" => to(301, "https://b.example/known"),
        "http://a.example/one" | "http://a.example/two" => to(301, "https://b.example/same"),
        "http://a.example/left#1" | "http://a.example/right#2" => to(301, "https://b.example/both"),
        "http://a.example/near" => to(301, "https://b.example/known#near"),
        "http://a.example/campaign" => to(301, "https://b.example/?utm=1"),
        "http://a.example/own" => to(301, "https://short.code/known"),
        "http://a.example/tested" => to(301, "https://b.example/tested"),
        "http://a.example/later" if day.load(Ordering::SeqCst) == 1 => to(301, "/later-there"),
        "http://a.example/later" => page("x"),
        _ if url.contains("8.8.8.8") || url.contains("10.0.0.1") => status(404),
        _ if url.contains("b.example") || url.contains("short.code") => {
            usual(url).unwrap_or_else(|| page(url))
        }
        _ => usual(url).unwrap_or_else(|| page("x")),
    })
}

/// The results of a check over three weeks, in a file.
async fn found(folder: &Path) -> PathBuf {
    let path = folder.join("state.redb");
    let clock = Ago(SystemClock::new(), Arc::new(AtomicU64::new(20)));
    let state = FileState::open(&path, clock.clone(), DELAY).unwrap();
    let state: Arc<dyn CheckState> = Arc::new(state);
    let web = web(Arc::clone(&clock.1));
    let file = SourceFile {
        path: "mapping.yaml".into(),
        bytes: TABLE.into(),
    };
    let table = Arc::new(compile(&[file]).table.unwrap());
    for day in [20, 16, 12, 1] {
        clock.1.store(day, Ordering::SeqCst);
        let options = CheckOptions {
            delay: DELAY,
            ..CheckOptions::default()
        };
        let requester: Arc<dyn Requester> = Arc::clone(&web) as _;
        let links = Links::of(
            &table,
            Timestamp::from(std::time::SystemTime::now()),
            |_| true,
        );
        let clock = Arc::new(clock.clone());
        let checker = Checker::new(Arc::clone(&state), requester, clock, links, options);
        Arc::new(checker).run().await.unwrap();
    }
    path
}

/// An archive on loopback, and the lines of the requests that it got.
struct Archive {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Archive {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let archive = Self {
            address: address.clone(),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&archive.asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let line = request(&stream);
                let copy = |at: &str| {
                    format!(
                        "{{\"archived_snapshots\": {{\"closest\": {{\"status\": \"200\", \"available\": true, \
                         \"url\": \"{at}/web/2020/http://8.8.8.8/dead\"}}}}}}"
                    )
                };
                let (status, body) = match &line {
                    line if line.contains("%2Fdead") => (200, copy(&address)),
                    line if line.contains("%2Fevil") => (200, copy("https://evil.example")),
                    line if line.contains("%2Fnone") => {
                        (200, "{\"archived_snapshots\": {}}".to_owned())
                    }
                    _ => (404, String::new()),
                };
                asked.lock().unwrap().push(line);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).ok();
            }
        });
        archive
    }

    /// Returns the pages that were looked up in it.
    fn pages(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let pages = asked
            .iter()
            .filter_map(|line| line.split_once("/find?url="));
        let mut pages: Vec<_> = pages
            .map(|(_, rest)| rest.replace(" HTTP/1.1", ""))
            .collect();
        pages.sort();
        pages
    }
}

/// Reads a request, and returns its first line.
fn request(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    first
}

struct Ended {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder on a copy of what was found.
fn linkcheck(folder: &Path, state: &Path, archive: &Archive, flags: &[&str]) -> Ended {
    let copy = folder.with_extension("redb");
    fs::copy(state, &copy).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap());
    command.envs([
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ]);
    let archive = format!("--archive={}/find", archive.address);
    let output = command
        .args([
            "linkcheck",
            "--allow-private",
            "--delay",
            "0ms",
            &archive,
            "--state",
        ])
        .arg(&copy)
        .args(["--git-author", "W <w@example.org>"])
        .args(flags)
        .output()
        .unwrap();
    Ended {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the table as it is fixed; the code of the first entry is that of its old URL.
fn fixed(archive: &Archive) -> String {
    let code = waypost::mapping::Scheme::Sha256.code("http://a.example/old");
    TABLE
        .replace(
            "http://a.example/old # printed on posters",
            &format!("https://b.example/new # printed on posters\n  short-code: {code}"),
        )
        .replace(
            "http://a.example/page#part",
            "\"https://b.example/page#part\"",
        )
        .replace(
            "dead\n- url",
            &format!(
                "dead\n  archive: {}/web/2020/http://8.8.8.8/dead\n- url",
                archive.address
            ),
        )
}

#[tokio::test]
async fn only_what_is_certain_is_fixed() {
    let dir = tempfile::tempdir().unwrap();
    let state = found(dir.path()).await;
    let archive = Archive::start();
    let work = dir.path().join("work");
    fs::create_dir(&work).unwrap();
    let table = work.join("mapping.yaml");
    fs::write(&table, TABLE).unwrap();
    let run = |flags: &[&str]| linkcheck(&work, &state, &archive, flags);

    // With the archive alone, nothing is changed.
    let ended = run(&["--format", "json"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let of = |code: &str| {
        let links = report["links"].as_array().unwrap();
        let link = links.iter().find(|link| link["codes"][0] == code).unwrap();
        (link["verdict"].clone(), link["archive"].clone())
    };
    let copy = format!("{}/web/2020/http://8.8.8.8/dead", archive.address);
    assert_eq!(of("dead"), ("dead".into(), copy.clone().into()));
    assert_eq!(of("none"), ("dead".into(), serde_json::Value::Null));
    assert_eq!(of("kept").1, "https://kept.example/");
    assert_eq!(fs::read_to_string(&table).unwrap(), TABLE);
    assert_eq!(
        archive.pages(),
        [
            "http%3A%2F%2F8.8.8.8%2Fdead",
            "http%3A%2F%2F8.8.8.8%2Fevil",
            "http%3A%2F%2F8.8.8.8%2Fnone"
        ]
    );
    let warning = "no answer from the archive for 1 dead link: its answer leads to a host that is not its own";
    assert!(ended.stderr.contains(warning), "{}", ended.stderr);

    let dry = run(&["--fix", "--dry-run"]);
    assert_eq!(fs::read_to_string(&table).unwrap(), TABLE);
    assert!(
        dry.stdout
            .contains("  part: http://a.example/page#part → https://b.example/page#part\n"),
        "{}",
        dry.stdout
    );
    assert!(dry.stdout.contains(&format!("  dead: none → {copy}\n")));

    let ended = run(&["--fix"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(&table).unwrap(), fixed(&archive));
    for line in [
        "mapping.yaml:3:3: fixed http://a.example/old → https://b.example/new",
        "mapping.yaml:5:3: not fixed: http://a.example/home: it has moved to a home page, https://b.example/",
        "mapping.yaml:7:3: not fixed: https://a.example/plain: it has moved from https to http, http://b.example/plain",
        "mapping.yaml:9:3: not fixed: http://prefix.example/: paths are appended to it",
        "mapping.yaml:12:3: not fixed: http://a.example/known: other links have moved to the same page, https://b.example/known",
        "mapping.yaml:16:3: not fixed: http://a.example/one: other links have moved to the same page, https://b.example/same",
        "mapping.yaml:18:3: not fixed: http://a.example/two: other links have moved to the same page",
        "mapping.yaml:20:3: not fixed: http://a.example/own: it has moved to a short link of this table",
        "mapping.yaml:22:3: not fixed: http://a.example/later: the move is not confirmed yet: it must be seen twice, days apart",
        "mapping.yaml:24:3: not fixed: http://a.example/tested → https://b.example/tested: the table would have errors",
        "mapping.yaml:28:3: not fixed: http://8.8.8.8/none: it is dead, and the archive has no copy",
        "mapping.yaml:30:3: not fixed: http://8.8.8.8/evil: it is dead; the archive: its answer leads to a host that is not its own",
        "mapping.yaml:35:3: not fixed: http://10.0.0.1/private: it is dead, and was not looked up in the archive",
        "mapping.yaml:37:3: not fixed: http://a.example/left#1: other links have moved to the same page, https://b.example/both#1",
        "mapping.yaml:39:3: not fixed: http://a.example/right#2: other links have moved to the same page, https://b.example/both#2",
        "mapping.yaml:41:3: not fixed: http://a.example/near: other links have moved to the same page, https://b.example/known#near",
        "mapping.yaml:43:3: not fixed: http://a.example/campaign: it has moved to a home page, https://b.example/?utm=1",
        "Waypost-Allow: retarget part",
    ] {
        assert!(ended.stderr.contains(line), "{line}\n{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("kept"), "{}", ended.stderr);
}

#[tokio::test]
async fn what_is_fixed_is_committed_or_pushed() {
    let dir = tempfile::tempdir().unwrap();
    let state = found(dir.path()).await;
    let archive = Archive::start();
    git(dir.path(), "init --quiet --bare remote.git");
    git(dir.path(), "clone --quiet remote.git work");
    let work = dir.path().join("work");
    fs::write(work.join("mapping.yaml"), TABLE).unwrap();
    git(&work, "add .");
    git(&work, "commit --quiet -m first");
    git(&work, "push --quiet --set-upstream origin main");
    git(dir.path(), "clone --quiet remote.git pushing");
    let pushing = dir.path().join("pushing");

    let ended = linkcheck(&work, &state, &archive, &["--fix", "--commit"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("committed as "), "{}", ended.stderr);
    assert_eq!(
        fs::read_to_string(work.join("mapping.yaml")).unwrap(),
        fixed(&archive)
    );
    let code = waypost::mapping::Scheme::Sha256.code("http://a.example/old");
    let message = format!(
        "Fix 3 short links\n\nShort-Link: https://short.code/{code}\nWaypost-Allow: retarget {code}\n\
         Short-Link: https://short.code/part\nWaypost-Allow: retarget part\nWaypost-Allow: retarget p\n\
         Short-Link: https://short.code/dead"
    );
    let trailers = |message: &str| {
        let mut lines: Vec<_> = message.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        trailers(&git(&work, "log -1 --format=%B")),
        trailers(&message)
    );
    assert_eq!(git(&work, "status --porcelain"), "");

    // What was committed keeps every promise.
    let check = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["check", "--base", "HEAD~1"])
        .current_dir(&work)
        .output()
        .unwrap();
    assert!(check.status.success(), "{check:?}");

    let ended = linkcheck(&pushing, &state, &archive, &["--fix", "--push"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("pushed to main as "),
        "{}",
        ended.stderr
    );
    let remote = dir.path().join("remote.git");
    assert_eq!(
        git(&remote, "show main:mapping.yaml"),
        fixed(&archive).trim_end()
    );
    assert_eq!(
        git(&pushing, "rev-parse HEAD"),
        git(&remote, "rev-parse main")
    );

    // Another user has just added a link to the page to which a link has moved.
    let added = TABLE.replace("mapping:\n", "mapping:\n- url: https://b.example/new#top\n");
    git(dir.path(), "clone --quiet remote.git racing");
    let racing = dir.path().join("racing");
    git(&racing, "reset --quiet --hard HEAD~1");
    fs::write(racing.join("mapping.yaml"), added).unwrap();
    git(&racing, "commit --quiet --all -m added");
    git(&racing, "push --quiet origin HEAD:racing");
    git(&racing, "checkout --quiet -b racing --track origin/racing");
    git(&racing, "reset --quiet --hard HEAD~1");
    let ended = linkcheck(&racing, &state, &archive, &["--fix", "--push"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let refused = "http://a.example/old → https://b.example/new: the entry at mapping.yaml:3:3 leads to the same page";
    assert!(ended.stderr.contains(refused), "{}", ended.stderr);
    let pushed = git(&remote, "show racing:mapping.yaml");
    assert!(
        pushed.contains("- url: http://a.example/old # printed"),
        "{pushed}"
    );
    assert!(
        pushed.contains("- {url: \"https://b.example/page#part\""),
        "{pushed}"
    );

    // From a checkout that is behind, nothing is done twice.
    git(dir.path(), "clone --quiet remote.git late");
    let late = dir.path().join("late");
    git(&late, "reset --quiet --hard HEAD~1");
    let ended = linkcheck(&late, &state, &archive, &["--fix", "--branch", "again"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let refused = ended.stderr.matches("has changed in the meantime").count();
    assert_eq!(refused, 3, "{}", ended.stderr);
    assert_eq!(
        git(&remote, "for-each-ref --format=%(refname)"),
        "refs/heads/main\nrefs/heads/racing"
    );
}
