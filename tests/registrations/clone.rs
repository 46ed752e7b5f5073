//! The one clone of the repository, which is fetched into, registered in and served from.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::scene::{Scene, problem, status};
use crate::support::soon;

/// The number of packs above which a clone is replaced: `MAX_PACKS` in
/// `src/source/follow/current_clone.rs`.
const MAX_PACKS: usize = 64;

/// Lists a directory, without the files and directories that do not begin so.
fn listed(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let begins = |name: &str| name.starts_with(prefix);
    (entries.filter(|it| begins(&it.file_name().to_string_lossy())))
        .map(|entry| entry.path())
        .collect()
}

/// Returns the only clone that the server has anywhere.
fn clone_of(scene: &Scene) -> PathBuf {
    let states = listed(&scene.root, "waypost-state-");
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

/// Makes a clone look like one that has grown.
fn grow(clone: &Path) {
    for n in 0..MAX_PACKS {
        File::create(clone.join(format!("objects/pack/{n}.pack"))).unwrap();
    }
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
    let scene = Scene::new().await;
    let clone = clone_of(&scene);
    let before = packs(&clone).len();
    for n in 1..=3 {
        assert_eq!(status(&scene.register(&link(n)).await), 201);
        assert_eq!(clone_of(&scene), clone);
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
    let scene = Scene::new().await;
    let damages: [fn(&Path); 4] = [
        break_packs,
        |clone| fs::remove_file(clone.join("HEAD")).unwrap(),
        |clone| fs::remove_dir_all(clone.join("objects")).unwrap(),
        |clone| fs::remove_dir_all(clone).unwrap(),
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        // With a last position that the next registration assumes.
        assert_eq!(status(&scene.register(&link(2 * n)).await), 201);
        let clone = clone_of(&scene);
        damage(&clone);
        assert_eq!(status(&scene.register(&link(2 * n + 1)).await), 201);
        assert_ne!(clone_of(&scene), clone);
        let location = scene.server.location(&format!("/c{}", 2 * n + 1)).await;
        assert_eq!(location, format!("https://e.org/{}", 2 * n + 1));
    }
    assert_eq!(scene.commits(), 9);
    assert_eq!(scene.counted("failed").await, 0.0);
}

#[tokio::test]
async fn a_damaged_clone_without_a_remote_changes_nothing() {
    let scene = Scene::new().await;
    assert_eq!(status(&scene.register(&link(1)).await), 201);
    break_packs(&clone_of(&scene));
    let (here, away) = (scene.root.join("remote.git"), scene.root.join("away.git"));
    fs::rename(&here, &away).unwrap();
    let reply = scene.register(&link(2)).await;
    assert_eq!((status(&reply), &*problem(&reply)), (503, "remote-down"));
    assert_eq!(scene.server.location("/c1").await, "https://e.org/1");
    fs::rename(&away, &here).unwrap();
    assert_eq!(status(&scene.register(&link(2)).await), 201);
    assert_eq!(scene.commits(), 3);
    clone_of(&scene);
}

#[tokio::test]
async fn a_clone_that_has_grown_is_replaced_before_the_next_registration() {
    let scene = Scene::new().await;
    // What is refused leaves a pack, too.
    scene.hook("pre-receive", "exit 1");
    let clone = clone_of(&scene);
    let before = packs(&clone).len();
    assert_eq!(status(&scene.register(&link(1)).await), 502);
    assert_eq!(packs(&clone).len(), before + 1);
    grow(&clone);
    scene.hook("pre-receive", "exit 0");
    assert_eq!(status(&scene.register(&link(1)).await), 201);
    let fresh = clone_of(&scene);
    assert_ne!(fresh, clone);
    assert_eq!(packs(&fresh).len(), 2);
}

#[tokio::test]
async fn a_clone_is_replaced_only_after_the_registration_in_it() {
    let scene = &Scene::new().await;
    let clone = clone_of(scene);
    scene.hold();
    let body = link(1);
    let registered = scene.register(&body);
    let replacing = async {
        scene.until_held().await;
        grow(&clone);
        // Fetches, which replaces the clone.
        let reload = scene.server.reload();
        let releasing = async {
            // It is answered while the reload waits for its turn.
            scene.server.status().await;
            assert_eq!(clone_of(scene), clone);
            scene.release();
        };
        let (reloaded, ()) = tokio::join!(reload, releasing);
        assert_eq!(status(&reloaded), 200);
    };
    let (registered, ()) = soon(async { tokio::join!(registered, replacing) }).await;
    assert_eq!(status(&registered), 201);
    assert_eq!(scene.server.location("/c1").await, "https://e.org/1");
    assert_eq!(status(&scene.register(&link(2)).await), 201);
    assert_ne!(clone_of(scene), clone);
    assert_eq!(scene.commits(), 3);
}

#[tokio::test]
async fn a_link_is_registered_in_the_branch_to_which_head_leads_now() {
    let scene = Scene::new().await;
    assert_eq!(status(&scene.register(&link(1)).await), 201);
    let before = scene.remote("rev-parse main");
    scene.remote("branch other main");
    scene.remote("symbolic-ref HEAD refs/heads/other");
    assert_eq!(status(&scene.server.reload().await), 200);
    assert_eq!(status(&scene.register(&link(2)).await), 201);
    assert_eq!(scene.remote("rev-parse main"), before);
    assert_eq!(scene.remote("rev-parse other~1"), before);
    assert_eq!(scene.server.location("/c2").await, "https://e.org/2");
}
