//! A user's checkout, in which commits are made.
//!
//! Uses the `git` program, so that the user's hooks and signatures apply. Invariant: only the files
//! of the change are committed, whatever else is staged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{ErrorCode, Repository, RepositoryState, Status};

use super::checkout_error::CheckoutError;
use super::edit::Edit;
use super::identity::{CommitIdentity, IdentityError};
use super::publish_error::PublishError;
use crate::git::{CommitId, GitProgram, GitProgramError};
use crate::registry::text::TextFile;

/// The message of libgit2 for a repository with an unknown object format.
const OBJECT_FORMAT: &str = "unknown object format";

/// A checkout, and the author of commits in it.
pub struct UserCheckout {
    pub(crate) git: GitProgram,
    git_dir: PathBuf,
    work_dir: PathBuf,
    author: Option<CommitIdentity>,
}

impl UserCheckout {
    /// Opens the checkout around a table, in which commits are made by `author`, or else by the
    /// identity in Git's configuration. Each Git command may take as long as `timeout`.
    ///
    /// # Errors
    ///
    /// If there is none, or another operation is in progress.
    pub fn around(
        table: &Path,
        author: Option<CommitIdentity>,
        timeout: Duration,
    ) -> Result<Self, PublishError> {
        let path = || table.to_owned();
        let absolute = std::path::absolute(table).unwrap_or_else(|_| path());
        let directory = (absolute.ancestors().find(|it| it.is_dir())).unwrap_or(Path::new("/"));
        let repository = Repository::discover(directory).map_err(|error| match error.code() {
            ErrorCode::NotFound => CheckoutError::None { path: path() }.into(),
            ErrorCode::Owner => CheckoutError::Foreign { path: path() }.into(),
            _ if error.message().contains(OBJECT_FORMAT) => {
                CheckoutError::ObjectFormat { path: path() }.into()
            }
            _ => PublishError::Git(error),
        })?;
        let Some(work_dir) = repository.workdir().and_then(|it| it.canonicalize().ok()) else {
            return Err(CheckoutError::None { path: path() }.into());
        };
        if let Some(operation) = unfinished(repository.state()) {
            return Err(CheckoutError::Unfinished { operation }.into());
        }
        Ok(Self {
            git: GitProgram::new(&work_dir, timeout).map_err(|source| {
                GitProgramError::Process {
                    directory: work_dir.clone(),
                    source,
                }
            })?,
            git_dir: repository.path().to_owned(),
            work_dir,
            author,
        })
    }

