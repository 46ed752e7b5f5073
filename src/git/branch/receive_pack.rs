//! Pushes to a repository on this machine, as a client of its `git receive-pack`
//! (gitprotocol-pack(5), "Pushing Data To a Server"): it compares, runs the hooks and quarantines
//! the objects until they are accepted, as for a client on another machine.
//!
//! Invariant: once the request may have been sent, the result is an answer and not an error.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::thread;

use git2::Repository;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::program::{GitProgram, MAX_ERRORS};
use super::program_error::GitProgramError;
use super::started_process::{StartedProcess, end, is_housekeeping_due};
use crate::git::captured::Captured;
use crate::git::error_chain::chain;
use crate::git::transport::Pushed;
use crate::git::wire::{BranchMove, MAX_ADVERTISED, PushReport, read_packet};

const COMMAND: &str = "receive-pack";

/// Saves a process in each push: it would list the branches of repositories from which this one
/// borrows objects, which are only hints at what need not be checked.
const NO_BORROWED_BRANCHES: &str = "core.alternateRefsCommand=true";

/// Leaves housekeeping to other pushes.
const NO_HOUSEKEEPING: &str = "receive.autogc=false";

/// From so many objects on, a push can be kept as one pack. Git takes longer to make a file of each:
/// it compresses one after the other.
pub(super) const MIN_PACKED: usize = 16;

/// The settings that say how many objects are kept as a pack.
const LIMITS: [&str; 2] = ["receive.unpackLimit", "transfer.unpackLimit"];

/// How a repository stores the objects of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceivedAs {
    /// As its configuration says. By default, fewer than a hundred become a file each.
    Configured,
    /// From [`MIN_PACKED`] objects on, as one pack.
    Pack,
}

impl ReceivedAs {
    /// Returns how a push with so many files is stored.
    pub(crate) fn of_files(count: usize) -> Self {
        match count < MIN_PACKED {
            true => Self::Configured,
            false => Self::Pack,
        }
    }
}

/// How many pieces of a pack may wait to be sent.
const PIECES: usize = 4;

/// The data received until the process ended or timed out.
#[derive(Default)]
struct Received {
    report: PushReport,
    /// Why nothing was requested.
    refusal: Option<String>,
    /// Whether the branch was seen elsewhere than expected.
    is_moved: bool,
    /// Whether the request may have been sent.
    is_requested: bool,
    /// The exit status and the standard error.
    ended: Option<(ExitStatus, Captured)>,
}

/// A `git receive-pack` that was started, and has not been sent anything.
pub(super) struct ReceivePack {
    process: StartedProcess,
    stores: ReceivedAs,
}

impl ReceivePack {
    /// Starts it for the repository at a path. It reads its configuration and its references now, and
    /// stores objects as `wanted`, unless it is configured how.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(super) fn start(
        git: GitProgram,
        repository: &Path,
        wanted: ReceivedAs,
    ) -> Result<Self, GitProgramError> {
        let stores = match wanted {
            ReceivedAs::Pack if !has_limit(repository) => wanted,
            _ => ReceivedAs::Configured,
        };
        let mut command = git.receive_pack(repository, stores);
        let process = StartedProcess::start(git, &mut command)?;
        Ok(Self { process, stores })
    }

    /// Returns how its repository stores objects.
    pub(super) fn stores(&self) -> ReceivedAs {
        self.stores
    }

    /// Moves a branch of its repository. Blocks the thread.
    ///
    /// In another thread, `make` passes the pieces of the pack to a function that sends them; the branch
    /// does not move without all of them.
    ///
    /// # Errors
    ///
    /// If nothing was sent to it. Any later failure is an answer.
    pub(super) fn update_branch(
        self,
        update: &BranchMove<'_>,
        make: impl FnOnce(&mut dyn FnMut(&[u8])) + Send,
    ) -> Result<Pushed, GitProgramError> {
        let (sender, pieces) = mpsc::channel(PIECES);
        thread::scope(|scope| {
            let make = move || {
                make(&mut |piece| {
                    // A process that has ended is sent nothing more.
                    let (Ok(()) | Err(_)) = sender.blocking_send(piece.to_vec());
                });
            };
            let making = thread::Builder::new().spawn_scoped(scope, make);
            making.map_err(|source| self.process.git.failed(source))?;
            self.update_branch_with(update, pieces)
        })
    }

    fn update_branch_with(
        mut self,
        update: &BranchMove<'_>,
        pack: mpsc::Receiver<Vec<u8>>,
    ) -> Result<Pushed, GitProgramError> {
        let StartedProcess { git, child } = &mut self.process;
        git.runtime.block_on(async {
            let mut received = Received::default();
            let exchange = exchange(child, update, pack, &mut received);
            let failure = match timeout(git.timeout, exchange).await {
                Ok(ended) => ended.err().map(|source| git.failed(source)),
                Err(_) => Some(GitProgramError::TimedOut {
                    command: COMMAND.to_owned(),
                    timeout: git.timeout,
                }),
            };
            let outcome = received.report.of(update.branch);
            // Hooks that run after the branch was moved are not interrupted.
            if received.ended.is_none() && outcome != Some(Ok(())) {
                end(child).await;
            }
            git.result(received, outcome, failure)
        })
    }
}

