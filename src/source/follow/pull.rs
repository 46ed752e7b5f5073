//! Pulling a checkout: fetch the upstream of its branch, then fast-forward it.
//!
//! Only the checkout is moved here. The table in it is read and watched like any other files.
//! Invariant: a checkout that cannot be fast-forwarded is reported and left unchanged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use git2::{Direction, ErrorCode, Repository};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::fetch_options::FetchOptions;
use super::report::{Fetch, FetchResult};
use super::rounds::{Round, RoundEnd, Rounds};
use crate::git::{
    CloneTarget, CommitId, FastForwardError, ForeignRepository, Refusal, RemoteUrl, RemoteUrlError,
    Setting, Tip, TransferError, Verify, Wanted, chain, fast_forward, symlinks, work_tree,
};
use crate::mapping::Timestamp;

/// The timeout for another Git command to release the checkout.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two attempts.
const STEP: Duration = Duration::from_millis(100);

/// What to pull, and how.
#[derive(Clone)]
pub struct Pulling {
    /// The table, or any other path in the checkout.
    pub table: PathBuf,
    /// How to fetch the upstream.
    pub fetch: FetchOptions,
}

/// Why a checkout was not pulled. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PullError {
    /// There is no checkout.
    #[error("{} is not in a Git checkout, so there is nothing to pull", path.display())]
    NoCheckout {
        /// The table.
        path: PathBuf,
    },
    /// It belongs to another user.
    #[error(transparent)]
    Foreign(ForeignRepository),
    /// No branch is checked out.
    #[error("no branch is checked out: run `git switch BRANCH`")]
    Detached,
    /// The branch has no upstream.
    #[error("{branch} has no upstream branch: set one with `git branch --set-upstream-to`")]
    NoUpstream {
        /// The branch.
        branch: String,
    },
    /// The address of the remote cannot be used.
    #[error("cannot pull from the remote {remote}")]
    Address {
        /// The remote's name.
        remote: String,
        /// The error in the address.
        #[source]
        source: RemoteUrlError,
    },
    /// The remote could not be fetched from.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// The commit may not be served.
    #[error("the commit {commit} is not trusted: {refusal}")]
    Refused {
        /// The commit.
        commit: CommitId,
        /// Why.
        refusal: Refusal,
    },
    /// The checkout cannot be moved.
    #[error(transparent)]
    FastForward(#[from] FastForwardError),
    /// Git cannot do it.
    #[error("cannot use the Git repository")]
    Git(#[from] git2::Error),
    /// The `git` program failed.
    #[error("the pull ended early")]
    Io(#[from] io::Error),
}

impl PullError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::NoCheckout { .. } => Some(Setting::Pull),
            Self::Transfer(error) => error.setting(),
            _ => None,
        }
    }
}

/// Pulls a checkout until it is dropped.
#[derive(Debug)]
pub struct Puller {
    rounds: Rounds,
}

impl Puller {
    /// Starts to pull, immediately and then as scheduled.
    ///
    /// Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// If there is no checkout that could be pulled. A checkout of another user is not an error
    /// here: it is served, and each pull reports how to fix this.
    pub fn start(pulling: Pulling) -> Result<Self, PullError> {
        match Upstream::of(&pulling.table) {
            Ok(_) | Err(PullError::Foreign(_)) => {}
            Err(error) => return Err(error),
        }
        let name = pulling.table.display().to_string();
        let (schedule, observer) = (pulling.fetch.schedule, Arc::clone(&pulling.fetch.observer));
        let round = Arc::new(Pulls(Arc::new(pulling)));
        Ok(Self {
            rounds: Rounds::start(round, name, schedule, observer),
        })
    }

    /// Requests a pull without waiting for it.
    pub fn pull_now(&self) {
        self.rounds.request();
    }

    /// Waits for a pull that begins after this call, and at most one before. Blocks the thread.
    pub fn refresh(&self) {
        self.rounds.wait_for_next();
    }

    /// Returns the last pull, if one has ended.
    pub fn last(&self) -> Option<Fetch> {
        self.rounds.progress().last
    }

    /// Returns the time of the last successful pull.
    pub fn last_success(&self) -> Option<Timestamp> {
        self.rounds.progress().last_success
    }
}

/// The upstream of the current branch.
#[derive(Debug)]
struct Upstream {
    git_dir: PathBuf,
    /// The current branch, in full.
    branch: String,
    url: RemoteUrl,
    /// The remote's branch, in full.
    merge: String,
    /// The reference that records where the remote's branch was last seen, if there is one.
    tracking: Option<String>,
}

