//! A remote's branch that is changed from a user's checkout.
//!
//! Uses the `git` program, so that the user's credentials and signatures apply. Invariant: a commit
//! is made independently of the checked-out branch, which is moved only once the remote has the
//! commit.

use std::sync::{Arc, Mutex};

use git2::{Oid, Repository};

use super::branch::{Branch, BranchTip};
use super::checkout::{UserCheckout, refuse_changes};
use super::checkout_error::CheckoutError;
use super::commit::{commit_tree, write_tree};
use super::edit::Edit;
use super::identity::CommitIdentity;
use super::publish_error::PublishError;
use super::review::NewBranch;
use crate::git::{CommitId, GitProgram, GitProgramError, Pushed, RemoteUrl, random};

/// The message of `git fetch` for a branch that is not in the remote.
const NO_SUCH_BRANCH: &str = "couldn't find remote ref";

/// A remote branch that is changed from a checkout.
pub struct CheckoutBranch {
    checkout: UserCheckout,
    /// Author and committer.
    identities: [CommitIdentity; 2],
    /// Whether the user signs all commits.
    signs: bool,
    /// The remote's name.
    remote: String,
    /// The remote's branch, in full.
    base: String,
    review: Option<NewBranch>,
}

impl CheckoutBranch {
    /// Returns the remote branch to push to, or to base a branch for review on.
    ///
    /// # Errors
    ///
    /// If there is none, or, for changes that are to be pushed to it, if the branch that is checked
    /// out has commits of its own.
    pub fn of(checkout: UserCheckout, review: Option<NewBranch>) -> Result<Self, PublishError> {
        let identities = checkout.identities()?;
        let signs = (checkout.git).run(&["config", "--type=bool", "--get", "commit.gpgSign"]);
        let repository = checkout.repository()?;
        let head = repository.find_reference("HEAD")?;
        let branch = head.symbolic_target()?.map(str::to_owned);
        let followed = branch.as_deref().and_then(|branch| {
            let remote = repository.branch_upstream_remote(branch).ok()?;
            let merge = repository.branch_upstream_merge(branch).ok()?;
            Some((
                remote.as_str().ok()?.to_owned(),
                merge.as_str().ok()?.to_owned(),
            ))
        });
        let (remote, base) = match (followed, branch, &review) {
            (Some(followed), ..) => followed,
            (None, _, Some(_)) => head_of_origin(&checkout.git)?,
            (None, Some(branch), None) => {
                let branch = branch
                    .strip_prefix("refs/heads/")
                    .unwrap_or(&branch)
                    .to_owned();
                return Err(CheckoutError::NoUpstream { branch }.into());
            }
            (None, None, None) => return Err(CheckoutError::Detached.into()),
        };
        Ok(Self {
            checkout,
            identities,
            signs: signs.is_ok_and(|it| it == "true"),
            remote,
            base,
            review,
        })
    }

    /// Returns the full name of the remote's branch.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Fast-forwards the branch that is checked out, and its files, to a commit that has landed.
    ///
    /// # Errors
    ///
    /// If Git cannot do that safely. Then nothing has changed.
    pub fn follow(&self, commit: CommitId) -> Result<(), GitProgramError> {
        let commit = commit.to_string();
        let merge = ["merge", "--quiet", "--ff-only", &commit];
        self.checkout.git.run(&merge).map(drop)
    }

    /// Fetches a branch of the remote, and returns its tip.
    fn fetch_branch(&self, name: &str) -> Result<CommitId, PublishError> {
        // Into a reference of its own; no other references are moved.
        let kept = format!("refs/waypost/{:016x}", random());
        let to = format!("+{name}:{kept}");
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--refmap=",
        ];
        let arguments = [&fetch[..], &["--", &self.remote, &to]].concat();
        match self.checkout.git.run(&arguments) {
            Err(GitProgramError::Failed { said, .. }) if said.contains(NO_SUCH_BRANCH) => {
                return Err(CheckoutError::NoBranch {
                    remote: self.remote.clone(),
                    branch: name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
                }
                .into());
            }
            ended => ended?,
        };
        let repository = self.checkout.repository()?;
        let mut kept = repository.find_reference(&kept)?;
        let tip = kept.peel_to_commit()?.id();
        kept.delete()?;
        Ok(tip.into())
    }
}

