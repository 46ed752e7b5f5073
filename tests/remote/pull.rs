//! Pulling a checkout that holds the table, beside people and cron jobs that do the same.

use std::fs;
use std::os::unix::fs::chown;
use std::time::Duration;

use waypost::git::Transfer;
use waypost::source::{Fetch, FetchOptions, FetchResult, FileSource, PullError, Puller, Pulling};

use super::scene::{Scene, git, runtime};

/// A checkout `served` of the remote, which is pulled.
struct Pulled {
    puller: Puller,
    _runtime: tokio::runtime::Runtime,
}

fn served() -> Scene {
    let scene = Scene::new();
    scene.write("work/other.txt", "one");
    scene.push("one");
    scene.git_in(".", "clone --quiet remote.git served");
    scene
}

fn pulling(scene: &Scene) -> Pulling {
    Pulling {
        table: scene.at("served/mapping.yaml"),
        fetch: scene.fetch_options(),
    }
}

fn try_pull(pulling: Pulling) -> Result<Pulled, PullError> {
    let runtime = runtime();
    let _guard = runtime.enter();
    Ok(Pulled {
        puller: Puller::start(pulling)?,
        _runtime: runtime,
    })
}

impl Pulled {
    fn start(scene: &Scene) -> Self {
        let pulled = try_pull(pulling(scene)).unwrap();
        pulled.pull();
        pulled
    }

    fn pull(&self) -> Fetch {
        self.puller.refresh();
        self.puller.last().unwrap()
    }

    fn error(&self) -> String {
        let Fetch { result, error, .. } = self.pull();
        assert_eq!(result, FetchResult::Failed);
        error.unwrap()
    }
}

fn text(scene: &Scene) -> String {
    fs::read_to_string(scene.at("served/mapping.yaml")).unwrap()
}

fn head(scene: &Scene) -> String {
    scene.git_in("served", "rev-parse HEAD")
}

#[test]
fn files_larger_than_a_fetch_may_be_are_not_checked_out() {
    let scene = served();
    let pulling = Pulling {
        fetch: FetchOptions {
            transfer: Transfer {
                max_bytes: 8 << 20,
                ..scene.transfer()
            },
            ..scene.fetch_options()
        },
        ..pulling(&scene)
    };
    let before = head(&scene);
    // A few kilobytes on the way.
    scene.write("work/large", &"x".repeat(16 << 20));
    scene.push("two");
    let error = try_pull(pulling).unwrap().error();
    assert!(error.contains("\"max fetch bytes\""), "{error}");
    assert_eq!(head(&scene), before);
    assert!(!scene.at("served/large").exists());
    assert_eq!(Pulled::start(&scene).pull().result, FetchResult::Unchanged);
    assert_eq!(text(&scene), "two");
}

#[test]
fn fast_forwards_files_index_and_branch() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.write("work/deep/new.txt", "new");
    fs::remove_file(scene.at("work/other.txt")).unwrap();
    let two = scene.push("two");
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    assert_eq!(text(&scene), "two");
    assert_eq!(head(&scene), two);
    assert!(scene.at("served/deep/new.txt").exists());
    assert!(!scene.at("served/other.txt").exists());
    assert_eq!(
        scene.git_in("served", "status --porcelain --branch"),
        "## main...origin/main"
    );
    assert_eq!(scene.git_in("served", "fsck --strict"), "");
    assert!(!scene.at("served/.git/index.lock").exists());
    assert!(!scene.at("served/.git/index.waypost").exists());
    assert_eq!(pulled.pull().result, FetchResult::Unchanged);

    let source = FileSource::new(vec![scene.at("served/mapping.yaml")], 1 << 20);
    assert_eq!(source.read().unwrap().revision.to_string(), two);
}

#[test]
fn never_overwrites_local_changes() {
    for (file, stage) in [
        ("mapping.yaml", false),
        ("mapping.yaml", true),
        ("new.txt", false),
    ] {
        let scene = served();
        let pulled = Pulled::start(&scene);
        let before = head(&scene);
        scene.write(&format!("served/{file}"), "mine");
        if stage {
            scene.git_in("served", "add .");
        }
        let status = scene.git_in("served", "status --porcelain");
        scene.write("work/new.txt", "new");
        scene.push("two");
        let error = pulled.error();
        assert!(error.contains(&format!("overwritten in {file}")), "{error}");
        assert_eq!(head(&scene), before);
        assert_eq!(
            fs::read_to_string(scene.at(&format!("served/{file}"))).unwrap(),
            "mine"
        );
        assert_eq!(scene.git_in("served", "status --porcelain"), status);
    }
}

