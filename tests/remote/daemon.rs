//! Following a remote over Git's own protocol, where fetches are shallow.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use waypost::git::{Credentials, RemoteBranch, RemoteUrl, SeenBranch};
use waypost::source::{FetchResult, Following};

use super::fixture::{Fixture, Followed};

/// `git daemon`, on a port of its own.
struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts a daemon, unless this `git` has none.
    fn start(root: &Path) -> Option<Self> {
        // By its own name: `git daemon` would be its parent, and not take it along when killed.
        let program = Command::new("git").arg("--exec-path").output().unwrap();
        let program = String::from_utf8(program.stdout).unwrap();
        let program = Path::new(program.trim()).join("git-daemon");
        if !program.exists() {
            return None;
        }
        // Taken from the system and let go at once: the daemon cannot choose one itself.
        for _ in 0..20 {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            let mut child = Command::new(&program)
                .args(["--verbose", "--export-all", "--reuseaddr"])
                .args(["--listen=127.0.0.1", &format!("--port={port}")])
                .arg(format!("--base-path={}", root.display()))
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_SYSTEM", "/dev/null")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut errors = BufReader::new(child.stderr.take().unwrap());
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            if line.contains("Ready") {
                std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
                return Some(Self { child, port });
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
        panic!("git daemon does not start");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(fixture: &Fixture, daemon: &Daemon, reference: Option<&str>) -> Followed {
    let url = format!("git://127.0.0.1:{}/remote.git", daemon.port);
    Followed::start(Following {
        remote: RemoteUrl::parse(&url).unwrap(),
        reference: reference.map(str::to_owned),
        ..fixture.following()
    })
}

#[test]
fn fetches_only_the_commits_that_are_served() {
    let fixture = Fixture::new();
    let Some(daemon) = Daemon::start(&fixture.root) else {
        return;
    };
    for n in 0..5 {
        fixture.push(&format!("old{n}"));
    }
    let followed = follow(&fixture, &daemon, None);
    assert_eq!(followed.text(), "old4");
    assert_eq!(fixture.commits_kept(), 1);
    for n in 0..12 {
        for _ in 0..3 {
            fixture.commit(&format!("between{n}"));
        }
        let commit = fixture.push(&format!("new{n}"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), format!("new{n}"));
        assert_eq!(followed.commit(), commit);
        assert_eq!(followed.fetch(), FetchResult::Unchanged);
    }
    assert_eq!(fixture.commits_kept(), 13);
}

#[test]
fn the_commits_since_the_last_fetch_can_be_fetched_too() {
    let fixture = Fixture::new();
    let Some(daemon) = Daemon::start(&fixture.root) else {
        return;
    };
    fixture.push("two");
    let url = format!("git://127.0.0.1:{}/remote.git", daemon.port);
    let url = RemoteUrl::parse(&url).unwrap();
    let branch = RemoteBranch::new(url, None, fixture.transfer(), Credentials::default()).unwrap();
    let first = branch.fetch().unwrap();
    // Others push several commits at a time.
    fixture.commit("three");
    fixture.push("four");
    let second = branch.fetch().unwrap();
    fixture.commit("five");
    fixture.push("six");
    let third = branch.fetch_history(None).unwrap();
    let repository = branch.repository().unwrap();
    let repository = repository.lock().unwrap();
    let descends = |one: &SeenBranch, other: &SeenBranch| {
        let [one, other] = [one, other].map(|it| it.commit.into());
        repository.graph_descendant_of(one, other).unwrap()
    };
    assert!(descends(&third, &second));
    // A shallow fetch does not show earlier commits.
    assert!(!descends(&second, &first));
}

#[test]
fn converges_when_history_is_rewritten() {
    let fixture = Fixture::new();
    let Some(daemon) = Daemon::start(&fixture.root) else {
        return;
    };
    let one = fixture.git("rev-parse HEAD");
    let two = fixture.push("two");
    fixture.push("three");
    let followed = follow(&fixture, &daemon, None);
    assert_eq!(followed.text(), "three");
    for (commit, text) in [(&two, "two"), (&one, "one"), (&two, "two")] {
        fixture.git(&format!("push --quiet --force origin {commit}:main"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), text);
    }
    fixture.git("switch --quiet --orphan anew");
    fixture.commit("anew");
    fixture.git("push --quiet --force origin HEAD:main");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "anew");

    fs::remove_dir_all(fixture.at("remote.git")).unwrap();
    fs::remove_dir_all(fixture.at("work")).unwrap();
    fixture.create("remote.git", "work");
    fixture.push("replaced");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "replaced");
}

#[test]
fn finds_tags_and_commits() {
    let fixture = Fixture::new();
    let Some(daemon) = Daemon::start(&fixture.root) else {
        return;
    };
    let one = fixture.git("rev-parse HEAD");
    fixture.git("tag -a -m annotated v1");
    fixture.git("push --quiet origin v1");
    fixture.push("two");
    let tagged = follow(&fixture, &daemon, Some("v1"));
    assert_eq!(tagged.commit(), one);
    assert_eq!(tagged.fetch(), FetchResult::Unchanged);
    drop(tagged);
    // First as hosts allow it, then as git does by default.
    for allowed in ["true", "false"] {
        fs::remove_dir_all(fixture.at("state")).unwrap();
        fixture.git_in(
            "remote.git",
            &format!("config uploadpack.allowAnySHA1InWant {allowed}"),
        );
        let pinned = follow(&fixture, &daemon, Some(&one));
        assert_eq!(pinned.text(), "one");
        assert_eq!(fixture.commits_kept() == 1, allowed == "true");
        drop(pinned);
    }
}

#[test]
fn a_remote_that_goes_away_may_come_back() {
    let fixture = Fixture::new();
    let Some(daemon) = Daemon::start(&fixture.root) else {
        return;
    };
    let followed = follow(&fixture, &daemon, None);
    assert_eq!(followed.text(), "one");
    fs::rename(fixture.at("remote.git"), fixture.at("away.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    fs::rename(fixture.at("away.git"), fixture.at("remote.git")).unwrap();
    fixture.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    drop(daemon);
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "two");
}