impl Branch for CheckoutBranch {
    fn address(&self) -> Option<RemoteUrl> {
        let git = &self.checkout.git;
        let text = git.run(&["remote", "get-url", "--push", &self.remote]);
        let text = text.ok()?;
        // Git resolves a relative path from the checkout, not from the directory of the command.
        let text = match text.starts_with('.') {
            true => self.checkout.at(&text),
            false => text,
        };
        let remote = RemoteUrl::parse(&text).ok()?;
        git.hide_secrets_of(&remote);
        Some(remote)
    }

    fn fetch(&mut self) -> Result<CommitId, PublishError> {
        let tip = self.fetch_branch(&self.base)?;
        if self.review.is_none() {
            let repository = self.checkout.repository()?;
            let head = repository.head()?;
            let held = head.peel_to_commit()?.id();
            if held != tip.0 && !repository.graph_descendant_of(tip.0, held)? {
                return Err(CheckoutError::Unpushed {
                    branch: head.shorthand().unwrap_or("the branch").to_owned(),
                }
                .into());
            }
        }
        Ok(tip)
    }

    fn repository(&self) -> Result<Arc<Mutex<Repository>>, PublishError> {
        Ok(Arc::new(Mutex::new(self.checkout.repository()?)))
    }

    fn commit(&self, edit: &Edit, tip: &BranchTip) -> Result<CommitId, PublishError> {
        let tip = tip.commit;
        let repository = self.checkout.repository()?;
        if self.review.is_none() {
            for file in &edit.files {
                refuse_changes(&repository, &file.path)?;
            }
        }
        let parent = repository.find_commit(tip.0)?;
        let tree = write_tree(&repository, &parent, edit)?;
        if !self.signs {
            let commit = commit_tree(&repository, &self.identities, edit, tree, &parent)?;
            return Ok(commit);
        }
        let (tree, tip) = (tree.to_string(), tip.to_string());
        let sign = ["commit-tree", "-S", "-p", &tip, "-F", "-", &tree];
        let checkout = &self.checkout;
        let id = checkout
            .git
            .run_with(&checkout.named(&sign), &edit.message)?;
        Ok(Oid::from_str(&id)?.into())
    }

    fn push(&self, commit: CommitId, tip: CommitId) -> Result<Pushed, PublishError> {
        let git = &self.checkout.git;
        match &self.review {
            None => Ok(git.push(&self.remote, commit, &self.base, Some(tip))?),
            Some(new) => new.judge(git.push(&self.remote, commit, new.full(), None)?),
        }
    }

    fn look(&mut self) -> Result<CommitId, PublishError> {
        match &self.review {
            None => self.fetch_branch(&self.base),
            Some(new) => self.fetch_branch(new.full()),
        }
    }
}

/// Returns the remote `origin`, and its default branch.
fn head_of_origin(git: &GitProgram) -> Result<(String, String), PublishError> {
    let remote = "origin";
    if git.run(&["remote", "get-url", remote]).is_err() {
        return Err(CheckoutError::NoRemote.into());
    }
    let listed = git.run(&["ls-remote", "--symref", remote, "HEAD"])?;
    let base = listed.lines().find_map(|line| {
        let (name, _) = line.strip_prefix("ref: ")?.split_once('\t')?;
        Some(name.to_owned())
    });
    match base {
        Some(base) => Ok((remote.to_owned(), base)),
        None => Err(CheckoutError::NoBranch {
            remote: remote.to_owned(),
            branch: "HEAD".to_owned(),
        }
        .into()),
    }
}
