//! Pushes to a plain repository on this machine: the pack of the clone is copied into it, and its `git
//! update-ref` compares and moves the branch under its lock (git-update-ref(1), `--stdin`).
//!
//! Invariant: unless there is an answer, the branch is not moved.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use git2::Oid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Child;
use tokio::time::timeout;

use super::plain_repository::{PlainRepository, changes_pushes};
use super::program::{GitProgram, MAX_ERRORS};
use super::program_error::{GitProgramError, MAX_ANSWER};
use super::started_process::{StartedProcess, end, is_housekeeping_due};
use crate::git::captured::Captured;
use crate::git::packs::StoredPack;
use crate::git::transport::Pushed;
use crate::git::wire::BranchMove;

const COMMAND: &str = "update-ref";

/// A `git update-ref` that was started for a plain repository, and has not been sent anything.
pub(super) struct UpdateRef {
    /// The repository.
    path: PathBuf,
    process: StartedProcess,
    /// Prints the names of the settings that Git reads.
    settings: StartedProcess,
}

impl UpdateRef {
    /// Starts it for a repository, with a timeout for each process of Git; `None` if it cannot be started.
    pub(super) fn start(repository: &PlainRepository, timeout: Duration) -> Option<Self> {
        let path = repository.path();
        // Where `git receive-pack` and hooks run.
        let start = |arguments: &[&str]| {
            let git = GitProgram::new(&path, timeout).ok()?;
            let mut command = git.plain_command();
            command.arg("--git-dir=.").args(arguments);
            StartedProcess::start(git, &mut command).ok()
        };
        Some(Self {
            // The reflog has what a push says.
            process: start(&[COMMAND, "-m", "push", "--stdin"])?,
            settings: start(&["config", "--list", "--name-only"])?,
            path,
        })
    }

    /// Copies a pack with the new objects into the repository, and moves a branch. Blocks the thread.
    ///
    /// Returns `None` if nothing can be pushed in this way: the repository is not plain, or lacks the commit
    /// that the branch is at, or the directory of packs.
    pub(super) fn move_branch(
        mut self,
        update: &BranchMove<'_>,
        pack: &StoredPack,
    ) -> Option<Pushed> {
        if !prints_plain_settings(&mut self.settings) {
            return None;
        }
        // A hook may have been added since it was started.
        let repository = PlainRepository::open(&self.path)?;
        if repository.commit_of(update.branch).ok()? != update.from {
            return Some(Pushed::moved());
        }
        if !update.from.is_none_or(|commit| repository.has(commit)) {
            return None;
        }
        let kept = match pack.copy_to(&self.path) {
            Ok(kept) => kept,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let reason = format!("a pack cannot be written to its repository: {error}");
                return Some(Pushed::Refused { reason });
            }
        };
        let StartedProcess { git, child } = &mut self.process;
        let pushed = git.runtime.block_on(async {
            match timeout(git.timeout, exchange(child, update)).await {
                Ok(Ok(ended)) => ended.result(git),
                Ok(Err(source)) => Err(git.failed(source)),
                Err(_) => {
                    end(child).await;
                    Err(GitProgramError::TimedOut {
                        command: COMMAND.to_owned(),
                        timeout: git.timeout,
                    })
                }
            }
        });
        drop(kept);
        let is_moved = repository.commit_of(update.branch) == Ok(Some(update.to));
        let pushed = match pushed {
            Ok(Pushed::Landed { said }) => {
                if is_housekeeping_due() {
                    // It is not part of the push. Unlike `git maintenance run`, it goes on in the background.
                    let _ = git.run(&["--git-dir=.", "gc", "--auto", "--quiet"]);
                }
                Pushed::Landed { said }
            }
            // Whatever it says, the branch may have been moved.
            Ok(_) if is_moved => Pushed::Unclear {
                reason: format!("git {COMMAND} failed after it had moved the branch"),
            },
            Ok(pushed) => pushed,
            Err(error) => Pushed::Unclear {
                reason: error.to_string(),
            },
        };
        Some(pushed)
    }
}

/// A process that ended.
struct Ended {
    /// Whether it got the request.
    is_requested: bool,
    status: ExitStatus,
    errors: Captured,
}

