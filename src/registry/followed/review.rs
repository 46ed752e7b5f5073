//! Links that are sent for review: each on a new branch, next to the followed branch.
//!
//! The name of the branch follows from the request, so a repeated request finds its own branch.

use std::time::SystemTime;

use sha2::{Digest as _, Sha256};
use tracing::warn;

use super::registrar::{RETRY_TIMEOUT, Registrar, RegistrarError, begin, follow};
use crate::git::{SeenBranch, chain, hex};
use crate::registry::decide::{RegistrationRefusal, RegistrationRequest, RequestedCode, register};
use crate::registry::publish::{
    CloneBranch, Edit, NewBranch, PublishError, TableChange, publish, review_address,
};
use crate::source::CommitTable;

/// The maximum number of characters of a code in the name of a branch.
const MAX_IN_NAME: usize = 40;

/// A branch with a link to review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewBranch {
    /// Its name, without `refs/heads/`.
    pub name: String,
    /// The branch into which it is to be merged, likewise.
    pub base: String,
    /// The address for opening a pull request, if the remote's message or address shows it.
    pub address: Option<String>,
    /// Whether the same request was sent before.
    pub is_known: bool,
}

/// Why a link was not sent for review.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The link is refused.
    #[error(transparent)]
    Refused(#[from] RegistrationRefusal),
    /// The branch could not be created.
    #[error(transparent)]
    Registrar(#[from] RegistrarError),
}

impl From<PublishError> for ReviewError {
    fn from(error: PublishError) -> Self {
        Self::Registrar(error.into())
    }
}

impl Registrar {
    /// Pushes a new branch with a link, for review. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the link is refused, or as far as is known no branch was created.
    pub fn send_for_review(
        &self,
        request: &RegistrationRequest,
        by: &str,
    ) -> Result<ReviewBranch, ReviewError> {
        match self.attempt_review(request, by) {
            Err(ReviewError::Registrar(error)) if error.is_damage() => {
                let error = chain(&error);
                warn!(error, "the clone is damaged, using a new one");
                self.follower().distrust_clone();
                self.attempt_review(request, by)
            }
            ended => ended,
        }
    }

    fn attempt_review(
        &self,
        request: &RegistrationRequest,
        by: &str,
    ) -> Result<ReviewBranch, ReviewError> {
        let turn = begin(self.follower())?;
        let new = branch_for(request, by);
        let author = Some(self.author().clone());
        let mut branch = CloneBranch::new(turn.branch(), author, Some(new.clone()));
        let table = self.table();
        let mut tip = None;
        let published = publish(&mut branch, table, RETRY_TIMEOUT, |read| {
            tip = Some(read.commit);
            let now = SystemTime::now().into();
            let registration =
                register(&read.files.clone().into(), request, table.max_bytes(), now)?;
            let Edit { files, message } = registration.edit();
            Ok::<_, ReviewError>(Edit {
                files,
                message: format!("{message}Proposed-By: {by}\n"),
            })
        });
        let base = branch.name().to_owned();
        if let Some(commit) = tip {
            let seen = SeenBranch {
                branch: base.clone(),
                commit,
            };
            follow(self.follower(), turn, &seen, CommitTable::Unknown);
        }
        let (said, is_known) = match published {
            Ok(published) => (published.said, false),
            Err(ReviewError::Registrar(RegistrarError::Publish(PublishError::BranchExists {
                ..
            }))) => (String::new(), true),
            Err(error) => return Err(error),
        };
        Ok(ReviewBranch {
            address: review_address(&self.follower().following().remote, &base, &new, &said),
            name: new.short().to_owned(),
            base: base.strip_prefix("refs/heads/").unwrap_or(&base).to_owned(),
            is_known,
        })
    }
}

/// Returns the branch for a request of an owner: the same one for the same request.
fn branch_for(request: &RegistrationRequest, by: &str) -> NewBranch {
    let digest = Sha256::digest(format!("{by:?} {request:?}"));
    let id = hex(&digest[..6]);
    let code = match &request.code {
        RequestedCode::Custom(code) => code,
        _ => "",
    };
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || *it == '-';
    let plain: String = code.chars().filter(is_plain).take(MAX_IN_NAME).collect();
    let name = match plain.trim_matches('-') {
        "" => format!("propose-{id}"),
        plain => format!("propose-{plain}-{id}"),
    };
    name.parse()
        .expect("letters, digits and hyphens are a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(code: &str, title: &str, by: &str) -> String {
        let request = RegistrationRequest {
            url: "https://e.org/".to_owned(),
            code: match code {
                "" => RequestedCode::Any,
                code => RequestedCode::Custom(code.to_owned()),
            },
            title: Some(title.to_owned()),
            ..RegistrationRequest::default()
        };
        branch_for(&request, by).short().to_owned()
    }

    #[test]
    fn the_same_request_has_the_same_branch() {
        let first = name("gnu-home", "T", "ada");
        assert!(first.starts_with("propose-gnu-home-"), "{first}");
        assert_eq!(first.len(), "propose-gnu-home-".len() + 12);
        assert_eq!(name("gnu-home", "T", "ada"), first);
        for other in [
            name("gnu-home", "U", "ada"),
            name("gnu-home", "T", "bob"),
            name("gnu.home", "T", "ada"),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn whatever_the_code_is_git_takes_the_name() {
        let long = "a".repeat(255);
        for code in [
            "", "--", "a/../b", "é", "x.lock", "@{-1}", "a\nb", "~^:?*[", &long,
        ] {
            let name = name(code, "T", "ada");
            let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-';
            assert!(name.chars().all(is_plain) && name.len() < 70, "{name}");
            assert!(
                name.starts_with("propose-") && !name.contains("--"),
                "{name}"
            );
        }
    }
}
