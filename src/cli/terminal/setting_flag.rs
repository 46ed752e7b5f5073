//! The flags by which a user of the command line can fix what a lower layer reports.
//!
//! Lower layers name a setting, in words: which flag sets it is known only here.

use std::error::Error;

use crate::git::{GitProgramError, RemoteBranchError, Setting, StateError, TransferError};
use crate::registry::{LocalError, PublishError};
use crate::source::{PullError, RemoteError, SourceError};

/// Returns how to fix an error by a flag, if one helps.
pub(super) fn hint(error: &anyhow::Error) -> Option<&'static str> {
    error.chain().find_map(setting).map(flag)
}

/// Returns the setting that an error may depend on.
fn setting(error: &(dyn Error + 'static)) -> Option<Setting> {
    /// Tries types of errors that know their setting.
    macro_rules! of {
        ($($type:ty),* $(,)?) => {
            $(if let Some(error) = error.downcast_ref::<$type>() {
                return error.setting();
            })*
        };
    }
    of!(
        GitProgramError,
        PullError,
        RemoteBranchError,
        RemoteError,
        SourceError,
        StateError,
        TransferError,
    );
    match error.downcast_ref() {
        Some(LocalError::Commit(error)) => of_publishing(error),
        _ => error.downcast_ref().and_then(of_publishing),
    }
}

fn of_publishing(error: &PublishError) -> Option<Setting> {
    match error {
        PublishError::Remote(error) => error.setting(),
        PublishError::Program(error) => error.setting(),
        PublishError::Table(error) => error.setting(),
        _ => None,
    }
}

/// Returns how to change a setting.
fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::Reference => "name a branch or a tag with --ref",
        Setting::TablePath => "name the table with --path",
        Setting::StateDir => "name another directory with --state-dir",
        Setting::GitTimeout => "raise the timeout with --git-timeout",
        Setting::MaxFetchBytes => "raise the limit with --max-fetch-bytes",
        Setting::SshKey => "name the private key with --ssh-key",
        Setting::KnownHosts => "another file of trusted host keys can be named with --known-hosts",
        Setting::Pull => "leave out --pull, or clone the repository",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn names_the_flag_of_a_setting_wherever_it_is_in_the_chain() {
        let timed_out = || TransferError::TimedOut(Duration::from_secs(1));
        let remote = || RemoteBranchError::Transfer {
            remote: "r".to_owned(),
            source: timed_out(),
        };
        let errors = [
            anyhow::Error::from(timed_out()).context("cannot fetch"),
            RemoteError::from(timed_out()).into(),
            SourceError::from(RemoteError::from(timed_out())).into(),
            PublishError::from(remote()).into(),
            LocalError::from(PublishError::from(remote())).into(),
        ];
        for error in errors {
            let hint = hint(&error).unwrap_or_default();
            assert!(hint.contains("--git-timeout"), "{error:#}: {hint:?}");
        }
        assert_eq!(hint(&anyhow!("something else")), None);
    }
}