#[test]
fn keeps_local_changes_to_files_that_are_not_pulled() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.write("served/other.txt", "mine");
    scene.write("served/staged.txt", "staged");
    scene.git_in("served", "add staged.txt");
    scene.push("two");
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    assert_eq!(text(&scene), "two");
    let status = scene.git_in("served", "status --porcelain");
    assert_eq!(status, "M other.txt\nA  staged.txt");
}

#[test]
fn a_staged_change_that_was_undone_in_the_file_is_kept() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.write("served/mapping.yaml", "staged");
    scene.git_in("served", "add .");
    scene.write("served/mapping.yaml", "one");
    scene.push("two");
    let error = pulled.error();
    assert!(error.contains("overwritten in mapping.yaml"), "{error}");
    assert_eq!(scene.git_in("served", "show :mapping.yaml"), "staged");
}

#[test]
fn leaves_a_diverged_branch_alone() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.write("served/local.txt", "local");
    scene.git_in("served", "add .");
    scene.git_in("served", "commit --quiet -m local");
    let local = head(&scene);
    // Only ahead: nothing to do.
    assert_eq!(pulled.pull().result, FetchResult::Unchanged);
    scene.push("two");
    let error = pulled.error();
    assert!(
        error.contains("main has commits that its remote has not"),
        "{error}"
    );
    assert_eq!(head(&scene), local);
    assert_eq!(text(&scene), "one");
}

#[test]
fn waits_for_a_git_command_that_is_at_work() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.push("two");
    let lock = scene.at("served/.git/index.lock");
    fs::write(&lock, "").unwrap();
    let (served, removed) = (scene.at("served"), lock.clone());
    let seen = move || git(&served, "rev-parse origin/main").stdout;
    let before = seen();
    let waiting = std::thread::spawn(move || {
        // Once it is fetched, what is left is the checkout.
        while seen() == before {
            std::thread::sleep(Duration::from_millis(10));
        }
        fs::remove_file(removed).unwrap();
    });
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    waiting.join().unwrap();
    assert_eq!(text(&scene), "two");
}

#[test]
fn reports_a_lock_that_stays() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    scene.push("two");
    fs::write(scene.at("served/.git/index.lock"), "").unwrap();
    let error = pulled.error();
    assert!(error.contains("index.lock exists: remove it"), "{error}");
    assert_eq!(text(&scene), "one");
    assert!(scene.at("served/.git/index.lock").exists());
}

#[test]
fn pulls_beside_a_cron_job_and_a_person() {
    let scene = served();
    let pulled = Pulled::start(&scene);
    for n in 0..10 {
        let commit = scene.push(&format!("n{n}"));
        let served = scene.at("served");
        let cron = std::thread::spawn(move || git(&served, "pull --quiet --ff-only"));
        pulled.pull();
        cron.join().unwrap();
        // The second of the two may have failed, and is repeated.
        pulled.pull();
        assert_eq!(head(&scene), commit);
        assert_eq!(text(&scene), format!("n{n}"));
        assert_eq!(scene.git_in("served", "status --porcelain"), "");
    }
}

#[test]
fn says_why_a_checkout_cannot_be_pulled() {
    let scene = served();
    let refused = |scene: &Scene, table: &str| {
        let table = scene.at(table);
        let started = try_pull(Pulling {
            table,
            ..pulling(scene)
        });
        started.err().unwrap().to_string()
    };
    scene.write("plain/mapping.yaml", "");
    assert!(refused(&scene, "plain/mapping.yaml").contains("in no Git checkout"));
    scene.git_in("served", "branch --unset-upstream");
    assert!(refused(&scene, "served").contains("main follows no branch"));
    scene.git_in("served", "switch --quiet --detach");
    assert!(refused(&scene, "served").contains("at no branch"));
}

#[test]
fn a_checkout_of_another_user_is_not_pulled() {
    let scene = served();
    if chown(scene.at("served"), Some(12_345), None).is_err()
        || chown(scene.at("served/.git"), Some(12_345), None).is_err()
    {
        // Only root can give files away.
        return;
    }
    let pulled = try_pull(pulling(&scene)).unwrap();
    let error = pulled.error();
    assert!(error.contains("safe.directory"), "{error}");
}
