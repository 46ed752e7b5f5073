//! Publishes to a remote without a checkout, through a bare clone of our own.

use git2::Repository;

use super::branch::Branch;
use super::commit::commit_as_pack;
use super::edit::Edit;
use super::identity::{CommitIdentity, configured};
use super::publish_error::PublishError;
use super::review::NewBranch;
use crate::git::{CommitId, Pushed, RemoteBranch, RemoteUrl, SeenBranch};

/// A remote's branch, and the author of changes to it.
pub struct CloneBranch<'b> {
    branch: &'b RemoteBranch,
    author: Option<CommitIdentity>,
    /// The branch to push to instead of the branch itself.
    review: Option<NewBranch>,
    /// The position at which the branch is assumed to be, instead of the next fetch.
    assumed: Option<SeenBranch>,
    /// The branch's full name, once fetched.
    name: String,
}

impl<'b> CloneBranch<'b> {
    /// Changes a branch in the name of `author`, or of the identity in Git's configuration.
    ///
    /// With `review`, changes are pushed as a new branch.
    pub fn new(
        branch: &'b RemoteBranch,
        author: Option<CommitIdentity>,
        review: Option<NewBranch>,
    ) -> Self {
        Self {
            branch,
            author,
            review,
            assumed: None,
            name: String::new(),
        }
    }

    /// Skips the next fetch: the branch is assumed to be where it was seen, and the clone to have
    /// that commit. If it is elsewhere, the next push is lost.
    pub(crate) fn assume(&mut self, seen: SeenBranch) {
        self.assumed = Some(seen);
    }

    /// Returns the branch's full name, which is known after a fetch.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Branch for CloneBranch<'_> {
    fn address(&self) -> Option<RemoteUrl> {
        Some(self.branch.remote().clone())
    }

    fn fetch(&mut self) -> Result<CommitId, PublishError> {
        let seen = match self.assumed.take() {
            Some(seen) => seen,
            None => self.branch.fetch()?,
        };
        self.name = seen.branch;
        Ok(seen.commit)
    }

    fn repository(&self) -> Result<Repository, PublishError> {
        Ok(self.branch.repository()?)
    }

    fn commit(&self, edit: &Edit, tip: CommitId) -> Result<CommitId, PublishError> {
        let repository = self.branch.repository()?;
        let identities = match &self.author {
            Some(author) => [author.clone(), author.clone()],
            None => configured(&repository)?,
        };
        Ok(commit_as_pack(&repository, &identities, edit, tip)?)
    }

    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError> {
        match &self.review {
            None => Ok(self.branch.push(commit, &self.name, Some(tip))?),
            Some(new) => new.judge(self.branch.push(commit, new.full(), None)?),
        }
    }

    fn look(&mut self) -> Result<CommitId, PublishError> {
        let new = self.review.as_ref().map(NewBranch::full);
        Ok(self.branch.fetch_history(new)?.commit)
    }
}
