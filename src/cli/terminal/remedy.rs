//! Remedies: how a user of the command line can fix errors of lower layers.
//!
//! Lower layers know neither flags nor shells, and name a setting in words: each flag that helps with
//! one of their errors is named here. `error.rs` adds the remedies of errors, commands those of
//! refusals.

use std::path::Path;

use crate::git::{Setting, TreeError};
use crate::mapping::{Diagnostic, Rule};
use crate::registry::{
    CheckoutError, CodeUnreachable, EditRefusal, IdentityError, LocalError, PublishError,
    RegistrationRefusal,
};
use crate::server::LoadError;
use crate::source::{FilesError, SourceError};

/// The table that commands use if none is named.
const DEFAULT_TABLE: &str = "mapping.yaml";

/// The hint on a change of a table that is, or would be, too large.
const LARGER_TABLE: &str =
    "if the server accepts larger tables, give its limit with --max-table-bytes";

/// Returns a hint on a refusal by `waypost add`.
pub(crate) fn of_adding(refusal: &RegistrationRefusal) -> Option<String> {
    let hint = match refusal {
        RegistrationRefusal::SeveralFiles { .. } => {
            "name one with --file, or give the entry its own file with --fragment"
        }
        RegistrationRefusal::NameTooLong { .. } => {
            "choose a shorter code, or add it to an existing file, without --fragment"
        }
        RegistrationRefusal::FileExists { .. } => "name it with --file",
        _ => return of_importing(refusal),
    };
    Some(hint.to_owned())
}

/// Returns a hint on a refusal by `waypost import`.
pub(crate) fn of_importing(refusal: &RegistrationRefusal) -> Option<String> {
    let hint = match refusal {
        RegistrationRefusal::Shadows { .. } => {
            "choose another code, or allow it with --allow-shadowing"
        }
        RegistrationRefusal::SeveralSites { .. } => "name one with --site",
        RegistrationRefusal::SeveralFiles { .. } => "name one with --file",
        RegistrationRefusal::TooLarge { .. } => LARGER_TABLE,
        _ => return refusal.hint(),
    };
    Some(hint.to_owned())
}

/// Returns a hint on a refusal by a command that changes an entry.
pub(crate) fn of_editing(refusal: &EditRefusal) -> Option<String> {
    let hint = match refusal {
        EditRefusal::NoSuchLink { similar, .. } if !similar.is_empty() => {
            return Some(format!("did you mean {}?", similar.join(", ")));
        }
        EditRefusal::SeveralSites { .. } => "name the whole short link, or one site with --site",
        EditRefusal::OwnLink { .. } => "use the URL that the short link leads to",
        EditRefusal::Retired => "add the new target under another code",
        EditRefusal::NoTarget { .. } => {
            "a code that was taken down never gets a target again: add the link under another \
             code"
        }
        EditRefusal::Expired { .. } => {
            "first set a later date, or remove it: waypost set CODE --expires DATE, or --unset expires"
        }
        EditRefusal::NotRetired => "retire it as of today, or omit --drop-url",
        EditRefusal::AliasesLost { codes } if codes.len() == 1 => {
            "keep it; if it was never published, allow its removal with --allow-alias-loss"
        }
        EditRefusal::AliasesLost { .. } => {
            "keep them; if none was ever published, allow their removal with --allow-alias-loss"
        }
        EditRefusal::AlreadyRegistered(_) => {
            "if both links should lead there, allow it with --allow-shared-target"
        }
        EditRefusal::CodeTaken { .. } => "choose another code",
        EditRefusal::CodeUnreachable(_) => CodeUnreachable::HINT,
        EditRefusal::Shadows { .. } => "choose another code, or allow it with --allow-shadowing",
        EditRefusal::TooLarge { .. } => LARGER_TABLE,
        EditRefusal::Unsound { problems } if problems.iter().any(is_failed_test) => {
            "if the change is intended, first change the test in the table"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn is_failed_test(problem: &Diagnostic) -> bool {
    problem.rule == Rule::TestFailed
}

/// Returns how to change the setting on which an error may depend.
pub(super) fn of_setting(setting: Setting) -> &'static str {
    match setting {
        Setting::Reference => "name a branch or a tag with --ref",
        Setting::TablePath => "name the table with --path",
        Setting::StateDir => "name another directory with --state-dir",
        Setting::GitTimeout => "raise the timeout with --git-timeout",
        Setting::GitTimeoutTotal => "raise the timeout with --git-timeout-total",
        Setting::MaxFetchBytes => "raise the limit with --max-fetch-bytes",
        Setting::SshKey => "name the private key with --ssh-key",
        Setting::KnownHosts => "another file of trusted host keys can be named with --known-hosts",
        Setting::Pull => "omit --pull, or clone the repository",
    }
}

/// Returns a hint on a table that cannot be read from its files.
pub(super) fn of_files(error: &FilesError) -> Option<&'static str> {
    match error {
        FilesError::NotFound { path } => of_missing_table(path),
        _ => None,
    }
}

/// Returns a hint on a table that is not there.
pub(crate) fn of_missing_table(path: &Path) -> Option<&'static str> {
    (path == Path::new(DEFAULT_TABLE)).then_some("create one here with `waypost init`")
}

