//! Running one transfer in a process of its own, which is killed on timeout.
//!
//! libgit2 has no timeout that a remote could not evade by sending a byte now and then, and a
//! thread cannot be stopped from outside. A process can, wherever it hangs. Its job goes through a
//! pipe, so that secrets appear neither in arguments nor in an environment; and the end of the pipe
//! shows that its parent has ended. The work of the process is in `worker.rs`.

use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::address::{RemoteUrl, Transport};
use super::bounds::Bounds;
use super::credentials::Credentials;
use super::failure::TransferFailure;
use super::job::{FetchOrder, JOB_BYTES, Job, Task, Tip};
use super::known_hosts::HostKeys;
use super::leftovers::Before;
use super::state_dir::{StateDir, StateError};
use super::target::CloneTarget;
use super::wanted::Wanted;
use crate::git::captured::Captured;
use crate::git::secrets::CredentialsError;
use crate::git::secrets::Secrets;
use crate::git::setting::Setting;

/// The variables that may hold secrets, which the process receives through its pipe if at all.
pub(crate) const SECRET_VARIABLES: [&str; 5] = [
    "WAYPOST_GIT_USERNAME",
    "WAYPOST_GIT_PASSWORD",
    "WAYPOST_HOOK_SECRET",
    "WAYPOST_LINKCHECK_STORE_USERNAME",
    "WAYPOST_LINKCHECK_STORE_PASSWORD",
];

/// The variables of a service manager for the server alone: its child has none of its sockets, and
/// nothing to report to it.
pub(crate) const SERVICE_VARIABLES: [&str; 6] = [
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

/// The size limit of an answer in bytes; an answer is much shorter.
const MAX_ANSWER: u64 = 1 << 20;

/// The maximum kept of the standard error: a panic's message, or the system's.
const MAX_STDERR: u64 = 4 << 10;

/// The timeout for a killed process to end; one that is stuck in the kernel is left to it.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Options for running fetches.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The program that runs [`run_transfer`](super::run_transfer) when its argument is `transfer`.
    pub program: PathBuf,
    /// The timeout of one fetch.
    pub timeout: Duration,
    /// The parent of temporary directories.
    pub temp: PathBuf,
    /// The user's home with Git's own configuration, if there is one.
    pub home: Option<PathBuf>,
    /// The maximum number of bytes that a remote may send, and that its objects may take in memory.
    pub max_bytes: u64,
}

/// Why a fetch failed. No message holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The transfer timed out.
    #[error(
        "fetching or pushing took longer than {0:?}: see whether the remote is well, or raise the setting \
         \"git timeout\""
    )]
    TimedOut(Duration),
    /// The remote, or Git, reported an error.
    #[error("{message}")]
    Failed {
        /// The message.
        message: String,
        /// Whether the repository fetched into seems to be at fault.
        damage: bool,
        /// The setting that may have to be changed.
        setting: Option<Setting>,
    },
    /// The credentials cannot be read.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The file of host keys cannot be read.
    #[error("cannot read the host keys in {}", path.display())]
    KnownHosts {
        /// The file.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// A temporary directory cannot be created.
    #[error(transparent)]
    Temp(#[from] StateError),
    /// The process cannot be run.
    #[error("cannot run {} to fetch or push", program.display())]
    Process {
        /// The program.
        program: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// The process ended without an answer.
    #[error("the process that fetched or pushed {}{}", ended(*status), addition(said))]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// Its standard error, on one line.
        said: String,
    },
}

impl TransferError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::TimedOut(_) => Some(Setting::GitTimeout),
            Self::Failed { setting, .. } => *setting,
            Self::Died { status, .. } => match status.signal() {
                Some(libc::SIGABRT | libc::SIGXFSZ) => Some(Setting::MaxFetchBytes),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether the repository fetched into, or pushed from, seems to be at fault.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Failed { damage: true, .. })
    }
}

impl Transfer {
    /// Fetches the wanted reference from a remote into a repository.
    ///
    /// A clone of our own gets one commit without its history, if the transport supports that.
    pub(crate) async fn run(
        &self,
        repository: &Path,
        target: CloneTarget,
        remote: &RemoteUrl,
        wanted: Wanted,
        credentials: &Credentials,
    ) -> Result<Tip, TransferError> {
        let task = Task::Fetch(FetchOrder {
            target,
            wanted,
            shallow: target == CloneTarget::OwnClone && *remote.transport() != Transport::Local,
        });
        self.execute(repository, remote, credentials, task).await
    }

