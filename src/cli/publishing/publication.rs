//! The destination of a published change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::requested_change::RequestedChange;
use super::shown_branch::ShownBranch;
use crate::cli::arguments::table;
use crate::cli::terminal::{Error, progress, pushed};
use crate::git::RemoteBranch;
use crate::registry::{
    Branch as _, CheckoutBranch, CloneBranch, CommitIdentity, NewBranch, PublishError, TablePath,
    UserCheckout,
};

/// How long to retry while the branch keeps moving. Each attempt is a fetch and a push.
pub(crate) const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// The destination of a published change.
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
        branch: Box<RemoteBranch>,
        path: &'a str,
        author: Option<CommitIdentity>,
        review: Option<&'a NewBranch>,
    },
}

impl Publication<'_> {
    /// Publishes a change of a table with at most `max_bytes` of text; returns notes for the user,
    /// too.
    pub(crate) fn publish<C: RequestedChange>(
        self,
        change: &C,
        max_bytes: u64,
    ) -> Result<(C::Decided, Vec<String>), C::Error> {
        match self {
            Self::Files { paths, checkout } => {
                let text = format!("changing {}", table::named(paths));
                let work = || change.in_files(paths, max_bytes, checkout.as_ref());
                // A commit runs hooks, and may be signed.
                let (decided, is_written) = match checkout.is_some() {
                    true => progress::during_questions(text, work)?,
                    false => progress::during(text, work)?,
                };
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
                let table = TablePath::new(&inside.map_err(Error::from)?, max_bytes);
                let branch = CheckoutBranch::of(checkout, review.cloned());
                let mut branch = branch.map_err(Error::from)?;
                let text = format!("changing {}", path.display());
                let (decided, published) = progress::during_questions(text, || {
                    let branch = &mut branch;
                    let mut shown = ShownBranch {
                        branch,
                        may_ask: true,
                    };
                    change.on_branch(&mut shown, &table)
                })?;
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
                let table = TablePath::new(path, max_bytes);
                let (decided, published) = progress::during(format!("changing {path}"), || {
                    let branch = &mut remote;
                    let mut shown = ShownBranch {
                        branch,
                        may_ask: false,
                    };
                    change.on_branch(&mut shown, &table)
                })?;
                let notes = published.map(|published| {
                    let address = remote.address();
                    pushed(review, address.as_ref(), remote.name(), &published)
                });
                Ok((decided, notes.unwrap_or_default()))
            }
        }
    }
}