impl GitProgram {
    fn receive_pack(&self, repository: &Path, stores: ReceivedAs) -> Command {
        let mut command = self.plain_command();
        command.args(["-c", NO_BORROWED_BRANCHES]);
        if !is_housekeeping_due() {
            command.args(["-c", NO_HOUSEKEEPING]);
        }
        if stores == ReceivedAs::Pack {
            command.args(["-c", &format!("{}={MIN_PACKED}", LIMITS[0])]);
        }
        command.arg(COMMAND).arg(repository);
        command
    }

    /// Returns the result for the branch, given the report.
    fn result(
        &self,
        received: Received,
        outcome: Option<Result<(), String>>,
        failure: Option<GitProgramError>,
    ) -> Result<Pushed, GitProgramError> {
        if received.is_moved {
            return Ok(Pushed::moved());
        }
        let said = self.readable(&received.report.messages.text());
        match outcome {
            Some(Ok(())) => return Ok(Pushed::Landed { said }),
            Some(Err(reason)) => {
                let answer = self.readable(&format!("[remote rejected] ({reason})"));
                return Ok(Pushed::rejected(&answer, &said));
            }
            None => {}
        }
        let failure = failure.unwrap_or_else(|| {
            let (status, err) = match &received.ended {
                Some((status, err)) => (status.code(), err.text()),
                None => (None, String::new()),
            };
            let refusal = received.refusal.unwrap_or_default();
            let reasons = [&*refusal, err.trim(), &said].map(str::trim);
            let said = match reasons.into_iter().find(|it| !it.is_empty()) {
                Some(reason) => self.readable(reason),
                None => "it ended without a report".to_owned(),
            };
            let command = COMMAND.to_owned();
            GitProgramError::Failed {
                command,
                said,
                status,
            }
        });
        match received.is_requested {
            false => Err(failure),
            true => Ok(Pushed::Unclear {
                reason: failure.to_string(),
            }),
        }
    }
}

/// Returns whether the configuration of a repository may say how many objects are kept as a pack.
fn has_limit(repository: &Path) -> bool {
    let config = Repository::open(repository).and_then(|it| it.config());
    config.map_or(true, |config| {
        LIMITS.iter().any(|name| config.get_entry(name).is_ok())
    })
}

/// Communicates with a process until it ends.
async fn exchange(
    child: &mut Child,
    update: &BranchMove<'_>,
    pack: mpsc::Receiver<Vec<u8>>,
    received: &mut Received,
) -> io::Result<()> {
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let input = child.stdin.take().ok_or_else(gone)?;
    let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
    let errors = Captured::read(child.stderr.take(), MAX_ERRORS);
    let spoken = speak(input, output, update, pack, received);
    let (spoken, err) = tokio::join!(spoken, errors);
    received.ended = Some((child.wait().await?, err?));
    match spoken {
        // Its status and its messages say why.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        spoken => spoken,
    }
}

