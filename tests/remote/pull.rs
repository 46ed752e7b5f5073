//! Pulling a checkout that holds the table, beside people and cron jobs that do the same.

use std::fs;
use std::os::unix::fs::chown;
use std::time::Duration;

use waypost::git::Transfer;
use waypost::source::{Fetch, FetchOptions, FetchResult, FileSource, PullError, Puller, Pulling};

use super::fixture::{Fixture, git, runtime};

/// A checkout `served` of the remote, which is pulled.
struct Pulled {
    puller: Puller,
    _runtime: tokio::runtime::Runtime,
}

fn served() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("work/other.txt", "one");
    fixture.push("one");
    fixture.git_in(".", "clone --quiet remote.git served");
    fixture
}

fn pulling(fixture: &Fixture) -> Pulling {
    Pulling {
        table: fixture.at("served/mapping.yaml"),
        fetch: fixture.fetch_options(),
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
    fn start(fixture: &Fixture) -> Self {
        let pulled = try_pull(pulling(fixture)).unwrap();
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

fn text(fixture: &Fixture) -> String {
    fs::read_to_string(fixture.at("served/mapping.yaml")).unwrap()
}

fn head(fixture: &Fixture) -> String {
    fixture.git_in("served", "rev-parse HEAD")
}

#[test]
fn files_larger_than_a_fetch_may_be_are_not_checked_out() {
    let fixture = served();
    let pulling = Pulling {
        fetch: FetchOptions {
            transfer: Transfer {
                max_bytes: 8 << 20,
                ..fixture.transfer()
            },
            ..fixture.fetch_options()
        },
        ..pulling(&fixture)
    };
    let before = head(&fixture);
    // A few kilobytes on the way.
    fixture.write("work/large", &"x".repeat(16 << 20));
    fixture.push("two");
    let error = try_pull(pulling).unwrap().error();
    assert!(error.contains("\"max fetch bytes\""), "{error}");
    assert_eq!(head(&fixture), before);
    assert!(!fixture.at("served/large").exists());
    assert_eq!(
        Pulled::start(&fixture).pull().result,
        FetchResult::Unchanged
    );
    assert_eq!(text(&fixture), "two");
}

#[test]
fn fast_forwards_files_index_and_branch() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.write("work/deep/new.txt", "new");
    fs::remove_file(fixture.at("work/other.txt")).unwrap();
    let two = fixture.push("two");
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    assert_eq!(text(&fixture), "two");
    assert_eq!(head(&fixture), two);
    assert!(fixture.at("served/deep/new.txt").exists());
    assert!(!fixture.at("served/other.txt").exists());
    assert_eq!(
        fixture.git_in("served", "status --porcelain --branch"),
        "## main...origin/main"
    );
    assert_eq!(fixture.git_in("served", "fsck --strict"), "");
    assert!(!fixture.at("served/.git/index.lock").exists());
    assert!(!fixture.at("served/.git/index.waypost").exists());
    assert_eq!(pulled.pull().result, FetchResult::Unchanged);

    let source = FileSource::new(vec![fixture.at("served/mapping.yaml")], 1 << 20);
    assert_eq!(source.read().unwrap().revision.to_string(), two);
}

#[test]
fn never_overwrites_local_changes() {
    for (file, stage) in [
        ("mapping.yaml", false),
        ("mapping.yaml", true),
        ("new.txt", false),
    ] {
        let fixture = served();
        let pulled = Pulled::start(&fixture);
        let before = head(&fixture);
        fixture.write(&format!("served/{file}"), "mine");
        if stage {
            fixture.git_in("served", "add .");
        }
        let status = fixture.git_in("served", "status --porcelain");
        fixture.write("work/new.txt", "new");
        fixture.push("two");
        let error = pulled.error();
        assert!(error.contains(&format!("overwritten in {file}")), "{error}");
        assert_eq!(head(&fixture), before);
        assert_eq!(
            fs::read_to_string(fixture.at(&format!("served/{file}"))).unwrap(),
            "mine"
        );
        assert_eq!(fixture.git_in("served", "status --porcelain"), status);
    }
}

#[test]
fn keeps_local_changes_to_files_that_are_not_pulled() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.write("served/other.txt", "mine");
    fixture.write("served/staged.txt", "staged");
    fixture.git_in("served", "add staged.txt");
    fixture.push("two");
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    assert_eq!(text(&fixture), "two");
    let status = fixture.git_in("served", "status --porcelain");
    assert_eq!(status, "M other.txt\nA  staged.txt");
}

#[test]
fn a_staged_change_that_was_undone_in_the_file_is_kept() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.write("served/mapping.yaml", "staged");
    fixture.git_in("served", "add .");
    fixture.write("served/mapping.yaml", "one");
    fixture.push("two");
    let error = pulled.error();
    assert!(error.contains("overwritten in mapping.yaml"), "{error}");
    assert_eq!(fixture.git_in("served", "show :mapping.yaml"), "staged");
}