/// Returns a hint on a table that cannot be loaded.
pub(super) fn of_loading(error: &LoadError) -> Option<&'static str> {
    match error {
        LoadError::Unreadable(SourceError::Files(error)) => of_files(error),
        error => error.setting().map(of_setting),
    }
}

/// Returns a hint on a change to files that was not made.
pub(super) fn of_local(error: &LocalError) -> Option<&'static str> {
    match error {
        LocalError::Source(FilesError::TooLarge { .. }) => Some(LARGER_TABLE),
        LocalError::Source(error) => of_files(error),
        LocalError::Commit(error) => of_publishing(error),
        _ => None,
    }
}

/// Returns a hint on a change that was not published.
pub(super) fn of_publishing(error: &PublishError) -> Option<&'static str> {
    match error {
        PublishError::Checkout(error) => of_checkout(error),
        PublishError::Identity(IdentityError::Unknown) => Some(
            "name the author with --git-author 'NAME <EMAIL>', or run `git config --global \
             user.name NAME` and `git config --global user.email EMAIL`",
        ),
        PublishError::Remote(error) => error.setting().map(of_setting),
        PublishError::Program(error) => error.setting().map(of_setting),
        PublishError::Table(TreeError::TooLarge { .. }) => Some(LARGER_TABLE),
        PublishError::Table(error) => error.setting().map(of_setting),
        _ => None,
    }
}

fn of_checkout(error: &CheckoutError) -> Option<&'static str> {
    Some(match error {
        CheckoutError::None { .. } => {
            "--commit, --push and --branch need a checkout: omit them, or name a repository with \
             --repo"
        }
        CheckoutError::Foreign { .. } => {
            "run as its owner, or add it with `git config --global --add safe.directory PATH`"
        }
        CheckoutError::ObjectFormat { .. } => {
            "omit --commit, --push and --branch, and commit with git"
        }
        CheckoutError::Unfinished { .. } => "finish or abort it",
        CheckoutError::Detached => {
            "check out a branch with `git switch`, or push a new one with --branch"
        }
        CheckoutError::NoUpstream { .. } => {
            "set one with `git branch --set-upstream-to`, or push a new branch with --branch"
        }
        CheckoutError::NoRemote => "add one with `git remote add origin`",
        CheckoutError::NoBranch { .. } => "push it first",
        CheckoutError::Unpushed { .. } => {
            "push them first with `git push`, or push a new branch with --branch"
        }
        CheckoutError::Changed { .. } => "commit or undo them first",
        _ => return None,
    })
}
