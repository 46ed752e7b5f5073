//! Repositories on this machine in which `git receive-pack` would do no more than add objects and move a
//! branch: bare, without its hooks, and without settings that change what it does.

use std::path::{Path, PathBuf};

use git2::{ErrorCode, Oid, Repository};

/// The hooks of `git receive-pack` that a push would miss without it (githooks(5)).
const HOOKS: [&str; 5] = [
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
];

/// The sections of the settings that change what a push does, or how a repository stores objects and
/// references (git-config(1)).
const SECTIONS: [&str; 5] = ["receive", "transfer", "extensions", "hook", "maintenance"];

/// The other settings that do.
const SETTINGS: [&str; 5] = [
    "core.hookspath",
    "core.sharedrepository",
    "core.fsync",
    "core.fsyncmethod",
    "core.fsyncobjectfiles",
];

/// A repository that is plain as far as its files and libgit2 show. Git may read other files of settings than
/// libgit2: [`changes_pushes`] says which names in them it must not have.
pub(super) struct PlainRepository(Repository);

impl PlainRepository {
    /// Opens the repository in a directory, if it is plain.
    pub(super) fn open(directory: &Path) -> Option<Self> {
        // libgit2 refuses one of another user, as Git does.
        let repository = Repository::open(directory).ok()?;
        let path = repository.path();
        let is_plain = repository.is_bare()
            && repository.commondir() == path
            && !repository.is_shallow()
            && !path.join("worktrees").exists()
            && HOOKS
                .iter()
                .all(|hook| !path.join("hooks").join(hook).exists())
            && has_plain_settings(&repository).unwrap_or(false);
        is_plain.then(|| Self(repository))
    }

    /// Returns its directory.
    pub(super) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Returns the commit that a branch is at, by its full name; `None` if there is no such branch.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn commit_of(&self, branch: &str) -> Result<Option<Oid>, git2::Error> {
        match self.0.refname_to_id(branch) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a commit and its files are there, as far as the commit and the tree at its top show.
    pub(super) fn has(&self, commit: Oid) -> bool {
        let commit = self.0.find_commit(commit);
        commit.is_ok_and(|commit| commit.tree().is_ok())
    }
}

fn has_plain_settings(repository: &Repository) -> Result<bool, git2::Error> {
    let config = repository.config()?.snapshot()?;
    let mut entries = config.entries(None)?;
    while let Some(entry) = entries.next() {
        if entry?.name().map_or(true, changes_pushes) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether a setting, by its full name, changes what a push to a repository does.
pub(super) fn changes_pushes(name: &str) -> bool {
    let section = name.split('.').next().unwrap_or_default();
    SECTIONS.contains(&section) || SETTINGS.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_repository_without_hooks_and_settings_is_plain() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let repository = Repository::init_bare(path).unwrap();
        let is_plain = || PlainRepository::open(path).is_some();
        fs::write(path.join("hooks/update.sample"), "").unwrap();
        assert!(is_plain());
        for hook in HOOKS {
            let hook = path.join("hooks").join(hook);
            fs::write(&hook, "").unwrap();
            assert!(!is_plain(), "{}", hook.display());
            fs::remove_file(&hook).unwrap();
        }
        let mut config = repository.config().unwrap();
        let sections = [
            "receive.fsckobjects",
            "transfer.hiderefs",
            "hook.a.command",
            "maintenance.auto",
        ];
        for name in sections.iter().chain(&SETTINGS) {
            config.set_str(name, "1").unwrap();
            assert!(!is_plain(), "{name}");
            config.remove(name).unwrap();
        }
        config.set_str("gc.auto", "0").unwrap();
        assert!(is_plain());
        fs::create_dir(path.join("worktrees")).unwrap();
        assert!(!is_plain());
        assert!(PlainRepository::open(&path.join("objects")).is_none());
        let apart = tempfile::tempdir().unwrap();
        Repository::init(apart.path()).unwrap();
        assert!(PlainRepository::open(apart.path()).is_none());
    }
}