impl Upstream {
    fn of(table: &Path) -> Result<Self, PullError> {
        let place = symlinks::follow(table).map(|trail| trail.end);
        let place = place.unwrap_or_else(|_| table.to_owned());
        let directory = place.ancestors().find(|it| it.is_dir()).unwrap_or(&place);
        let opened = work_tree::git_dir(directory).and_then(Repository::open);
        let repository = opened.map_err(|error| {
            let path = table.to_owned();
            match error.code() {
                ErrorCode::NotFound => PullError::NoCheckout { path },
                ErrorCode::Owner => PullError::Foreign(ForeignRepository::around(directory)),
                _ => PullError::Git(error),
            }
        })?;
        let Some(work_dir) = repository.workdir() else {
            return Err(PullError::NoCheckout {
                path: table.to_owned(),
            });
        };
        let head = repository.find_reference("HEAD")?;
        let branch = head.symbolic_target()?.ok_or(PullError::Detached)?;
        let unknown = || PullError::NoUpstream {
            branch: branch
                .strip_prefix("refs/heads/")
                .unwrap_or(branch)
                .to_owned(),
        };
        let text = |buffer: Result<git2::Buf, git2::Error>| {
            let text = buffer.ok()?.as_str().ok()?.to_owned();
            Some(text)
        };
        let name = text(repository.branch_upstream_remote(branch)).ok_or_else(unknown)?;
        let merge = text(repository.branch_upstream_merge(branch)).ok_or_else(unknown)?;
        let remote = repository.find_remote(&name).map_err(|_| unknown())?;
        let mut address = remote.url()?.to_owned();
        // Git resolves a relative path from the checkout, not from the directory of a command.
        if address.starts_with('.') {
            address = work_dir.join(address).to_string_lossy().into_owned();
        }
        let tracking = (remote.refspecs())
            .filter(|spec| spec.direction() == Direction::Fetch && spec.src_matches(&merge))
            .find_map(|spec| text(spec.transform(&merge)));
        Ok(Self {
            git_dir: repository.path().to_owned(),
            branch: branch.to_owned(),
            url: RemoteUrl::parse(&address).map_err(|source| PullError::Address {
                remote: name,
                source,
            })?,
            merge,
            tracking,
        })
    }

    /// Moves the checkout to the fetched commit.
    fn advance(&self, tip: CommitId, verifier: &dyn Verify) -> Result<bool, PullError> {
        let repository = Repository::open(&self.git_dir)?;
        let current = repository.refname_to_id(&self.branch)?;
        if current != tip.0 && !repository.graph_descendant_of(current, tip.0)? {
            verifier
                .verify(&repository, tip)
                .map_err(|refusal| PullError::Refused {
                    commit: tip,
                    refusal,
                })?;
        }
        if let Some(tracking) = &self.tracking {
            // Only informs people; another fetch may be recording the same commit now.
            let _ = repository.reference(tracking, tip.0, true, "fetch");
        }
        Ok(fast_forward(&repository, &self.branch, tip.0)?)
    }
}

/// The rounds of a puller.
struct Pulls(Arc<Pulling>);

impl Round for Pulls {
    async fn run(&self) -> RoundEnd {
        let mut tip = None;
        let (result, error, setting) = match self.attempt(&mut tip).await {
            Ok(true) => (FetchResult::Updated, None, None),
            Ok(false) => (FetchResult::Unchanged, None, None),
            Err(error) => (result_of(&error), Some(chain(&error)), error.setting()),
        };
        RoundEnd {
            result,
            tip,
            // A checkout always has one.
            keeps_commit: true,
            error,
            setting,
        }
    }
}

impl Pulls {
    async fn attempt(&self, seen: &mut Option<CommitId>) -> Result<bool, PullError> {
        let pulling = Arc::clone(&self.0);
        let upstream = blocking(move || Upstream::of(&pulling.table)).await?;
        let upstream = Arc::new(upstream);
        let wanted = Wanted::of(Some(&upstream.merge));
        let fetch = &self.0.fetch;
        let Tip { commit, .. } = (fetch.transfer)
            .run(
                &upstream.git_dir,
                CloneTarget::Shared,
                &upstream.url,
                wanted,
                &fetch.credentials,
            )
            .await?;
        *seen = Some(commit);

        let mut waited = Duration::ZERO;
        loop {
            let (upstream, verifier) = (Arc::clone(&upstream), Arc::clone(&fetch.verifier));
            match blocking(move || upstream.advance(commit, &*verifier)).await {
                Err(PullError::FastForward(FastForwardError::Locked { .. }))
                    if waited < LOCK_TIMEOUT =>
                {
                    sleep(STEP).await;
                    waited += STEP;
                }
                ended => return ended,
            }
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PullError> + Send + 'static,
) -> Result<T, PullError> {
    match spawn_blocking(work).await {
        Ok(ended) => ended,
        Err(error) => Err(io::Error::other(error).into()),
    }
}

fn result_of(error: &PullError) -> FetchResult {
    match error {
        PullError::Transfer(TransferError::TimedOut(_)) => FetchResult::TimedOut,
        PullError::Refused { .. } => FetchResult::Refused,
        _ => FetchResult::Failed,
    }
}