#[test]
fn leaves_a_diverged_branch_alone() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.write("served/local.txt", "local");
    fixture.git_in("served", "add .");
    fixture.git_in("served", "commit --quiet -m local");
    let local = head(&fixture);
    // Only ahead: nothing to do.
    assert_eq!(pulled.pull().result, FetchResult::Unchanged);
    fixture.push("two");
    let error = pulled.error();
    assert!(
        error.contains("main has commits that its remote does not have"),
        "{error}"
    );
    assert_eq!(head(&fixture), local);
    assert_eq!(text(&fixture), "one");
}

#[test]
fn waits_for_a_git_command_that_is_at_work() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.push("two");
    let lock = fixture.at("served/.git/index.lock");
    fs::write(&lock, "").unwrap();
    let (served, removed) = (fixture.at("served"), lock.clone());
    let seen = move || git(&served, "rev-parse origin/main").stdout;
    let before = seen();
    let waiting = std::thread::spawn(move || {
        // After the fetch, only the checkout remains to be done.
        while seen() == before {
            std::thread::sleep(Duration::from_millis(10));
        }
        fs::remove_file(removed).unwrap();
    });
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    waiting.join().unwrap();
    assert_eq!(text(&fixture), "two");
}

#[test]
fn reports_a_lock_that_stays() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    fixture.push("two");
    fs::write(fixture.at("served/.git/index.lock"), "").unwrap();
    let error = pulled.error();
    assert!(error.contains("index.lock exists: remove it"), "{error}");
    assert_eq!(text(&fixture), "one");
    assert!(fixture.at("served/.git/index.lock").exists());
}

#[test]
fn pulls_beside_a_cron_job_and_a_person() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    for n in 0..10 {
        let commit = fixture.push(&format!("n{n}"));
        let served = fixture.at("served");
        let cron = std::thread::spawn(move || git(&served, "pull --quiet --ff-only"));
        pulled.pull();
        cron.join().unwrap();
        // The second of the two may have failed, and is repeated.
        pulled.pull();
        assert_eq!(head(&fixture), commit);
        assert_eq!(text(&fixture), format!("n{n}"));
        assert_eq!(fixture.git_in("served", "status --porcelain"), "");
    }
}

/// `git` reads the index before it locks it, and may write what it read over a newer one.
#[test]
fn an_index_of_an_earlier_commit_is_no_change_by_a_person() {
    let fixture = served();
    let pulled = Pulled::start(&fixture);
    let index = fixture.at("served/.git/index");
    let outdated = fs::read(&index).unwrap();
    fixture.write("work/new.txt", "new");
    fs::remove_file(fixture.at("work/other.txt")).unwrap();
    fixture.push("two");
    assert_eq!(pulled.pull().result, FetchResult::Updated);
    fs::write(&index, outdated).unwrap();
    assert_ne!(fixture.git_in("served", "status --porcelain"), "");

    // The next commit changes each of the files.
    fixture.write("work/new.txt", "newer");
    fixture.write("work/other.txt", "again");
    let three = fixture.push("three");
    let pull = pulled.pull();
    assert_eq!(pull.result, FetchResult::Updated, "{:?}", pull.error);
    assert_eq!(head(&fixture), three);
    assert_eq!(text(&fixture), "three");
    assert_eq!(fixture.git_in("served", "status --porcelain"), "");

    // What a person stages stays.
    fixture.write("served/mapping.yaml", "mine");
    fixture.git_in("served", "add mapping.yaml");
    fixture.write("served/mapping.yaml", "three");
    fixture.push("four");
    let error = pulled.error();
    assert!(error.contains("local changes"), "{error}");
    assert_eq!(fixture.git_in("served", "show :mapping.yaml"), "mine");
}

#[test]
fn reports_why_a_checkout_cannot_be_pulled() {
    let fixture = served();
    let refused = |fixture: &Fixture, table: &str| {
        let table = fixture.at(table);
        let started = try_pull(Pulling {
            table,
            ..pulling(fixture)
        });
        started.err().unwrap().to_string()
    };
    fixture.write("plain/mapping.yaml", "");
    assert!(refused(&fixture, "plain/mapping.yaml").contains("not in a Git checkout"));
    fixture.git_in("served", "branch --unset-upstream");
    assert!(refused(&fixture, "served").contains("main has no upstream branch"));
    fixture.git_in("served", "switch --quiet --detach");
    assert!(refused(&fixture, "served").contains("no branch is checked out"));
}

#[test]
fn a_checkout_of_another_user_is_not_pulled() {
    let fixture = served();
    if chown(fixture.at("served"), Some(12_345), None).is_err()
        || chown(fixture.at("served/.git"), Some(12_345), None).is_err()
    {
        // Only root can give files away.
        return;
    }
    let pulled = try_pull(pulling(&fixture)).unwrap();
    let error = pulled.error();
    assert!(error.contains("safe.directory"), "{error}");
}
