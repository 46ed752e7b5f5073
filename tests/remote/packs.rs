//! The packs of a clone: what a fetch adds to it, and how they are merged while it is served.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sha1::{Digest as _, Sha1};
use waypost::source::{FetchResult, Following};

use super::fixture::{Fixture, Followed, packs};

/// The packs above which they are merged: `MAX_PACKS` in `src/git/packs/repack.rs`.
const MAX_PACKS: usize = 16;

/// Returns so many lines that are compressed to half their length.
fn noise(lines: usize) -> Vec<String> {
    (0..lines)
        .map(|line| {
            let mut text = String::new();
            for byte in Sha1::digest(line.to_string()) {
                write!(text, "{byte:02x}").unwrap();
            }
            text
        })
        .collect()
}

fn push(fixture: &Fixture, path: &str, text: &str) {
    fixture.write(&format!("work/{path}"), text);
    fixture.git("add --all .");
    fixture.git("commit --quiet -m change");
    fixture.git("push --quiet origin HEAD:main");
}

fn total(packs: &[PathBuf]) -> u64 {
    // A pack that was merged in the meantime is gone.
    let lengths = packs
        .iter()
        .map(|it| fs::metadata(it).map_or(0, |it| it.len()));
    lengths.sum()
}

fn until(clone: &Path, what: impl Fn(&[PathBuf]) -> bool) {
    let began = Instant::now();
    while !what(&packs(clone)) {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{:?}",
            packs(clone)
        );
        sleep(Duration::from_millis(20));
    }
}

/// Checks the whole clone with Git, and returns the most deltas before an object.
fn checked(fixture: &Fixture) -> usize {
    let clone = fixture.clone_dir();
    let name = clone.strip_prefix(&fixture.root).unwrap().to_str().unwrap();
    fixture.git_in(name, "fsck --strict --no-dangling");
    let depth = |pack: &PathBuf| {
        let shown = fixture.git_in(".", &format!("verify-pack -v {}", pack.display()));
        let depths = shown.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields.len() == 7).then(|| fields[5].parse::<usize>().unwrap())
        });
        depths.max().unwrap_or(0)
    };
    packs(&clone).iter().map(depth).max().unwrap()
}

#[test]
fn small_changes_of_a_large_file_take_little() {
    let fixture = Fixture::new();
    let mut lines = noise(50_000);
    push(&fixture, "mapping.yaml", &lines.join("\n"));
    let followed = Followed::start(Following {
        max_bytes: 8 << 20,
        ..fixture.following()
    });
    assert_eq!(followed.text(), lines.join("\n"));
    let clone = fixture.clone_dir();
    let packed = total(&packs(&clone));
    for number in 0..8 {
        lines[number * 999] = format!("change {number}");
        lines.insert(number * 99, format!("insertion {number}"));
        push(&fixture, "mapping.yaml", &lines.join("\n"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        let reading = followed.read().unwrap();
        followed.follower.accepted(&reading.revision);
        assert_eq!(followed.text(), lines.join("\n"));
    }
    until(&clone, |packs| total(packs) < packed * 2);
    assert_eq!(followed.text(), lines.join("\n"));
    assert_eq!(fixture.clone_dir(), clone);
    drop(followed);
    assert_eq!(checked(&fixture), 1);
    // A restart serves the merged pack, and the next fetch builds on it.
    let followed = Followed::start(Following {
        max_bytes: 8 << 20,
        ..fixture.following()
    });
    assert_eq!(followed.text(), lines.join("\n"));
    lines.truncate(40_000);
    push(&fixture, "mapping.yaml", &lines.join("\n"));
    assert_eq!(followed.fetch(), FetchResult::Updated);
    assert_eq!(followed.text(), lines.join("\n"));
    assert_eq!(fixture.clone_dir(), clone);
}

#[test]
fn many_packs_are_merged_into_one() {
    let fixture = Fixture::new();
    fs::remove_file(fixture.at("work/mapping.yaml")).unwrap();
    let lines = noise(200).join("\n");
    for file in 0..20 {
        fixture.write(
            &format!("work/links/{file}.yaml"),
            &format!("{file}{lines}"),
        );
    }
    push(&fixture, "links/20.yaml", "20");
    let followed = fixture.follow_path("links");
    assert_eq!(followed.read().unwrap().files.len(), 21);
    let clone = fixture.clone_dir();
    // The state that a process leaves if it is killed during a merge.
    let left = clone.join("objects/pack/waypost-repack-0.pack");
    fs::write(&left, "").unwrap();
    for number in 0..MAX_PACKS + 4 {
        push(
            &fixture,
            &format!("links/{number}.yaml"),
            &format!("{number}{lines}\nmore"),
        );
        assert_eq!(followed.fetch(), FetchResult::Updated);
        // A tag and an earlier commit are not needed any more.
        assert_eq!(followed.read().unwrap().files.len(), 21);
    }
    until(&clone, |packs| packs.len() <= MAX_PACKS);
    until(&clone, |_| !left.exists());
    let texts = followed.read().unwrap().files;
    assert!(
        texts
            .iter()
            .filter(|it| it.bytes.ends_with(b"more"))
            .count()
            >= MAX_PACKS + 4
    );
    drop(followed);
    checked(&fixture);
    assert!(fixture.commits_kept() < MAX_PACKS);
}

#[test]
fn a_branch_that_moves_back_is_followed_after_its_commits_were_merged_away() {
    let fixture = Fixture::new();
    let first = fixture.git("rev-parse HEAD");
    let followed = fixture.follow();
    assert_eq!(followed.text(), "one");
    let clone = fixture.clone_dir();
    for number in 0..=MAX_PACKS {
        fixture.push(&format!("n{number}"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
    }
    until(&clone, |packs| packs.len() <= MAX_PACKS);
    let last = fixture.git("rev-parse HEAD");
    for (commit, text) in [(&first, "one"), (&last, "n16"), (&first, "one")] {
        fixture.git(&format!("push --quiet --force origin {commit}:main"));
        assert_eq!(followed.fetch(), FetchResult::Updated);
        assert_eq!(followed.text(), text);
    }
    drop(followed);
    checked(&fixture);
}
