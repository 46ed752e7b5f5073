//! Running one transfer in a process of its own, which is killed on timeout.
//!
//! libgit2 has no timeout that a remote could not evade by sending a byte now and then, and a
//! thread cannot be stopped from outside. A process can be, wherever it hangs. Its job goes through
//! a pipe, so that secrets appear neither in arguments nor in an environment; and the end of the
//! pipe shows that its parent has ended. The work of the process is in `process/worker.rs`.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};
use zeroize::Zeroizing;

use super::transfer_error::TransferError;
use crate::git::captured::Captured;
use crate::git::packs::{RepackOrder, Repacked};
use crate::git::secrets::Secrets;
use crate::git::transport::clone::{Before, CloneTarget, StateDir, StateError};
use crate::git::transport::orders::{
    Bounds, FetchDepth, FetchOrder, JOB_BYTES, Job, ProgressReport, SpeedLimit, Task, Tip,
    TransferTimeout,
};
use crate::git::transport::remote::{
    Credentials, HostKeys, Login, RemoteUrl, TransferFailure, Transport, Wanted,
};

/// The variables that may hold secrets, which the process receives through its pipe if at all.
pub(crate) const SECRET_VARIABLES: [&str; 7] = [
    "WAYPOST_FLEET_USERNAME",
    "WAYPOST_FLEET_PASSWORD",
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
    /// The timeout of one fetch that makes no progress, and of one push.
    pub timeout: Duration,
    /// The timeout of one fetch or push in total.
    pub timeout_total: Duration,
    /// The parent of temporary directories.
    pub temp: PathBuf,
    /// The user's home with Git's own configuration, if there is one.
    pub home: Option<PathBuf>,
    /// The maximum number of bytes that a remote may send, and that its objects may take in memory.
    pub max_bytes: u64,
}

impl Transfer {
    /// Fetches the wanted reference from a remote into a repository.
    ///
    /// A clone of our own gets one commit without its history, where that is possible.
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
            depth: match target {
                CloneTarget::OwnClone => FetchDepth::Commit,
                CloneTarget::Shared => FetchDepth::History,
            },
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
        self.run_job(job, &secrets, home.as_ref().map(StateDir::path))
            .await
    }

    /// Repacks a clone of our own, in a process of the lowest priority. The result must still be
    /// installed.
    pub(crate) async fn repack(
        &self,
        clone: &Path,
        order: RepackOrder,
    ) -> Result<Option<Repacked>, TransferError> {
        let job = Job {
            repository: clone.to_owned(),
            remote: String::new(),
            login: Login::default(),
            host_keys: None,
            bounds: Bounds::of(self.max_bytes, &Transport::Git),
            task: Task::Repack(order),
        };
        self.run_job(job, &Secrets::default(), None).await
    }

    async fn run_job<T: DeserializeOwned>(
        &self,
        job: Job,
        secrets: &Secrets,
        home: Option<&Path>,
    ) -> Result<T, TransferError> {
        // A process that repacks writes nothing that libgit2 would leave, and not in a turn of its own.
        let before = match &job.task {
            Task::Repack(_) => None,
            Task::Fetch(_) | Task::Push(_) => Some(Before::of(&job.repository, job.target())),
        };
        let answer = self.answer(&job, secrets, home).await;
        if let (false, Some(before)) = (matches!(answer, Ok(Ok(_))), before) {
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
        let limit = SpeedLimit::new(self.timeout, self.timeout_total, Instant::now());
        let limit = Mutex::new(limit);
        let ended = tokio::select! {
            ended = exchange(&mut child, text, &limit) => ended.map_err(failed),
            passed = passed(&limit) => Err(TransferError::TimedOut(passed)),
        };
        let Ended {
            status,
            answer,
            stderr,
        } = match ended {
            Ok(ended) => ended,
            Err(error) => {
                if child.start_kill().is_ok() {
                    // A process that cannot end now is reaped when it does.
                    let _ = timeout(KILL_TIMEOUT, child.wait()).await;
                }
                return Err(error);
            }
        };
        serde_json::from_slice(&answer.bytes).map_err(|_| TransferError::Died {
            status,
            said: secrets.readable(&stderr.text()),
        })
    }

    /// Creates a home directory for a process that uses SSH.
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
async fn exchange(
    child: &mut Child,
    mut job: Zeroizing<Vec<u8>>,
    limit: &Mutex<SpeedLimit>,
) -> io::Result<Ended> {
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
        answer_after_reports(output, limit),
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

/// Takes reports into account, and returns what follows them.
async fn answer_after_reports(
    output: Option<ChildStdout>,
    limit: &Mutex<SpeedLimit>,
) -> io::Result<Captured> {
    let Some(output) = output else {
        return Ok(Captured::default());
    };
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        (&mut output)
            .take(MAX_ANSWER)
            .read_until(b'\n', &mut line)
            .await?;
        match ProgressReport::parse(&line) {
            Some(report) => locked(limit).update(report, Instant::now()),
            None => break,
        }
    }
    let rest = Captured::read(Some(output), MAX_ANSWER).await?;
    line.extend(rest.bytes);
    Ok(Captured {
        bytes: line,
        is_cut: rest.is_cut,
    })
}

/// Waits until a timeout has passed.
async fn passed(limit: &Mutex<SpeedLimit>) -> TransferTimeout {
    loop {
        let rest = locked(limit).rest(Instant::now());
        sleep(rest).await;
        if let Some(passed) = locked(limit).passed(Instant::now()) {
            return passed;
        }
    }
}

fn locked(limit: &Mutex<SpeedLimit>) -> MutexGuard<'_, SpeedLimit> {
    // Each change leaves it consistent.
    limit.lock().unwrap_or_else(PoisonError::into_inner)
}

fn host_keys(host: &str, port: u16, credentials: &Credentials) -> Result<HostKeys, TransferError> {
    let file = credentials.known_hosts.as_deref();
    HostKeys::of(host, port, file).map_err(|source| TransferError::KnownHosts {
        path: file.unwrap_or(Path::new("")).to_owned(),
        source,
    })
}
