//! The one clone of the repository, which is fetched into, registered in and served from.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fixture::{Fixture, problem, status};
use crate::support::soon;

/// The number of packs above which they are merged: `MAX_PACKS` in `src/git/packs/repack.rs`.
const MAX_PACKS: usize = 16;

/// Lists a directory, without the files and directories that do not begin so.
fn listed(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let begins = |name: &str| name.starts_with(prefix);
    (entries.filter(|it| begins(&it.file_name().to_string_lossy())))
        .map(|entry| entry.path())
        .collect()
}

/// Returns the only clone that the server has anywhere.
fn clone_of(fixture: &Fixture) -> PathBuf {
    let states = listed(&fixture.root, "waypost-state-");
    let clones = states.iter().flat_map(|state| listed(state, "clone-"));
    let clones: Vec<_> = clones.collect();
    assert_eq!(clones.len(), 1, "{clones:?}");
    clones[0].clone()
}

fn packs(clone: &Path) -> Vec<PathBuf> {
    let mut packs = listed(&clone.join("objects/pack"), "pack-");
    packs.retain(|path| path.extension().is_some_and(|it| it == "pack"));
    packs
}

fn break_packs(clone: &Path) {
    for pack in packs(clone) {
        let mut bytes = fs::read(&pack).unwrap();
        let end = bytes.len() - 20;
        bytes[12..end].fill(0xAA);
        fs::set_permissions(&pack, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&pack, bytes).unwrap();
    }
}

fn link(n: usize) -> String {
    format!(r#"{{"url": "https://e.org/{n}", "short_code": "c{n}"}}"#)
}

#[tokio::test]
async fn a_registration_adds_one_pack_to_the_only_clone() {
    let fixture = Fixture::new().await;
    let clone = clone_of(&fixture);
    let before = packs(&clone).len();
    for n in 1..=3 {
        assert_eq!(status(&fixture.register(&link(n)).await), 201);
        assert_eq!(clone_of(&fixture), clone);
        assert_eq!(packs(&clone).len(), before + n);
    }
    // Nothing is written outside of them.
    let others = fs::read_dir(clone.join("objects")).unwrap();
    let mut others: Vec<_> = others.map(|it| it.unwrap().file_name()).collect();
    others.sort();
    assert_eq!(others, ["info", "pack"]);
}

#[tokio::test]
async fn a_damaged_clone_is_replaced_and_the_link_registered() {
    let fixture = Fixture::new().await;
    let damages: [fn(&Path); 4] = [
        break_packs,
        |clone| fs::remove_file(clone.join("HEAD")).unwrap(),
        |clone| fs::remove_dir_all(clone.join("objects")).unwrap(),
        |clone| fs::remove_dir_all(clone).unwrap(),
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        // With a last position that the next registration assumes.
        assert_eq!(status(&fixture.register(&link(2 * n)).await), 201);
        let clone = clone_of(&fixture);
        damage(&clone);
        assert_eq!(status(&fixture.register(&link(2 * n + 1)).await), 201);
        assert_ne!(clone_of(&fixture), clone);
        let location = fixture.server.location(&format!("/c{}", 2 * n + 1)).await;
        assert_eq!(location, format!("https://e.org/{}", 2 * n + 1));
    }
    assert_eq!(fixture.commits(), 9);
    assert_eq!(fixture.counted("failed").await, 0.0);
}

#[tokio::test]
async fn a_link_whose_push_damaged_the_clone_is_registered_and_served_from_another() {
    let fixture = Fixture::new().await;
    let clone = clone_of(&fixture);
    let refs = clone.join("refs");
    fixture.hook("post-receive", &format!("rm -r '{}'", refs.display()));
    assert_eq!(status(&fixture.register(&link(1)).await), 201);
    assert_ne!(clone_of(&fixture), clone);
    assert_eq!(fixture.server.location("/c1").await, "https://e.org/1");
    assert_eq!(fixture.commits(), 2);
}

#[tokio::test]
async fn a_damaged_clone_without_a_remote_changes_nothing() {
    let fixture = Fixture::new().await;
    assert_eq!(status(&fixture.register(&link(1)).await), 201);
    break_packs(&clone_of(&fixture));
    let (here, away) = (
        fixture.root.join("remote.git"),
        fixture.root.join("away.git"),
    );
    fs::rename(&here, &away).unwrap();
    let reply = fixture.register(&link(2)).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "remote-down"));
    assert_eq!(fixture.server.location("/c1").await, "https://e.org/1");
    fs::rename(&away, &here).unwrap();
    assert_eq!(status(&fixture.register(&link(2)).await), 201);
    assert_eq!(fixture.commits(), 3);
    clone_of(&fixture);
}

#[tokio::test]
async fn the_packs_of_registrations_are_merged_in_the_same_clone() {
    let fixture = Fixture::new().await;
    let clone = clone_of(&fixture);
    for n in 0..MAX_PACKS {
        assert_eq!(status(&fixture.register(&link(n)).await), 201);
    }
    // A refused change leaves a pack, too.
    fixture.hook("pre-receive", "exit 1");
    assert_eq!(status(&fixture.register(&link(99)).await), 502);
    soon(async {
        while packs(&clone).len() > MAX_PACKS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    fixture.hook("pre-receive", "exit 0");
    assert_eq!(status(&fixture.register(&link(99)).await), 201);
    assert_eq!(clone_of(&fixture), clone);
    assert_eq!(fixture.commits(), MAX_PACKS + 2);
}

#[tokio::test]
async fn a_fetch_waits_for_the_registration_in_its_clone() {
    let fixture = &Fixture::new().await;
    let clone = clone_of(fixture);
    fixture.hold();
    let body = link(1);
    let registered = fixture.register(&body);
    let replacing = async {
        fixture.until_held().await;
        // Fetches.
        let reload = fixture.server.reload();
        let releasing = async {
            // It is answered while the reload waits for its turn.
            fixture.server.status().await;
            assert_eq!(clone_of(fixture), clone);
            fixture.release();
        };
        let (reloaded, ()) = tokio::join!(reload, releasing);
        assert_eq!(status(&reloaded), 200);
    };
    let (registered, ()) = soon(async { tokio::join!(registered, replacing) }).await;
    assert_eq!(status(&registered), 201);
    assert_eq!(fixture.server.location("/c1").await, "https://e.org/1");
    assert_eq!(status(&fixture.register(&link(2)).await), 201);
    assert_eq!(clone_of(fixture), clone);
    assert_eq!(fixture.commits(), 3);
}

#[tokio::test]
async fn a_link_is_registered_in_the_branch_to_which_head_leads_now() {
    let fixture = Fixture::new().await;
    assert_eq!(status(&fixture.register(&link(1)).await), 201);
    let before = fixture.remote("rev-parse main");
    fixture.remote("branch other main");
    fixture.remote("symbolic-ref HEAD refs/heads/other");
    assert_eq!(status(&fixture.server.reload().await), 200);
    assert_eq!(status(&fixture.register(&link(2)).await), 201);
    assert_eq!(fixture.remote("rev-parse main"), before);
    assert_eq!(fixture.remote("rev-parse other~1"), before);
    assert_eq!(fixture.server.location("/c2").await, "https://e.org/2");
}
