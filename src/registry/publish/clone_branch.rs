//! Publishes to a remote without a checkout, through Waypost's own bare clone.

use git2::Repository;

use super::branch::Branch;
use super::commit::{commit_tree, write_tree};
use super::edit::Edit;
use super::identity::{CommitIdentity, configured};
use super::publish_error::PublishError;
use super::review::NewBranch;
use crate::git::{CommitId, Pushed, RemoteBranch, RemoteUrl};

/// A remote's branch, and the author of changes to it.
pub struct CloneBranch {
    branch: RemoteBranch,
    author: Option<CommitIdentity>,
    /// The branch to push to instead of the branch itself.
    review: Option<NewBranch>,
    /// The branch's full name, once fetched.
    name: String,
}

impl CloneBranch {
    /// Changes a branch in the name of `author`, or of the identity in Git's configuration.
    ///
    /// With `review`, changes are pushed as a new branch.
    pub fn new(
        branch: RemoteBranch,
        author: Option<CommitIdentity>,
        review: Option<NewBranch>,
    ) -> Self {
        Self {
            branch,
            author,
            review,
            name: String::new(),
        }
    }

    /// Returns whether the next fetch makes a fresh clone, and so should not be skipped.
    pub fn is_worn(&self) -> bool {
        self.branch.is_worn()
    }

    /// Returns the branch's full name, which is known after a fetch.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Branch for CloneBranch {
    fn address(&self) -> Option<RemoteUrl> {
        Some(self.branch.remote().clone())
    }

    fn fetch(&mut self) -> Result<CommitId, PublishError> {
        let seen = self.branch.fetch()?;
        self.name = seen.branch;
        Ok(seen.commit)
    }

    fn repository(&self) -> Result<Repository, PublishError> {
        Ok(self.branch.repository()?)
    }

    fn commit(&self, edit: &Edit, tip: CommitId) -> Result<CommitId, PublishError> {
        let repository = self.branch.repository()?;
        let parent = repository.find_commit(tip.0)?;
        let identities = match &self.author {
            Some(author) => [author.clone(), author.clone()],
            None => configured(&repository)?,
        };
        let tree = write_tree(&repository, &parent, edit)?;
        Ok(commit_tree(&repository, &identities, edit, tree, &parent)?)
    }

    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError> {
        Ok(match &self.review {
            None => self.branch.push(commit, &self.name, Some(tip))?,
            Some(new) => new.judge(self.branch.push(commit, new.full(), None)?),
        })
    }

    fn look(&mut self) -> Result<CommitId, PublishError> {
        match &self.review {
            None => self.fetch(),
            Some(new) => Ok(self.branch.fetch_branch(new.full())?.commit),
        }
    }
}
