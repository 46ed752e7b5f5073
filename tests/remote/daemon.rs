//! Following a remote over Git's own protocol, where fetches are shallow.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use waypost::git::{Credentials, RemoteBranch, RemoteUrl, SeenBranch};
use waypost::source::{FetchResult, Following};

use super::scene::{Followed, Scene};

/// `git daemon`, on a port of its own.
struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts one, unless this `git` has none.
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

fn follow(scene: &Scene, daemon: &Daemon, reference: Option<&str>) -> Followed {
    let url = format!("git://127.0.0.1:{}/remote.git", daemon.port);
    Followed::start(Following {
        remote: RemoteUrl::parse(&url).unwrap(),
        reference: reference.map(str::to_owned),
        ..scene.following()
    })
}

fn commits_kept(scene: &Scene) -> usize {
    let clone = scene.clone_dir();
    let clone = clone.strip_prefix(&scene.root).unwrap().to_str().unwrap();
    let listed = scene.git_in(
        clone,
        "cat-file --batch-all-objects --batch-check=%(objecttype)",
    );
    listed.lines().filter(|kind| *kind == "commit").count()
}

#[test]
fn fetches_only_the_commits_that_are_served() {
    let scene = Scene::new();
    let Some(daemon) = Daemon::start(&scene.root) else {
        return;
    };
    for n in 0..5 {
        scene.push(&format!("old{n}"));
    }
    let followed = follow(&scene, &daemon, None);
    assert_eq!(followed.text(), "old4");
    assert_eq!(commits_kept(&scene), 1);
    for n in 0..12 {
        for _ in 0..3 {
            scene.commit(&format!("between{n}"));
        }
        let commit = scene.push(&format!("new{n}"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), format!("new{n}"));
        assert_eq!(followed.commit(), commit);
        assert_eq!(followed.fetch(), FetchResult::Unchanged);
    }
    assert_eq!(commits_kept(&scene), 13);
}

#[test]
fn the_commits_since_the_last_fetch_can_be_fetched_too() {
    let scene = Scene::new();
    let Some(daemon) = Daemon::start(&scene.root) else {
        return;
    };
    scene.push("two");
    let url = format!("git://127.0.0.1:{}/remote.git", daemon.port);
    let url = RemoteUrl::parse(&url).unwrap();
    let branch = RemoteBranch::new(url, None, scene.transfer(), Credentials::default()).unwrap();
    let first = branch.fetch().unwrap();
    // Others push several commits at a time.
    scene.commit("three");
    scene.push("four");
    let second = branch.fetch().unwrap();
    scene.commit("five");
    scene.push("six");
    let third = branch.fetch_history(None).unwrap();
    let repository = branch.repository().unwrap();
    let descends = |one: &SeenBranch, other: &SeenBranch| {
        let [one, other] = [one, other].map(|it| it.commit.into());
        repository.graph_descendant_of(one, other).unwrap()
    };
    assert!(descends(&third, &second));
    // What is fetched without its history says nothing of what came before.
    assert!(!descends(&second, &first));
}

#[test]
fn converges_when_history_is_rewritten() {
    let scene = Scene::new();
    let Some(daemon) = Daemon::start(&scene.root) else {
        return;
    };
    let one = scene.git("rev-parse HEAD");
    let two = scene.push("two");
    scene.push("three");
    let followed = follow(&scene, &daemon, None);
    assert_eq!(followed.text(), "three");
    for (commit, text) in [(&two, "two"), (&one, "one"), (&two, "two")] {
        scene.git(&format!("push --quiet --force origin {commit}:main"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), text);
    }
    scene.git("switch --quiet --orphan anew");
    scene.commit("anew");
    scene.git("push --quiet --force origin HEAD:main");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "anew");

    fs::remove_dir_all(scene.at("remote.git")).unwrap();
    fs::remove_dir_all(scene.at("work")).unwrap();
    scene.create("remote.git", "work");
    scene.push("replaced");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "replaced");
}

#[test]
fn finds_tags_and_commits() {
    let scene = Scene::new();
    let Some(daemon) = Daemon::start(&scene.root) else {
        return;
    };
    let one = scene.git("rev-parse HEAD");
    scene.git("tag -a -m annotated v1");
    scene.git("push --quiet origin v1");
    scene.push("two");
    let tagged = follow(&scene, &daemon, Some("v1"));
    assert_eq!(tagged.commit(), one);
    assert_eq!(tagged.fetch(), FetchResult::Unchanged);
    drop(tagged);
    // First as hosts allow it, then as git does by default.
    for allowed in ["true", "false"] {
        fs::remove_dir_all(scene.at("state")).unwrap();
        scene.git_in(
            "remote.git",
            &format!("config uploadpack.allowAnySHA1InWant {allowed}"),
        );
        let pinned = follow(&scene, &daemon, Some(&one));
        assert_eq!(pinned.text(), "one");
        assert_eq!(commits_kept(&scene) == 1, allowed == "true");
        drop(pinned);
    }
}

#[test]
fn a_remote_that_goes_away_may_come_back() {
    let scene = Scene::new();
    let Some(daemon) = Daemon::start(&scene.root) else {
        return;
    };
    let followed = follow(&scene, &daemon, None);
    assert_eq!(followed.text(), "one");
    fs::rename(scene.at("remote.git"), scene.at("away.git")).unwrap();
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "one");
    fs::rename(scene.at("away.git"), scene.at("remote.git")).unwrap();
    scene.push("two");
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), "two");
    drop(daemon);
    assert_eq!(followed.fetch(), FetchResult::Failed);
    assert_eq!(followed.text(), "two");
}
