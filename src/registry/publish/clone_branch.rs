//! Publishes to a remote without a checkout, through a bare clone of our own.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use git2::{Repository, Signature};

use super::branch::{Branch, BranchTip};
use super::edit::Edit;
use super::identity::{CommitIdentity, configured};
use super::publish_error::PublishError;
use super::review::NewBranch;
use crate::git::{
    CommitId, FileChange, NewCommit, Pushed, ReceivedAs, RemoteBranch, RemoteUrl, SeenBranch,
    UnpushedCommit, in_parallel,
};

/// A remote's branch, and the author of changes to it.
pub struct CloneBranch<'b> {
    branch: &'b RemoteBranch,
    author: Option<CommitIdentity>,
    /// The branch to push to instead of the branch itself.
    review: Option<NewBranch>,
    /// The assumed position of the branch, instead of the next fetch.
    assumed: Option<SeenBranch>,
    /// The branch's full name, once fetched.
    name: String,
    /// The last commit.
    committed: RefCell<Option<UnpushedCommit>>,
    /// How the remote should store a push.
    received_as: ReceivedAs,
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
            committed: RefCell::default(),
            received_as: ReceivedAs::Configured,
        }
    }

    /// Skips the next fetch: the branch is assumed to be where it was seen, and the clone to have
    /// that commit. If it is elsewhere, the next push is lost.
    pub(crate) fn assume(&mut self, seen: SeenBranch) {
        self.assumed = Some(seen);
    }

    /// Prepares for commits of so many changes, each of which may be in another file.
    pub(crate) fn expect_changes(&mut self, count: usize) {
        self.received_as = ReceivedAs::of_files(count);
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

    fn repository(&self) -> Result<Arc<Mutex<Repository>>, PublishError> {
        Ok(self.branch.repository()?)
    }

    fn prepare_push(&self) {
        self.branch.prepare_push(self.received_as);
    }

    fn commit(&self, edit: &Edit, tip: &BranchTip) -> Result<CommitId, PublishError> {
        let files = edit.whole()?;
        let size = files.iter().map(|file| file.bytes.len()).sum();
        let before = match self.branch.sends_whole(files.len(), size) {
            true => vec![None; files.len()],
            false => in_parallel(&files, |file| tip.file(&file.path)),
        };
        let changes = edit.files.iter().zip(files).zip(&before);
        let changes = changes.map(|((file, new), before)| FileChange {
            path: &file.path,
            bytes: new.bytes,
            before: before.as_ref().map(|before| &before.bytes[..]),
        });
        let changes = changes.collect();
        // The files before are read through it, too.
        let repository = self.repository()?;
        let repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
        let [author, committer] = match &self.author {
            Some(author) => [author.clone(), author.clone()],
            None => configured(&repository)?,
        };
        let now = |who: &CommitIdentity| Signature::now(&who.name, &who.email);
        let signatures = [&now(&author)?, &now(&committer)?];
        let commit = NewCommit::new(&repository, tip.commit, changes, signatures, &edit.message)?;
        drop(repository);
        let commit = self.branch.prepare(commit)?;
        let id = commit.id();
        self.committed.replace(Some(commit));
        Ok(id)
    }

    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError> {
        let last = self.committed.take().filter(|last| last.id() == commit);
        let commit = last.expect("what is pushed was committed before");
        match &self.review {
            None => Ok(self.branch.push(&commit, &self.name, Some(tip))?),
            Some(new) => new.judge(self.branch.push(&commit, new.full(), None)?),
        }
    }

    fn look(&mut self) -> Result<CommitId, PublishError> {
        let new = self.review.as_ref().map(NewBranch::full);
        Ok(self.branch.fetch_history(new)?.commit)
    }
}
