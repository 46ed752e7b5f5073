//! A branch whose fetches and pushes are shown as progress.

use std::sync::{Arc, Mutex};

use git2::Repository;

use crate::cli::terminal::progress;
use crate::git::{CommitId, Pushed, RemoteUrl};
use crate::registry::{Branch, BranchTip, Edit, PublishError};

/// A branch, and whether the `git` program is run for it, which may ask for a password.
pub(super) struct ShownBranch<'b, B> {
    pub(super) branch: &'b mut B,
    pub(super) may_ask: bool,
}

impl<B: Branch> ShownBranch<'_, B> {
    fn during<T>(&mut self, what: &str, work: impl FnOnce(&mut B) -> T) -> T {
        let text = match self.branch.address() {
            Some(address) => format!("{what} {address}"),
            None => format!("{what} the remote"),
        };
        shown(self.may_ask, &text, || work(self.branch))
    }
}

fn shown<T>(may_ask: bool, text: &str, work: impl FnOnce() -> T) -> T {
    match may_ask {
        true => progress::during_questions(text, work),
        false => progress::during(text, work),
    }
}

impl<B: Branch> Branch for ShownBranch<'_, B> {
    fn address(&self) -> Option<RemoteUrl> {
        self.branch.address()
    }

    fn fetch(&mut self) -> Result<CommitId, PublishError> {
        self.during("fetching from", B::fetch)
    }

    fn repository(&self) -> Result<Arc<Mutex<Repository>>, PublishError> {
        self.branch.repository()
    }

    fn prepare_push(&self) {
        self.branch.prepare_push();
    }

    fn commit(&self, edit: &Edit, tip: &BranchTip) -> Result<CommitId, PublishError> {
        // It may be signed.
        shown(self.may_ask, "committing", || self.branch.commit(edit, tip))
    }

    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError> {
        shown(self.may_ask, "pushing", || self.branch.push(commit, tip))
    }

    fn look(&mut self) -> Result<CommitId, PublishError> {
        self.during("fetching from", B::look)
    }
}
