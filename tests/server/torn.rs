//! Tables that are written in place by a writer that pauses in the middle.
//!
//! A rest that shall not end while a test runs is longer than the test may take, so that what goes
//! live did not wait for it.

use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;
use waypost::server::{Config, Files};
use waypost::source::Rests;

use crate::support::{Running, quiet, until};

#[path = "../support/git.rs"]
pub(crate) mod git;

use git::git;

const NEVER: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(20);

/// No file is complete but one that is known to be.
const UNLESS_KNOWN: Rests = Rests {
    close_timeout: NEVER,
    rest: NEVER,
    rest_without_newline: NEVER,
};

const HEAD: &str = "base_url: https://short.code/\nmapping:\n- short-code: x\n  url: ";
const TORN: &str = "https://pay.example.org";
const REST: &str = ".evil-suffix.example/x";

fn table(target: &str) -> String {
    format!("{HEAD}https://e.example/{target}\n")
}

async fn leads_to(server: &Running, target: &str) {
    until(async || server.location("/x").await == target).await;
}

/// Waits until the source has been looked at so many times more.
async fn looked(server: &Running, times: f64) {
    let looks = async || {
        let count = "waypost_reload_duration_seconds_count";
        server.metric(count).await.unwrap()
    };
    let before = looks().await;
    until(async || looks().await >= before + times).await;
}

async fn watched(directory: tempfile::TempDir, path: PathBuf, rests: Rests) -> Running {
    let source = Files::watched(vec![path], 1 << 20).resting(rests);
    Running::on(quiet(), directory, source).await
}

/// A server of a table that is watched.
async fn fixture(rests: Rests) -> Running {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    fs::write(&path, table("old")).unwrap();
    watched(directory, path, rests).await
}

fn frequent() -> Config {
    Config {
        poll_interval: Duration::from_millis(5),
        ..Config::default()
    }
}

/// Truncates a file and writes the first part of a table, up to the middle of a URL.
fn half_written(path: &Path) -> File {
    let mut file = File::options()
        .write(true)
        .truncate(true)
        .open(path)
        .unwrap();
    file.write_all(HEAD.as_bytes()).unwrap();
    file.write_all(TORN.as_bytes()).unwrap();
    file
}

#[tokio::test]
async fn half_a_table_does_not_go_live_while_its_writer_has_it_open() {
    let server = fixture(Rests::STANDARD).await;
    let mut file = half_written(&server.table());
    looked(&server, 1.0).await;
    assert_eq!(server.location("/x").await, "https://e.example/old");
    assert_eq!(server.status().await["last_error"], json!(null));

    file.write_all(REST.as_bytes()).unwrap();
    looked(&server, 1.0).await;
    assert_eq!(server.location("/x").await, "https://e.example/old");
    // What its writer closed is complete, though it does not end in a newline.
    drop(file);
    leads_to(&server, &format!("{TORN}{REST}")).await;
}

#[tokio::test]
async fn a_file_that_stays_open_is_reported_and_taken_if_it_ends_in_a_newline() {
    let rests = Rests {
        close_timeout: SOON,
        rest: SOON,
        rest_without_newline: SOON,
    };
    let server = fixture(rests).await;
    let successful = "waypost_table_last_reload_successful";
    let mut file = half_written(&server.table());
    until(async || server.metric(successful).await == Some(0.0)).await;
    let status = server.status().await;
    assert_eq!(status["last_error"]["result"], "failed");
    let message = status["last_error"]["message"].to_string();
    assert!(message.contains("still being written"), "{status}");
    assert_eq!(server.location("/x").await, "https://e.example/old");

    file.write_all(REST.as_bytes()).unwrap();
    file.write_all(b"\n").unwrap();
    until(async || {
        // Without further events, the file has to be checked.
        server.reload().await;
        server.location("/x").await == format!("{TORN}{REST}")
    })
    .await;
    assert_eq!(server.status().await["last_error"], json!(null));
    drop(file);
}

#[tokio::test]
async fn without_events_half_a_table_has_to_rest() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    fs::write(&path, table("old")).unwrap();
    let rests = Rests {
        rest: SOON,
        ..UNLESS_KNOWN
    };
    let source = Files::polled(vec![path], 1 << 20).resting(rests);
    let server = Running::on(frequent(), directory, source).await;
    let mut file = half_written(&server.table());
    looked(&server, 20.0).await;
    assert_eq!(server.location("/x").await, "https://e.example/old");
    file.write_all(REST.as_bytes()).unwrap();
    file.write_all(b"\n").unwrap();
    leads_to(&server, &format!("{TORN}{REST}")).await;
}

#[tokio::test]
async fn a_write_through_another_link_makes_no_event_and_has_to_rest() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("served/mapping.yaml");
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(&path, table("old")).unwrap();
    let elsewhere = directory.path().join("elsewhere.yaml");
    fs::hard_link(&path, &elsewhere).unwrap();
    let rests = Rests {
        rest: SOON,
        ..UNLESS_KNOWN
    };
    let source = Files::watched(vec![path], 1 << 20).resting(rests);
    let server = Running::on(frequent(), directory, source).await;
    let mut file = half_written(&elsewhere);
    looked(&server, 20.0).await;
    assert_eq!(server.location("/x").await, "https://e.example/old");
    file.write_all(REST.as_bytes()).unwrap();
    file.write_all(b"\n").unwrap();
    leads_to(&server, &format!("{TORN}{REST}")).await;
}