impl Ended {
    /// Returns the result of the move of a branch.
    ///
    /// # Errors
    ///
    /// If the branch may have been moved or not.
    fn result(&self, git: &GitProgram) -> Result<Pushed, GitProgramError> {
        let errors = self.errors.text();
        let said = git.readable(errors.trim().trim_start_matches("fatal: "));
        match self.status.code() {
            Some(0) if self.is_requested => Ok(Pushed::Landed { said }),
            Some(status @ 1..) if said.is_empty() => Ok(Pushed::Refused {
                reason: format!("git {COMMAND} ended with exit status {status}"),
            }),
            Some(1..) => Ok(Pushed::rejected(&said, "")),
            status => Err(GitProgramError::Failed {
                command: COMMAND.to_owned(),
                said,
                status,
            }),
        }
    }
}

/// Requests the move of a branch, and waits for the end of the process.
async fn exchange(child: &mut Child, update: &BranchMove<'_>) -> io::Result<Ended> {
    let BranchMove { branch, from, to } = update;
    let from = from.unwrap_or(Oid::ZERO_SHA1);
    let line = format!("update {branch} {to} {from}\n");
    let input = child.stdin.take();
    let request = async {
        match input {
            Some(mut input) => input.write_all(line.as_bytes()).await.is_ok(),
            None => false,
        }
    };
    let errors = Captured::read(child.stderr.take(), MAX_ERRORS);
    let (is_requested, errors) = tokio::join!(request, errors);
    Ok(Ended {
        is_requested,
        status: child.wait().await?,
        errors: errors?,
    })
}

/// Returns whether a process that prints the names of the settings that Git reads prints none that changes
/// what a push does.
fn prints_plain_settings(process: &mut StartedProcess) -> bool {
    let StartedProcess { git, child } = process;
    git.runtime.block_on(async {
        match timeout(git.timeout, printed(child)).await {
            Ok(names) => names.is_ok_and(|names| !names.lines().any(changes_pushes)),
            Err(_) => {
                end(child).await;
                false
            }
        }
    })
}