async fn speak(
    mut input: ChildStdin,
    mut output: BufReader<ChildStdout>,
    update: &BranchMove<'_>,
    mut pack: mpsc::Receiver<Vec<u8>>,
    received: &mut Received,
) -> io::Result<()> {
    let mut advertised = Vec::new();
    while !read_packet(&mut output, &mut advertised).await? {
        if advertised.len() > MAX_ADVERTISED {
            received.refusal = Some("its repository has too many references".to_owned());
            return Ok(());
        }
    }
    let request = match update.request(&advertised) {
        Ok(Some(request)) => request,
        // Ending without a request changes nothing.
        Ok(None) => {
            received.is_moved = true;
            return Ok(());
        }
        Err(error) => {
            received.refusal = Some(chain(&error));
            return Ok(());
        }
    };
    received.is_requested = true;
    let send = async {
        // A process that does not read all of it reports the reason.
        let mut sent = input.write_all(&request).await;
        while sent.is_ok()
            && let Some(piece) = pack.recv().await
        {
            sent = input.write_all(&piece).await;
        }
        drop((input, pack));
    };
    let report = async {
        let mut packet = Vec::new();
        while !read_packet(&mut output, &mut packet).await? {
            received.report.add(&packet);
            packet.clear();
        }
        Ok(())
    };
    let ((), read) = tokio::join!(send, report);
    read
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use rustix::process::{Pid, test_kill_process};

    use super::*;
    use crate::git::commit_id::CommitId;
    use crate::git::objects::{FileChange, NewCommit};

    const MAIN: &str = "refs/heads/main";

    /// A bare repository that runs a script as a hook.
    fn repository(hook: &str, script: &str) -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let hook = directory.path().join("hooks").join(hook);
        fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        (directory, repository)
    }

    /// Pushes a first commit to a repository, and returns it.
    fn push(
        repository: &Repository,
        timeout: Duration,
    ) -> (CommitId, Result<Pushed, GitProgramError>) {
        push_cut(repository, timeout, 0)
    }

    /// Pushes a first commit to a repository, without some of the last bytes of its pack, and returns it.
    fn push_cut(
        repository: &Repository,
        timeout: Duration,
        missing: usize,
    ) -> (CommitId, Result<Pushed, GitProgramError>) {
        let apart = tempfile::tempdir().unwrap();
        let made = Repository::init_bare(apart.path()).unwrap();
        let tree = made.treebuilder(None).unwrap().write().unwrap();
        let tree = made.find_tree(tree).unwrap();
        let who = git2::Signature::now("A", "a@example.org").unwrap();
        let commit = made
            .commit(None, &who, &who, "First\n", &tree, &[])
            .unwrap();
        let mut pack = made.packbuilder().unwrap();
        pack.insert_commit(commit).unwrap();
        let mut bytes = git2::Buf::new();
        pack.write_buf(&mut bytes).unwrap();
        let update = BranchMove {
            branch: MAIN,
            from: None,
            to: commit,
        };
        let git = GitProgram::new(apart.path(), timeout).unwrap();
        let started = ReceivePack::start(git, repository.path(), ReceivedAs::Configured).unwrap();
        let sent = &bytes[..bytes.len() - missing];
        let pushed = started.update_branch(&update, |send| send(sent));
        (commit.into(), pushed)
    }

    /// Pushes with longer and longer timeouts, until a hook has left the file `reached`.
    fn push_until_reached(hook: &str) -> (tempfile::TempDir, Repository, CommitId, Pushed) {
        let mut timeout = Duration::from_millis(250);
        loop {
            let script = "touch reached; exec sleep 30";
            let (directory, repository) = repository(hook, script);
            let (commit, pushed) = push(&repository, timeout);
            if directory.path().join("reached").exists() {
                return (directory, repository, commit, pushed.unwrap());
            }
            timeout *= 2;
        }
    }

    /// Pushes a commit of so many new files to a repository that has one, and returns how many packs and
    /// how many other objects it has then.
    fn counts_after(configure: impl Fn(&Repository), files: usize) -> (usize, usize) {
        let (directory, repository) = repository("update", "exit 0");
        configure(&repository);
        let (tip, _) = push(&repository, Duration::from_secs(60));
        let texts: Vec<_> = (0..files)
            .map(|n| (format!("{n}"), n.to_string()))
            .collect();
        let changes = texts.iter().map(|(path, text)| FileChange {
            path,
            bytes: text.clone().into(),
            before: None,
        });
        let who = git2::Signature::now("A", "a@example.org").unwrap();
        let made = NewCommit::new(&repository, tip, changes.collect(), [&who, &who], "").unwrap();
        let git = GitProgram::new(directory.path(), Duration::from_secs(60)).unwrap();
        let wanted = ReceivedAs::of_files(files);
        let started = ReceivePack::start(git, repository.path(), wanted).unwrap();
        let update = BranchMove {
            branch: MAIN,
            from: Some(tip.0),
            to: made.id().0,
        };
        let apart = tempfile::tempdir().unwrap();
        let clone = Repository::init_bare(apart.path()).unwrap();
        let pushed = match made.into_whole_pack(MIN_PACKED) {
            Ok(pack) => {
                assert!(made_of(files) >= MIN_PACKED);
                let clone = clone.path();
                started.update_branch(&update, |send| pack.send(clone, send).unwrap())
            }
            Err(made) => {
                assert!(made_of(files) < MIN_PACKED);
                let pack = made.thin_pack().unwrap();
                started.update_branch(&update, |send| send(&pack))
            }
        };
        let pushed = pushed.unwrap();
        assert!(matches!(pushed, Pushed::Landed { .. }), "{pushed:?}");
        let checked = std::process::Command::new("git")
            .args(["-c", "safe.directory=*", "-C"])
            .arg(directory.path())
            .args(["fsck", "--strict"])
            .status();
        assert!(checked.unwrap().success());
        let objects = directory.path().join("objects");
        let all = |path: &Path| fs::read_dir(path).unwrap().map(|it| it.unwrap().path());
        let packs = all(&objects.join("pack")).filter(|it| it.extension().unwrap() == "pack");
        let loose = all(&objects).filter(|it| it.file_name().unwrap().len() == 2);
        (packs.count(), loose.flat_map(|it| all(&it)).count())
    }

    /// Returns the number of objects of a commit of so many new files.
    fn made_of(files: usize) -> usize {
        files + 2
    }

    #[test]
    fn many_objects_are_one_pack_unless_configured() {
        let first = 2;
        let few = 5;
        assert_eq!(counts_after(|_| {}, few), (0, first + made_of(few)));
        assert_eq!(counts_after(|_| {}, 20), (1, first));
        for name in LIMITS {
            let configure = |repository: &Repository| {
                repository.config().unwrap().set_i32(name, 50).unwrap();
            };
            assert_eq!(counts_after(configure, 20), (0, first + made_of(20)));
        }
    }

    #[test]
    fn one_that_is_sent_nothing_ends_and_changes_nothing() {
        let (directory, repository) = repository("pre-receive", "exit 0");
        let tree = repository.treebuilder(None).unwrap().write().unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let who = git2::Signature::now("A", "a@example.org").unwrap();
        let id = repository.commit(None, &who, &who, "First\n", &tree, &[]);
        let id = id.unwrap();
        // More than a pipe holds.
        let refs = (0..2000).map(|number| format!("{id} refs/heads/branch-{number}\n"));
        let refs: String = refs.collect();
        fs::write(directory.path().join("packed-refs"), &refs).unwrap();
        let git = GitProgram::new(directory.path(), Duration::from_secs(60)).unwrap();
        let mut started =
            ReceivePack::start(git, repository.path(), ReceivedAs::Configured).unwrap();
        let process = Pid::from_raw(started.process.child.id().unwrap().cast_signed()).unwrap();
        test_kill_process(process).unwrap();
        assert!(started.process.close().is_some(), "it was killed");
        assert!(test_kill_process(process).is_err(), "it was not waited for");
        let after = fs::read_to_string(directory.path().join("packed-refs")).unwrap();
        assert_eq!(after, refs);
    }

    #[test]
    fn a_hook_that_hangs_is_not_waited_for() {
        let (_directory, repository, _, pushed) = push_until_reached("pre-receive");
        let Pushed::Unclear { reason } = pushed else {
            panic!("{pushed:?}");
        };
        assert!(reason.contains("took longer"), "{reason}");
        assert!(repository.find_reference(MAIN).is_err());
    }

    #[test]
    fn a_branch_that_was_moved_is_moved_although_a_hook_hangs() {
        let (_directory, repository, commit, pushed) = push_until_reached("post-receive");
        assert!(matches!(pushed, Pushed::Landed { .. }), "{pushed:?}");
        assert_eq!(repository.refname_to_id(MAIN).unwrap(), commit.0);
    }

    #[test]
    fn nothing_is_sent_where_there_is_no_repository() {
        let (directory, repository) = repository("update", "exit 0");
        fs::remove_file(directory.path().join("HEAD")).unwrap();
        let (_, pushed) = push(&repository, Duration::from_secs(60));
        let error = pushed.unwrap_err();
        assert!(matches!(error, GitProgramError::Failed { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .contains("not appear to be a git repository"),
            "{error}"
        );
    }

    #[test]
    fn a_branch_does_not_move_without_all_of_a_pack() {
        for missing in [1, 20, 30] {
            let (_directory, repository) = repository("update", "exit 0");
            let (_, pushed) = push_cut(&repository, Duration::from_secs(60), missing);
            let is_moved = matches!(pushed, Ok(Pushed::Landed { .. }));
            assert!(!is_moved, "{missing}: {pushed:?}");
            assert!(repository.find_reference(MAIN).is_err());
        }
    }

    #[test]
    fn a_branch_that_is_elsewhere_is_not_moved() {
        let (_directory, repository) = repository("update", "exit 0");
        let timeout = Duration::from_secs(60);
        let (first, pushed) = push(&repository, timeout);
        assert!(matches!(pushed, Ok(Pushed::Landed { .. })), "{pushed:?}");
        let (_, pushed) = push(&repository, timeout);
        assert!(matches!(pushed, Ok(Pushed::Lost { .. })), "{pushed:?}");
        assert_eq!(repository.refname_to_id(MAIN).unwrap(), first.0);
    }
}
