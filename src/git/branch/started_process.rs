//! A process of Git that was started for a push before there is something to push.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::program::GitProgram;
use super::program_error::GitProgramError;
use crate::git::random::random;

/// The variables that would give a process another configuration than that of its repository and its user
/// (`git rev-parse --local-env-vars`), or speak another version of the protocol.
const VARIABLES: [&str; 9] = [
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_PROTOCOL",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
];

/// The time in which a process that timed out may remove its locks, and one that is not used may end.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Saves a process in most pushes: only one in so many checks whether the repository should be repacked, if
/// its configuration allows that.
const HOUSEKEEPING: u64 = 32;

/// A process that waits for its input. If it gets none, it ends and changes nothing.
pub(super) struct StartedProcess {
    pub(super) git: GitProgram,
    pub(super) child: Child,
}

impl GitProgram {
    /// Returns a command without arguments, for a process with the configuration of its repository and its
    /// user.
    pub(super) fn plain_command(&self) -> Command {
        let mut command = self.command();
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command
    }
}

/// Returns whether a push is one of those that check whether the repository should be repacked.
pub(super) fn is_housekeeping_due() -> bool {
    random().is_multiple_of(HOUSEKEEPING)
}

impl StartedProcess {
    /// Starts the process of a command.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub(super) fn start(git: GitProgram, command: &mut Command) -> Result<Self, GitProgramError> {
        let spawned = git.runtime.block_on(async { command.spawn() });
        let child = spawned.map_err(|source| git.failed(source))?;
        Ok(Self { git, child })
    }

    /// Ends a process that was sent nothing; returns its exit status if it ended by itself.
    pub(super) fn close(&mut self) -> Option<ExitStatus> {
        let Self { git, child } = self;
        // It may be reading, or writing more references than a pipe holds.
        drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
        git.runtime.block_on(async {
            let ended = timeout(KILL_TIMEOUT, child.wait()).await;
            if ended.is_err() {
                end(child).await;
            }
            ended.ok()?.ok()
        })
    }
}

impl Drop for StartedProcess {
    fn drop(&mut self) {
        // It has none once it is used.
        if self.child.stdin.is_some() {
            self.close();
        }
    }
}

/// Ends a process, which removes its locks on references if it can.
pub(super) async fn end(child: &mut Child) {
    let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if id.is_some_and(|id| kill_process(id, Signal::TERM).is_ok()) {
        let _ = timeout(KILL_TIMEOUT, child.wait()).await;
    }
    // If this fails, it has already ended.
    let _ = timeout(KILL_TIMEOUT, child.kill()).await;
}