    /// Runs a task in a process, and returns its answer.
    pub(crate) async fn execute<T: DeserializeOwned>(
        &self,
        repository: &Path,
        remote: &RemoteUrl,
        credentials: &Credentials,
        task: Task,
    ) -> Result<T, TransferError> {
        let host_keys = match remote.transport() {
            Transport::Ssh { host, port } => Some(host_keys(host, *port, credentials)?),
            Transport::Local | Transport::Http | Transport::Git => None,
        };
        let home = match &host_keys {
            Some(keys) => Some(self.home_with(keys)?),
            None => None,
        };
        let job = Job {
            repository: repository.to_owned(),
            remote: remote.expose().to_owned(),
            login: credentials.read()?,
            host_keys,
            bounds: Bounds::of(self.max_bytes, remote.transport()),
            task,
        };
        let secrets = Secrets::new(job.login.secrets().chain(remote.secrets()));
        let home = home.as_ref().map(StateDir::path);
        let before = Before::of(repository, job.target());
        let answer = self.answer(&job, &secrets, home).await;
        if !matches!(answer, Ok(Ok(_))) {
            // A state directory must not fill up with every attempt.
            let _ = spawn_blocking(move || before.clean_up()).await;
        }
        let answer: Result<T, TransferFailure> = answer?;
        answer.map_err(|failure| TransferError::Failed {
            message: secrets.readable(&failure.message),
            damage: failure.damage,
            setting: failure.setting,
        })
    }

    /// Runs the process until it answers or times out.
    async fn answer<T: DeserializeOwned>(
        &self,
        job: &Job,
        secrets: &Secrets,
        home: Option<&Path>,
    ) -> Result<T, TransferError> {
        let failed = |source| TransferError::Process {
            program: self.program.clone(),
            source,
        };
        let mut text = Zeroizing::new(Vec::with_capacity(JOB_BYTES));
        serde_json::to_writer(&mut *text, job).map_err(|error| failed(error.into()))?;
        let mut command = Command::new(&self.program);
        command
            .arg("transfer")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for variable in SECRET_VARIABLES.iter().chain(&SERVICE_VARIABLES) {
            command.env_remove(variable);
        }
        if let Some(home) = home {
            command.env("HOME", home);
        }
        let mut child = command.spawn().map_err(failed)?;
        match timeout(self.timeout, exchange(&mut child, text)).await {
            Ok(Ok(Ended {
                status,
                answer,
                stderr,
            })) => serde_json::from_slice(&answer.bytes).map_err(|_| TransferError::Died {
                status,
                said: secrets.readable(&stderr.text()),
            }),
            ended => {
                let killed = child.start_kill();
                if killed.is_ok() {
                    // A process that cannot end now is reaped when it does.
                    let _ = timeout(KILL_TIMEOUT, child.wait()).await;
                }
                Err(match ended {
                    Ok(Err(error)) => failed(error),
                    _ => TransferError::TimedOut(self.timeout),
                })
            }
        }
    }

    /// Makes a home directory for a process that speaks SSH.
    ///
    /// libgit2 negotiates a kind of key that is in `~/.ssh/known_hosts`, and only there.
    fn home_with(&self, keys: &HostKeys) -> Result<StateDir, TransferError> {
        let home = StateDir::private(&self.temp)?;
        let path = home.path().join(".ssh");
        let write = || {
            std::fs::create_dir(&path)?;
            std::fs::write(path.join("known_hosts"), keys.to_file())?;
            for name in [".gitconfig", ".config"] {
                if let Some(there) = self.home.as_ref().map(|it| it.join(name))
                    && there.exists()
                {
                    symlink(there, home.path().join(name))?;
                }
            }
            Ok(())
        };
        write().map_err(|source| StateError::Unwritable {
            path: path.clone(),
            source,
        })?;
        Ok(home)
    }
}

/// The exit status of a process, and its output.
struct Ended {
    status: ExitStatus,
    answer: Captured,
    stderr: Captured,
}

/// Passes the job, and keeps the pipe open until the answer arrives.
async fn exchange(child: &mut Child, mut job: Zeroizing<Vec<u8>>) -> io::Result<Ended> {
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let mut input = child.stdin.take().ok_or_else(gone)?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    job.push(b'\n');
    let send_job = async {
        // A process that has already ended reports the reason below.
        let _ = input.write_all(&job).await;
        let _ = input.flush().await;
        drop(job);
    };
    let ((), answer, stderr) = tokio::join!(
        send_job,
        Captured::read(output, MAX_ANSWER),
        Captured::read(errors, MAX_STDERR),
    );
    let status = child.wait().await?;
    drop(input);
    Ok(Ended {
        status,
        answer: answer?,
        stderr: stderr?,
    })
}

/// Describes how a process ended that gave no answer.
fn ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGKILL) => format!("was killed ({status}): see whether memory ran out"),
        // A process that cannot report a failed allocation ends this way.
        Some(libc::SIGABRT) => format!(
            "crashed ({status}): see whether memory ran out, which the setting \"max fetch bytes\" \
             limits for it"
        ),
        Some(libc::SIGXFSZ) => format!(
            "was stopped at a file larger than twice the setting \"max fetch bytes\" ({status}): \
             raise it if the remote is to hold as much"
        ),
        Some(_) => format!("crashed ({status})"),
        None => format!("ended without an answer ({status})"),
    }
}

/// Returns the addition to a message if a process wrote something before it ended.
fn addition(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

fn host_keys(host: &str, port: u16, credentials: &Credentials) -> Result<HostKeys, TransferError> {
    let file = credentials.known_hosts.as_deref();
    HostKeys::of(host, port, file).map_err(|source| TransferError::KnownHosts {
        path: file.unwrap_or(Path::new("")).to_owned(),
        source,
    })
}