#[tokio::test]
async fn what_is_renamed_into_place_or_closed_goes_live_at_once() {
    let server = fixture(UNLESS_KNOWN).await;
    server.replace_table(&table("renamed"));
    leads_to(&server, "https://e.example/renamed").await;
    fs::write(server.table(), table("closed").trim_end()).unwrap();
    leads_to(&server, "https://e.example/closed").await;
    fs::remove_file(server.table()).unwrap();
    fs::write(server.table(), table("anew")).unwrap();
    leads_to(&server, "https://e.example/anew").await;
    // As `rsync --inplace` does it: closed, and only then given its time.
    fs::write(server.table(), table("timed")).unwrap();
    let file = File::open(server.table()).unwrap();
    let past = FileTimes::new().set_accessed(UNIX_EPOCH);
    file.set_times(past.set_modified(UNIX_EPOCH)).unwrap();
    leads_to(&server, "https://e.example/timed").await;
}

/// To set a file's time makes the same event as a write. A writer that does both before anything
/// has looked must not pass for one that was done.
#[tokio::test]
async fn a_write_does_not_pass_for_a_set_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    fs::write(&path, table("old")).unwrap();
    let source = Files::watched(vec![path.clone()], 1 << 20).resting(UNLESS_KNOWN);
    let server = Running::on(frequent(), directory, source).await;
    for _ in 0..5 {
        fs::write(&path, table("aaaa")).unwrap();
        leads_to(&server, "https://e.example/aaaa").await;
        let whole = table("bbbb");
        let (half, rest) = whole.split_at(whole.len() - 3);
        let mut file = File::options().write(true).open(&path).unwrap();
        file.write_all(half.as_bytes()).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        looked(&server, 20.0).await;
        assert_eq!(server.location("/x").await, "https://e.example/aaaa");
        file.write_all(rest.as_bytes()).unwrap();
        drop(file);
        leads_to(&server, "https://e.example/bbbb").await;
    }
}

#[tokio::test]
async fn a_file_that_comes_into_a_directory_goes_live_when_it_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let links = directory.path().join("links");
    fs::create_dir(&links).unwrap();
    fs::write(links.join("a.yaml"), table("old")).unwrap();
    let server = watched(directory, links.clone(), UNLESS_KNOWN).await;
    let entries = async || server.status().await["entries"].clone();
    let mut file = File::create(links.join("b.yaml")).unwrap();
    file.write_all(b"mapping:\n- {url: https://e.example/b, short-code: b}\n")
        .unwrap();
    looked(&server, 1.0).await;
    assert_eq!(entries().await, json!(1));
    file.write_all(b"- {url: https://e.example/c, short-code: c}\n")
        .unwrap();
    drop(file);
    until(async || entries().await == json!(3)).await;
}

#[tokio::test]
async fn swapped_links_and_directories_go_live_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let at = |path: &str| directory.path().join(path);
    let write = |path: &str, target: &str| {
        fs::create_dir_all(at(path)).unwrap();
        fs::write(at(path).join("mapping.yaml"), table(target)).unwrap();
    };
    write("etc/..1", "one");
    symlink("..1", at("etc/..data")).unwrap();
    symlink("..data/mapping.yaml", at("etc/mapping.yaml")).unwrap();
    let path = at("etc");
    let server = watched(tempfile::tempdir().unwrap(), path, UNLESS_KNOWN).await;
    for target in ["two", "three"] {
        // As the kubelet does it (AtomicWriter).
        write(&format!("etc/..{target}"), target);
        symlink(format!("..{target}"), at("etc/..data_tmp")).unwrap();
        fs::rename(at("etc/..data_tmp"), at("etc/..data")).unwrap();
        leads_to(&server, &format!("https://e.example/{target}")).await;
    }
    for target in ["four", "five"] {
        write("next", target);
        fs::rename(at("etc"), at(&format!("before {target}"))).unwrap();
        fs::rename(at("next"), at("etc")).unwrap();
        leads_to(&server, &format!("https://e.example/{target}")).await;
    }
}

#[tokio::test]
async fn what_git_holds_goes_live_at_once_even_without_events() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    fs::write(&path, table("old")).unwrap();
    git(directory.path(), "init --quiet");
    git(directory.path(), "add .");
    git(directory.path(), "commit --quiet -m old");
    let source = Files::polled(vec![path], 1 << 20).resting(UNLESS_KNOWN);
    let server = Running::on(frequent(), directory, source).await;
    server.replace_table(&table("new"));
    looked(&server, 20.0).await;
    assert_eq!(server.location("/x").await, "https://e.example/old");
    git(server.directory.path(), "add mapping.yaml");
    git(server.directory.path(), "commit --quiet -m new");
    leads_to(&server, "https://e.example/new").await;
}