    /// Returns the path of a file or directory, which need not exist, relative to the checkout's
    /// top.
    ///
    /// # Errors
    ///
    /// If it is outside the checkout.
    pub fn inside(&self, path: &Path) -> Result<String, CheckoutError> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = absolute.ancestors().find_map(|ancestor| {
            let real = ancestor.canonicalize().ok()?;
            let rest = absolute.strip_prefix(ancestor).ok()?;
            // Joining an empty path would add a slash at the end.
            Some(match rest.as_os_str().is_empty() {
                true => real,
                false => real.join(rest),
            })
        });
        let real = real.unwrap_or(absolute);
        match real.strip_prefix(&self.work_dir) {
            Ok(inside) => Ok(inside.to_string_lossy().into_owned()),
            Err(_) => Err(CheckoutError::Outside {
                path: path.to_owned(),
                work_dir: self.work_dir.clone(),
            }),
        }
    }

    /// Ensures that files can be changed and committed: that each is unchanged since the last
    /// commit, or neither exists nor is known to Git, and that Git has an identity for the commit.
    ///
    /// From here on, an interrupt ends the Git commands, but not this process, which then reverts
    /// its changes.
    ///
    /// # Errors
    ///
    /// If that is not the case.
    pub(super) fn prepare(&self, files: &[TextFile]) -> Result<(), PublishError> {
        let repository = self.repository()?;
        if repository.head_detached()? {
            return Err(CheckoutError::Detached.into());
        }
        for file in files {
            refuse_changes(&repository, &self.inside(Path::new(&*file.path))?)?;
        }
        self.identities()?;
        Ok(self.git.outlive_interrupts()?)
    }

    /// Returns Git's identities for the author and the committer.
    pub(super) fn identities(&self) -> Result<[CommitIdentity; 2], PublishError> {
        let ask = |of| {
            let known = self.git.run(&self.named(&["var", of]));
            let who = known.map_err(|error| match error {
                GitProgramError::Failed { .. } => IdentityError::Unknown.into(),
                error => PublishError::from(error),
            })?;
            // The time follows the address.
            let (who, _) = who.rsplit_once("> ").ok_or(IdentityError::Unknown)?;
            Ok::<_, PublishError>(format!("{who}>").parse::<CommitIdentity>()?)
        };
        Ok([ask("GIT_AUTHOR_IDENT")?, ask("GIT_COMMITTER_IDENT")?])
    }

    /// Returns arguments that set Git's identity, if an author was given.
    pub(crate) fn named(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(CommitIdentity { name, email }) = &self.author {
            for setting in [format!("user.name={name}"), format!("user.email={email}")] {
                all.extend(["-c".to_owned(), setting]);
            }
        }
        all.extend(arguments.iter().map(|&it| it.to_owned()));
        all
    }

    /// Commits only the current state of some files to the branch that is checked out.
    ///
    /// # Errors
    ///
    /// If Git fails, or a hook refuses. Then nothing but the files themselves has changed.
    pub(super) fn commit(&self, edit: &Edit) -> Result<(), PublishError> {
        let paths = edit.files.iter();
        let paths = paths.map(|file| self.inside(Path::new(&*file.path)));
        let paths: Vec<_> = paths.collect::<Result<_, _>>()?;
        let on_files = |command: &[&str], paths: &[&str]| {
            let mut arguments = self.named(&["--literal-pathspecs"]);
            let rest = command.iter().chain(&["--"]).chain(paths);
            arguments.extend(rest.map(|&it| it.to_owned()));
            arguments
        };
        // Git does not commit a file that it does not know.
        let index = self.repository()?.index()?;
        let is_new = |path: &&str| index.get_path(Path::new(path), 0).is_none();
        let new: Vec<_> = paths.iter().map(String::as_str).filter(is_new).collect();
        if !new.is_empty() {
            self.git.run(&on_files(&["add", "--intent-to-add"], &new))?;
        }
        let all: Vec<_> = paths.iter().map(String::as_str).collect();
        let commit = on_files(&["commit", "--quiet", "--file=-", "--only"], &all);
        let ended = self.git.run_with(&commit, &edit.message);
        if !new.is_empty() && ended.is_err() {
            self.git
                .run(&on_files(&["rm", "--cached", "--quiet"], &new))?;
        }
        match ended {
            // A hook refused. Failures of Git itself end with 128.
            Err(GitProgramError::Failed {
                said,
                status: Some(1),
                ..
            }) => Err(PublishError::Declined { said }),
            ended => Ok(ended.map(drop)?),
        }
    }

    /// Returns the commit that is checked out.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn head(&self) -> Result<CommitId, PublishError> {
        Ok(self.repository()?.refname_to_id("HEAD")?.into())
    }

    /// Returns the absolute form of a path that is relative to the checkout's top.
    pub(crate) fn at(&self, path: &str) -> String {
        self.work_dir.join(path).to_string_lossy().into_owned()
    }

    pub(crate) fn repository(&self) -> Result<Repository, PublishError> {
        Ok(Repository::open(&self.git_dir)?)
    }
}

/// Refuses a file that differs from the last commit, unless it neither exists nor is known to Git.
pub(super) fn refuse_changes(repository: &Repository, file: &str) -> Result<(), PublishError> {
    match repository.status_file(Path::new(file)) {
        Ok(Status::CURRENT | Status::IGNORED) => Ok(()),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(CheckoutError::Changed {
            file: file.to_owned(),
        }
        .into()),
    }
}

fn unfinished(state: RepositoryState) -> Option<&'static str> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some("merge"),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some("revert"),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some("cherry-pick"),
        RepositoryState::Bisect => Some("bisect"),
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => Some("rebase"),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => {
            Some("rebase, or of applying mails")
        }
    }
}
