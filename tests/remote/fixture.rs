//! A remote repository made by the `git` program, and followers of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use waypost::git::{Anyone, Credentials, RemoteUrl, StateError, Transfer, chain};
use waypost::source::{
    Fetch, FetchOptions, FetchResult, Follower, Following, Reading, RemoteError, Schedule,
};

use crate::bare_remote;
use crate::git::program;

/// A directory with the remote `remote.git`, and a checkout `work` from which it is pushed to.
pub(crate) struct Fixture {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Fixture {
    /// A remote whose branch `main` holds `mapping.yaml` with the text `one`.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let fixture = Self { _dir: dir, root };
        fs::create_dir(fixture.at("state")).unwrap();
        fixture.create("remote.git", "work");
        fixture.push("one");
        fixture
    }

    pub(crate) fn create(&self, remote: &str, work: &str) {
        self.git_in(".", &format!("init --quiet --bare {remote}"));
        self.git_in(".", &format!("init --quiet {work}"));
        self.git_in(work, &format!("remote add origin ../{remote}"));
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    /// Runs git in the checkout, with arguments that hold no spaces.
    pub(crate) fn git(&self, arguments: &str) -> String {
        self.git_in("work", arguments)
    }

    pub(crate) fn git_in(&self, directory: &str, arguments: &str) -> String {
        let output = git(&self.at(directory), arguments);
        assert!(output.status.success(), "git {arguments}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits `mapping.yaml` with a text, and returns the commit.
    pub(crate) fn commit(&self, text: &str) -> String {
        self.write("work/mapping.yaml", text);
        self.git("add --all .");
        self.git(&format!("commit --quiet --allow-empty -m {text}"));
        self.git("rev-parse HEAD")
    }

    /// Commits `mapping.yaml` with a text to the current branch, and pushes it.
    pub(crate) fn push(&self, text: &str) -> String {
        let commit = self.commit(text);
        self.git("push --quiet --force origin HEAD");
        commit
    }

    /// Follows the remote's `HEAD` over the local transport, and keeps the clone in `state`.
    pub(crate) fn following(&self) -> Following {
        Following {
            remote: self.url("remote.git"),
            reference: None,
            path: "mapping.yaml".to_owned(),
            state_dir: Some(self.at("state")),
            max_bytes: 1 << 20,
            memory: None,
            fetch: self.fetch_options(),
        }
    }

    /// Fetches when asked, without credentials.
    pub(crate) fn fetch_options(&self) -> FetchOptions {
        FetchOptions {
            // Longer than any test.
            schedule: Schedule::every(Duration::from_secs(3_600)),
            credentials: Credentials::default(),
            transfer: self.transfer(),
            verifier: Arc::new(Anyone),
            observer: Arc::new(|_| ()),
        }
    }

    /// The same, but each fetch may take only this long.
    pub(crate) fn fetch_within(&self, timeout: Duration) -> FetchOptions {
        FetchOptions {
            transfer: Transfer {
                timeout,
                ..self.transfer()
            },
            ..self.fetch_options()
        }
    }

    pub(crate) fn url(&self, path: &str) -> RemoteUrl {
        RemoteUrl::parse(&format!("file://{}", self.at(path).display())).unwrap()
    }

    pub(crate) fn transfer(&self) -> Transfer {
        bare_remote::transfer(&self.root)
    }

    pub(crate) fn follow(&self) -> Followed {
        Followed::start(self.following())
    }

    pub(crate) fn follow_ref(&self, reference: &str) -> Followed {
        Followed::start(Following {
            reference: Some(reference.to_owned()),
            ..self.following()
        })
    }

    pub(crate) fn follow_path(&self, path: &str) -> Followed {
        Followed::start(Following {
            path: path.to_owned(),
            ..self.following()
        })
    }

    /// The directory of the only clone in the state directory.
    pub(crate) fn clone_dir(&self) -> PathBuf {
        let clones: Vec<PathBuf> = fs::read_dir(self.at("state"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        assert_eq!(clones.len(), 1, "{clones:?}");
        clones[0].clone()
    }

    /// The number of commits in it.
    pub(crate) fn commits_kept(&self) -> usize {
        let clone = self.clone_dir();
        let clone = clone.strip_prefix(&self.root).unwrap().to_str().unwrap();
        let listed = self.git_in(
            clone,
            "cat-file --batch-all-objects --batch-check=%(objecttype)",
        );
        listed.lines().filter(|kind| *kind == "commit").count()
    }
}

pub(crate) fn git(directory: &Path, arguments: &str) -> std::process::Output {
    (program(directory).args(arguments.split(' ')))
        .output()
        .unwrap()
}

/// Returns a runtime of one thread beside the test's own, which can block.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// A follower with its own runtime, so that tests can block.
pub(crate) struct Followed {
    pub(crate) follower: Follower,
    _runtime: tokio::runtime::Runtime,
}

impl Followed {
    pub(crate) fn start(following: Following) -> Self {
        Self::try_start(following).unwrap()
    }

    pub(crate) fn try_start(following: Following) -> Result<Self, StateError> {
        let runtime = runtime();
        let _guard = runtime.enter();
        Ok(Self {
            follower: Follower::start(following)?,
            _runtime: runtime,
        })
    }

    pub(crate) fn read(&self) -> Result<Reading, RemoteError> {
        let read = self.follower.read();
        self.follower.end_attempt();
        read
    }

    /// The text of the one file there is.
    pub(crate) fn text(&self) -> String {
        let reading = self.read().unwrap();
        assert_eq!(reading.files.len(), 1);
        String::from_utf8(reading.files[0].bytes.clone()).unwrap()
    }

    pub(crate) fn commit(&self) -> String {
        let revision = self.read().unwrap().revision;
        assert!(!revision.is_dirty());
        revision.commit().unwrap().to_string()
    }

    /// The reason why the table cannot be read.
    pub(crate) fn error(&self) -> String {
        chain(&self.read().unwrap_err())
    }

    /// Fetches, and returns how that ended.
    pub(crate) fn fetch(&self) -> FetchResult {
        self.follower.refresh();
        self.last().result
    }

    /// Fetches, and returns why that failed.
    pub(crate) fn fetch_error(&self) -> String {
        assert!(!self.fetch().is_success());
        self.last().error.unwrap()
    }

    /// The last fetch.
    pub(crate) fn last(&self) -> Fetch {
        self.follower.status().last_fetch.unwrap()
    }
}

/// Returns the packs of a clone.
pub(crate) fn packs(clone: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(clone.join("objects/pack")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "pack"))
        .collect()
}
