//! Where a change is published.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::change::Change;
use crate::cli::arguments::MAX_BYTES;
use crate::cli::terminal::{Error, pushed};
use crate::git::RemoteBranch;
use crate::registry::{
    Branch as _, CheckoutBranch, CloneBranch, CommitIdentity, NewBranch, PublishError, TablePath,
    UserCheckout,
};

/// How long to retry while the branch keeps moving. Each attempt is a fetch and a push.
pub(crate) const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// Where a change is published.
pub(crate) enum Publication<'a> {
    /// In files, which are committed if there is a checkout.
    Files {
        paths: &'a [PathBuf],
        checkout: Option<UserCheckout>,
    },
    /// On the remote of a checkout that has the table at a path.
    Checkout {
        checkout: UserCheckout,
        path: &'a Path,
        review: Option<&'a NewBranch>,
    },
    /// On a remote that has the table at a path, without a checkout.
    Remote {
        branch: RemoteBranch,
        path: &'a str,
        author: Option<CommitIdentity>,
        review: Option<&'a NewBranch>,
    },
}

impl Publication<'_> {
    /// Publishes a change; returns notes for the user, too.
    pub(crate) fn publish<C: Change>(
        self,
        change: &C,
    ) -> Result<(C::Decided, Vec<String>), C::Error> {
        match self {
            Self::Files { paths, checkout } => {
                let (decided, is_written) = change.in_files(paths, checkout.as_ref())?;
                let notes = match checkout.filter(|_| is_written) {
                    Some(checkout) => {
                        let head = checkout.head().map_err(Error::from)?;
                        vec![format!("committed as {}", head.short())]
                    }
                    None => Vec::new(),
                };
                Ok((decided, notes))
            }
            Self::Checkout {
                checkout,
                path,
                review,
            } => {
                let inside = checkout.inside(path).map_err(PublishError::from);
                let table = TablePath::new(&inside.map_err(Error::from)?, MAX_BYTES);
                let branch = CheckoutBranch::of(checkout, review.cloned());
                let mut branch = branch.map_err(Error::from)?;
                let (decided, published) = change.on_branch(&mut branch, &table)?;
                let Some(published) = published else {
                    return Ok((decided, Vec::new()));
                };
                let address = branch.address();
                let mut notes = pushed(review, address.as_ref(), branch.base(), &published);
                if review.is_none()
                    && let Err(error) = branch.follow(published.commit)
                {
                    notes.push(format!("the checkout does not have it yet: {error}"));
                }
                Ok((decided, notes))
            }
            Self::Remote {
                branch,
                path,
                author,
                review,
            } => {
                let mut remote = CloneBranch::new(&branch, author, review.cloned());
                let table = TablePath::new(path, MAX_BYTES);
                let (decided, published) = change.on_branch(&mut remote, &table)?;
                let notes = published.map(|published| {
                    let address = remote.address();
                    pushed(review, address.as_ref(), remote.name(), &published)
                });
                Ok((decided, notes.unwrap_or_default()))
            }
        }
    }
}
