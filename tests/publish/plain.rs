//! Pushes to a repository on the same machine without hooks and settings for pushes, and those that turn
//! out to be to another one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::fixture::{Fixture, NotPublished, add_line, names, refusal};

/// Returns how many packs the remote has, and how many objects in files of their own.
fn stored(fixture: &Fixture) -> (usize, usize) {
    let counted = fixture.remote("count-objects -v");
    let count = |name: &str| {
        let mut lines = counted.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(it, _)| *it == name);
        found.unwrap().1.parse().unwrap()
    };
    (count("packs"), count("count"))
}

/// Publishes a line, after something was done while that is computed.
#[track_caller]
fn publish_during(fixture: &Fixture, mut meanwhile: impl FnMut()) -> Result<(), NotPublished> {
    let writer = fixture.writer(None);
    let published = fixture.publish(&writer, |text| {
        meanwhile();
        Ok(add_line(text, "two"))
    });
    published.map(drop)
}

#[test]
fn a_pack_is_copied_into_a_plain_repository() {
    let fixture = Fixture::new();
    let (packs, loose) = stored(&fixture);
    publish_during(&fixture, || {}).unwrap();
    assert_eq!(fixture.table(), "one\ntwo");
    assert_eq!(
        (fixture.commits(), stored(&fixture)),
        (2, (packs + 1, loose))
    );
    fixture.remote("fsck --strict");
    let left = names(&fixture.at("remote.git/objects/pack"));
    assert!(
        !left.iter().any(|name| name.starts_with("tmp_")),
        "{left:?}"
    );
}

#[test]
fn a_large_change_is_copied_as_a_difference_from_what_is_stored() {
    let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let fixture = Fixture::with_table(&text);
    let writer = fixture.writer(None);
    for line in ["two", "three"] {
        let change = |text: &str| Ok(add_line(&text.replace("line 7\n", ""), line));
        fixture.publish(&writer, change).unwrap();
    }
    assert_eq!(fixture.table(), text.replace("line 7\n", "") + "two\nthree");
    fixture.remote("fsck --strict");
    // Each pack is complete: it does not need the other.
    let packs = fixture.at("remote.git/objects/pack");
    for name in names(&packs).iter().filter(|name| name.ends_with(".pack")) {
        let pack = fs::canonicalize(packs.join(name)).unwrap();
        let own = fixture.at("work");
        crate::git::git(
            &own,
            &format!("index-pack -o {name}.idx {}", pack.display()),
        );
    }
}

#[test]
fn a_hook_that_is_added_meanwhile_is_run() {
    let fixture = Fixture::new();
    let reason = refusal(publish_during(&fixture, || {
        fixture.hook("pre-receive", "echo no links on Sundays >&2; exit 1");
    }));
    assert!(reason.contains("no links on Sundays"), "{reason}");
    assert_eq!(fixture.table(), "one");
}

#[test]
fn a_setting_that_is_made_meanwhile_applies() {
    let fixture = Fixture::new();
    refusal(publish_during(&fixture, || {
        fixture.remote("config receive.maxInputSize 100");
    }));
    assert_eq!(fixture.table(), "one");
}

#[test]
fn a_branch_that_moves_meanwhile_is_read_again() {
    let fixture = Fixture::new();
    let mut is_first = true;
    publish_during(&fixture, || {
        if std::mem::take(&mut is_first) {
            fixture.push("mapping.yaml", "other\n");
        }
    })
    .unwrap();
    assert_eq!(fixture.table(), "other\ntwo");
    assert_eq!(fixture.commits(), 3);
}

#[test]
fn a_hook_for_all_changes_of_references_is_run() {
    let fixture = Fixture::new();
    fixture.hook("reference-transaction", "test $1 != prepared");
    let reason = refusal(publish_during(&fixture, || {}));
    assert!(reason.contains("aborted by hook"), "{reason}");
    assert_eq!(fixture.table(), "one");
}

#[test]
fn what_nothing_leads_to_yet_is_not_repacked_away() {
    let fixture = Fixture::new();
    let repack = "test $1 = prepared && env -u GIT_DIR git -C \"$PWD\" repack -a -d -q; exit 0";
    fixture.hook("reference-transaction", repack);
    publish_during(&fixture, || {}).unwrap();
    assert_eq!(fixture.table(), "one\ntwo");
    fixture.remote("fsck --strict");
    let left = names(&fixture.at("remote.git/objects/pack"));
    assert!(!left.iter().any(|name| name.ends_with(".keep")), "{left:?}");
    fs::remove_file(fixture.at("remote.git/hooks/reference-transaction")).unwrap();
    fixture.remote("repack -a -d -q");
    assert_eq!(stored(&fixture), (1, 0));
}

#[test]
fn nothing_is_put_on_a_commit_that_is_missing() {
    let fixture = Fixture::new();
    let tip = fixture.remote("rev-parse main");
    let refused = publish_during(&fixture, || {
        let (directory, name) = tip.split_at(2);
        let object = format!("remote.git/objects/{directory}/{name}");
        fs::remove_file(fixture.at(&object)).unwrap();
    });
    assert!(
        matches!(refused, Err(NotPublished::Failed(_))),
        "{refused:?}"
    );
    assert_eq!(fixture.remote("rev-parse main"), tip);
}

#[test]
fn a_pack_that_cannot_be_copied_is_sent() {
    let fixture = Fixture::new();
    let packs = fixture.at("remote.git/objects/pack");
    let other = fixture.at("packs");
    publish_during(&fixture, || {
        fs::rename(&packs, &other).unwrap();
        symlink(Path::new("/nonexistent"), &packs).unwrap();
    })
    .unwrap();
    fs::remove_file(&packs).unwrap();
    fs::rename(&other, &packs).unwrap();
    assert_eq!(fixture.table(), "one\ntwo");
    fixture.remote("fsck --strict");
}
