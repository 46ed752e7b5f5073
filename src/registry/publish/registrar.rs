//! The registrar of a followed branch: registers all current requests as one commit.
//!
//! The branch is not fetched as long as the last push is believed to be its tip: if it is not, only
//! the next push is lost. Invariants: a link returned as registered is in the remote's branch; the
//! follower is at that commit or a later one, unless it reports otherwise itself.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use git2::{Oid, Repository};
use tracing::warn;

use super::branch::{Branch, Edit, PublishError, TablePath, publish};
use super::clone_branch::CloneBranch;
use super::commit::CommitIdentity;
use crate::git::{Pushed, RemoteBranch, RemoteUrl};
use crate::mapping::SourceFile;
use crate::registry::decide::{
    Batch, MayShadow, Registered, RegistrationRefusal, RegistrationRequest, register_all,
};
use crate::source::Follower;

/// How long to compete with other writers for the branch.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request, and its submitter.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The requested link.
    pub request: RegistrationRequest,
    /// The name in the commit, and the owner whose links it may shadow; without white space.
    pub by: Arc<str>,
}

/// The result of submissions.
#[derive(Debug)]
pub struct Decided {
    /// The outcome of each submission, in order: at least one is known. Those without an outcome
    /// are to be submitted again.
    pub outcomes: Vec<Option<Result<Registered, RegistrationRefusal>>>,
    /// The commit that they were decided on, or in which they are registered: in hexadecimal.
    pub commit: String,
}

/// Why nothing was decided. No message holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrarError {
    /// The table already has errors.
    #[error(transparent)]
    Table(RegistrationRefusal),
    /// The newest table may exceed this machine's memory.
    #[error("the newest table may be what ended the process before, and is not loaded")]
    InDoubt,
    /// The change could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Registers in the branch that a follower follows.
pub struct Registrar {
    follower: Arc<Follower>,
    remote: CloneBranch,
    table: TablePath,
    /// The last known tip of the branch.
    seen: Option<Oid>,
}

impl Registrar {
    /// Takes the followed branch, to change it in the name of `author`.
    pub fn new(
        follower: Arc<Follower>,
        branch: RemoteBranch,
        table: TablePath,
        author: CommitIdentity,
    ) -> Self {
        Self {
            follower,
            remote: CloneBranch::new(branch, Some(author), None),
            table,
            seen: None,
        }
    }

    /// Registers submissions: one commit, or none if all are refused. Blocks the thread.
    ///
    /// # Errors
    ///
    /// If nothing was decided and, as far as is known, nothing changed.
    pub fn register(&mut self, submissions: &[Submission]) -> Result<Decided, RegistrarError> {
        let follower = Arc::clone(&self.follower);
        if follower.is_in_doubt() {
            return Err(RegistrarError::InDoubt);
        }
        let turn = follower.turn();
        // Another writer's commit may have been fetched since.
        let seen = self.seen.take();
        let mut branch = Optimist {
            seen: seen.filter(|seen| follower.commit() == Some(*seen) && !self.remote.is_worn()),
            tip: None,
            remote: &mut self.remote,
        };
        let requests = submissions.iter().map(|it| RegistrationRequest {
            may_shadow: MayShadow::OwnedBy(Arc::clone(&it.by)),
            ..it.request.clone()
        });
        let requests: Vec<_> = requests.collect();
        let max_bytes = self.table.max_bytes();
        let mut outcomes = Vec::new();
        let published = publish(&mut branch, &self.table, PATIENCE, |files| {
            let batch = register_all(files, &requests, max_bytes, SystemTime::now().into());
            let Batch {
                outcomes: all,
                files,
            } = batch.map_err(Some)?;
            outcomes = all;
            match files.is_empty() {
                true => Err(None),
                false => Ok(edit(files, submissions, &outcomes)),
            }
        })?;
        let commit = match published {
            Ok(published) => published.commit,
            Err(Some(refusal)) => return Err(RegistrarError::Table(refusal)),
            Err(None) => branch.tip.unwrap_or(Oid::ZERO_SHA1),
        };
        if follower.commit() != Some(commit) {
            let repository = self.remote.repository()?;
            let followed = turn.follow(&repository, self.remote.name(), commit);
            drop(turn);
            if let Err(error) = followed {
                warn!(error = %error, "cannot follow a commit of ours at once, fetching it");
                follower.refresh();
            }
        }
        self.seen = Some(commit);
        Ok(Decided {
            outcomes,
            commit: commit.to_string(),
        })
    }
}

/// Returns the change that contains the registered links.
fn edit(
    files: Vec<SourceFile>,
    submissions: &[Submission],
    outcomes: &[Option<Result<Registered, RegistrationRefusal>>],
) -> Edit {
    let all = submissions.iter().zip(outcomes);
    let registered: Vec<_> = all
        .filter_map(|(submission, outcome)| Some((submission, outcome.as_ref()?.as_ref().ok()?)))
        .collect();
    let mut message = match registered[..] {
        [(_, only)] => format!("Add {}\n\n", only.code),
        _ => format!("Add {} short links\n\n", registered.len()),
    };
    for (submission, registered) in registered {
        let Registered {
            short_url,
            trailers,
            ..
        } = registered;
        let by = &submission.by;
        message += &format!("Short-Link: {short_url}\nRegistered-By: {by}\n");
        for trailer in trailers {
            message += trailer;
            message.push('\n');
        }
    }
    Edit { files, message }
}

/// A remote's branch that is assumed to be at its last known tip, until a push shows otherwise.
struct Optimist<'r> {
    remote: &'r mut CloneBranch,
    seen: Option<Oid>,
    /// The last assumed tip.
    tip: Option<Oid>,
}

impl Branch for Optimist<'_> {
    fn address(&self) -> Option<RemoteUrl> {
        self.remote.address()
    }

    fn fetch(&mut self) -> Result<Oid, PublishError> {
        let tip = match self.seen.take() {
            Some(seen) => seen,
            None => self.remote.fetch()?,
        };
        self.tip = Some(tip);
        Ok(tip)
    }

    fn repository(&self) -> Result<Repository, PublishError> {
        self.remote.repository()
    }

    fn commit(&self, edit: &Edit, tip: Oid) -> Result<Oid, PublishError> {
        self.remote.commit(edit, tip)
    }

    fn push(&self, commit: Oid, tip: Oid) -> Result<Pushed, PublishError> {
        self.remote.push(commit, tip)
    }
}
