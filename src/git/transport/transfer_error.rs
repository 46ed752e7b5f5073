//! Why a transfer failed.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::git::secrets::CredentialsError;
use crate::git::setting::Setting;
use crate::git::transport::clone::StateError;
use crate::git::transport::orders::TransferTimeout;

/// Why a transfer failed. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The transfer timed out.
    #[error("{0}")]
    TimedOut(TransferTimeout),
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
            Self::TimedOut(TransferTimeout::Slow(_)) => Some(Setting::GitTimeout),
            Self::TimedOut(TransferTimeout::Total(_)) => Some(Setting::GitTimeoutTotal),
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