/// Returns all that a process prints.
async fn printed(child: &mut Child) -> io::Result<String> {
    drop(child.stdin.take());
    let names = Captured::read(child.stdout.take(), MAX_ANSWER);
    let errors = Captured::read(child.stderr.take(), MAX_ERRORS);
    let (names, errors) = tokio::join!(names, errors);
    let (names, _) = (names?, errors?);
    match child.wait().await?.success() && !names.is_cut {
        true => Ok(names.text()),
        false => Err(io::Error::other("it failed, or printed too much")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use git2::{Repository, Signature};
    use rustix::process::{Pid, test_kill_process};

    use super::*;
    use crate::git::commit_id::CommitId;
    use crate::git::objects::{FileChange, NewCommit};

    const MAIN: &str = "refs/heads/main";

    /// A repository with a commit on its branch.
    fn repository(hook: &str) -> (tempfile::TempDir, Repository, CommitId) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let path = directory.path().join("hooks/reference-transaction");
        fs::write(&path, format!("#!/bin/sh\n{hook}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let tree = repository.treebuilder(None).unwrap().write().unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let who = Signature::now("A", "a@example.org").unwrap();
        let first = repository.commit(Some(MAIN), &who, &who, "First\n", &tree, &[]);
        let first = first.unwrap().into();
        drop(tree);
        (directory, repository, first)
    }

    /// Pushes a second commit from a clone to the branch where it is expected at a commit; returns it, too.
    fn push(
        repository: &Repository,
        commits: [CommitId; 2],
        time: Duration,
    ) -> (CommitId, Option<Pushed>) {
        let plain = PlainRepository::open(repository.path()).unwrap();
        let started = UpdateRef::start(&plain, time).unwrap();
        push_by(started, repository, commits)
    }

    fn push_by(
        started: UpdateRef,
        repository: &Repository,
        [first, expected]: [CommitId; 2],
    ) -> (CommitId, Option<Pushed>) {
        let apart = tempfile::tempdir().unwrap();
        let clone = Repository::init_bare(apart.path()).unwrap();
        let change = FileChange {
            path: "a",
            bytes: b"a\n".to_vec(),
            before: None,
        };
        let who = Signature::now("A", "a@example.org").unwrap();
        let made = NewCommit::new(repository, first, vec![change], [&who, &who], "");
        let made = made.unwrap();
        let stored = made.store(clone.path()).unwrap();
        let update = BranchMove {
            branch: MAIN,
            from: Some(expected.0),
            to: made.id().0,
        };
        (made.id(), started.move_branch(&update, &stored))
    }

    #[test]
    fn one_that_times_out_leaves_no_lock() {
        let mut time = Duration::from_millis(250);
        loop {
            let hook = "test $1 = prepared || exit 0; touch reached; exec sleep 30";
            let (directory, repository, first) = repository(hook);
            let (_, pushed) = push(&repository, [first, first], time);
            if directory.path().join("reached").exists() {
                let Some(Pushed::Unclear { reason }) = pushed else {
                    panic!("{pushed:?}");
                };
                assert!(reason.contains("took longer"), "{reason}");
                assert_eq!(repository.refname_to_id(MAIN).unwrap(), first.0);
                assert!(!directory.path().join("refs/heads/main.lock").exists());
                return;
            }
            time *= 2;
        }
    }

    #[test]
    fn one_that_is_killed_after_the_move_has_no_answer() {
        let hook = "test $1 = committed && kill -9 $PPID; exit 0";
        let (_directory, repository, first) = repository(hook);
        let (second, pushed) = push(&repository, [first, first], Duration::from_secs(60));
        assert!(matches!(pushed, Some(Pushed::Unclear { .. })), "{pushed:?}");
        assert_eq!(repository.refname_to_id(MAIN).unwrap(), second.0);
    }

    #[test]
    fn one_that_fails_after_the_move_has_no_answer() {
        let hook = "exit 0";
        let (directory, repository, first) = repository(hook);
        let plain = PlainRepository::open(repository.path()).unwrap();
        let mut started = UpdateRef::start(&plain, Duration::from_secs(60)).unwrap();
        let git = GitProgram::new(directory.path(), Duration::from_secs(60)).unwrap();
        let alias = "alias.late=!git --git-dir=. update-ref --stdin; exit 1";
        let mut command = git.plain_command();
        command.args(["-c", alias, "late"]);
        started.process = StartedProcess::start(git, &mut command).unwrap();
        let (second, pushed) = push_by(started, &repository, [first, first]);
        assert!(matches!(pushed, Some(Pushed::Unclear { .. })), "{pushed:?}");
        assert_eq!(repository.refname_to_id(MAIN).unwrap(), second.0);
    }

    #[test]
    fn processes_that_are_not_used_end() {
        let (_directory, repository, _) = repository("exit 0");
        let plain = PlainRepository::open(repository.path()).unwrap();
        let mut started = UpdateRef::start(&plain, Duration::from_secs(60)).unwrap();
        let git = GitProgram::new(repository.path(), Duration::from_secs(60)).unwrap();
        let mut command = git.plain_command();
        command.args(["-c", "alias.hang=!exec sleep 30", "hang"]);
        started.settings = StartedProcess::start(git, &mut command).unwrap();
        let ids = [&started.process, &started.settings].map(|it| it.child.id().unwrap());
        drop(started);
        for id in ids {
            let process = Pid::from_raw(id.cast_signed()).unwrap();
            assert!(test_kill_process(process).is_err(), "{process:?}");
        }
    }

    #[test]
    fn a_branch_that_is_elsewhere_is_not_moved() {
        let (directory, repository, first) = repository("exit 0");
        let other = Oid::from_str(&"12".repeat(20)).unwrap().into();
        let (_, pushed) = push(&repository, [first, other], Duration::from_secs(60));
        assert_eq!(pushed, Some(Pushed::moved()));
        assert_eq!(repository.refname_to_id(MAIN).unwrap(), first.0);
        let packs = fs::read_dir(directory.path().join("objects/pack")).unwrap();
        assert_eq!(packs.count(), 0);
    }
}
