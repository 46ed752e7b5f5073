//! Errors of commands, and the exit statuses that report them.
//!
//! Its status and its remedy are decided where it arises, by its type: neither depends on the causes
//! in a chain of errors.

use std::fmt;
use std::io;

use anyhow::anyhow;

use super::complaint::complain;
use super::remedy;
use crate::git::{CredentialsError, RemoteBranchError, RepositoryError, SignersError, StateError};
use crate::history::HistoryError;
use crate::registry::{LocalError, PublishError};
use crate::server::LoadError;
use crate::source::{FilesError, MergeSetupError, PullError};

/// The error of a command; the exit status is 0 without one.
#[derive(Debug)]
pub(crate) enum Error {
    /// The table has errors, or the requested item does not exist or is refused; the reason has been
    /// reported.
    Reported,
    /// As above, for a reason that is not reported yet.
    Refused(anyhow::Error),
    /// The usage or the configuration was wrong.
    Usage(anyhow::Error),
    /// It could not run: I/O, Git, network.
    Failed(anyhow::Error),
    /// Nothing was merged, and Git must not use the current text as the result.
    NotMerged(anyhow::Error),
    /// The reader of the output has closed it.
    OutputClosed,
}

impl Error {
    /// Returns the error for something that is refused.
    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self::Refused(anyhow!("{message}"))
    }

    /// Returns the error for wrong usage or configuration.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(anyhow!("{message}"))
    }

    /// Adds a hint to the report, on its own line.
    pub(crate) fn with_hint(self, hint: Option<&str>) -> Self {
        let Some(hint) = hint else { return self };
        let add = |error: anyhow::Error| anyhow!("{error:#}\n  hint: {hint}");
        match self {
            Self::Refused(error) => Self::Refused(add(error)),
            Self::Usage(error) => Self::Usage(add(error)),
            Self::Failed(error) => Self::Failed(add(error)),
            Self::NotMerged(error) => Self::NotMerged(add(error)),
            Self::Reported | Self::OutputClosed => self,
        }
    }

    /// Returns the exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Reported | Self::Refused(_) => 1,
            Self::Usage(_) => 2,
            Self::Failed(_) => 3,
            Self::NotMerged(_) => 129,
        }
    }

    /// Reports the error to the user, with its causes.
    pub(crate) fn report(&self) {
        match self {
            Self::Reported | Self::OutputClosed => {}
            Self::Refused(error)
            | Self::Usage(error)
            | Self::Failed(error)
            | Self::NotMerged(error) => complain(&format!("{error:#}")),
        }
    }
}

/// An error without a specific status.
impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// An error of writing the output: all other input and output has its errors wrapped, with a path or
/// an address.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<LocalError> for Error {
    fn from(error: LocalError) -> Self {
        let kind = match &error {
            LocalError::Refused(_) => Self::Refused,
            LocalError::Commit(error) => kind_of_publishing(error),
            _ => Self::Failed,
        };
        let hint = remedy::of_local(&error);
        kind(error.into()).with_hint(hint)
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        let hint = remedy::of_files(&error);
        Self::Failed(error.into()).with_hint(hint)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        let hint = remedy::of_loading(&error);
        Self::Failed(error.into()).with_hint(hint)
    }
}

impl From<PublishError> for Error {
    fn from(error: PublishError) -> Self {
        let hint = remedy::of_publishing(&error);
        kind_of_publishing(&error)(error.into()).with_hint(hint)
    }
}

/// Returns the kind of an error of publishing.
fn kind_of_publishing(error: &PublishError) -> fn(anyhow::Error) -> Error {
    match error {
        PublishError::Refused { .. }
        | PublishError::BranchExists { .. }
        | PublishError::Declined { .. } => Error::Refused,
        PublishError::Identity(_) => Error::Usage,
        _ => Error::Failed,
    }
}

/// Declares errors that mean that a command could not run.
macro_rules! failures {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::Failed(error.into())
            }
        }
    )*};
}

failures!(
    CredentialsError,
    HistoryError,
    MergeSetupError,
    RepositoryError,
    SignersError,
);

/// Declares errors that mean that a command could not run, perhaps because of a setting.
macro_rules! failures_of_settings {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                let hint = error.setting().map(remedy::of_setting);
                Self::Failed(error.into()).with_hint(hint)
            }
        }
    )*};
}

failures_of_settings!(PullError, RemoteBranchError, StateError);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::git::{TransferError, TransferTimeout};
    use crate::source::{RemoteError, SourceError};

    #[test]
    fn an_error_names_the_flag_of_its_setting() {
        let timed_out = || TransferError::TimedOut(TransferTimeout::Slow(Duration::from_secs(1)));
        let remote = || RemoteBranchError::Transfer {
            remote: "r".to_owned(),
            source: timed_out(),
        };
        let errors = [
            LoadError::Unreadable(SourceError::from(RemoteError::from(timed_out()))).into(),
            PullError::from(timed_out()).into(),
            remote().into(),
            PublishError::from(remote()).into(),
            LocalError::from(PublishError::from(remote())).into(),
        ];
        for error in errors {
            let Error::Failed(reported) = error else {
                panic!("{error:?} has another status");
            };
            let hint = "\n  hint: raise the timeout with --git-timeout";
            assert!(reported.to_string().ends_with(hint), "{reported:#}");
        }
    }

    #[test]
    fn unread_output_is_no_failure() {
        let closed = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(closed.status(), 0);
        let full = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.status(), 3);
    }

    #[test]
    fn a_broken_connection_is_a_failure() {
        let connection = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Error::from(anyhow::Error::from(connection).context("cannot ask the server"));
        assert_eq!(error.status(), 3);
    }
}
