//! Fetching the followed reference in rounds: into the current clone, or into a fresh one
//! beside it when that is damaged.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::task::spawn_blocking;

use super::current_clone::{CommitTable, CurrentClone};
use super::remote_error::RemoteError;
use super::report::FetchResult;
use super::rounds::{Round, RoundEnd};
use crate::git::{CloneTarget, CommitId, StateDir, StateError, TransferError, Wanted, chain};

/// The rounds of a follower.
pub(crate) struct Fetches(pub(crate) Arc<CurrentClone>);

impl Round for Fetches {
    async fn run(&self) -> RoundEnd {
        let _turn = self.0.turn.lock().await;
        let mut tip = None;
        let result = self.attempt(&mut tip).await;
        let core = Arc::clone(&self.0);
        // If this fails, the next round cleans up.
        let _ = spawn_blocking(move || core.sweep()).await;
        let (result, error, setting) = match result {
            Ok(result) => (result, None, None),
            Err(error) => (result_of(&error), Some(chain(&error)), error.setting()),
        };
        let keeps_commit = error.is_none() || self.0.usable_clone().is_some();
        RoundEnd {
            result,
            tip,
            keeps_commit,
            error,
            setting,
        }
    }
}

impl Fetches {
    async fn attempt(&self, seen: &mut Option<CommitId>) -> Result<FetchResult, RemoteError> {
        let core = &self.0;
        let usable = core.usable_clone();
        if let Some(clone) = usable {
            match self.fetch_into(clone, seen).await {
                Err(error) if error.is_damage() => {
                    tracing::warn!(
                        error = chain(&error),
                        "the clone is damaged, creating a new one"
                    );
                }
                ended => return ended,
            }
        }
        let fresh = self.fetch_into(StateDir::new_clone(), seen).await?;
        core.damaged.store(false, Ordering::SeqCst);
        Ok(fresh)
    }

    async fn fetch_into(
        &self,
        clone: String,
        seen: &mut Option<CommitId>,
    ) -> Result<FetchResult, RemoteError> {
        let core = Arc::clone(&self.0);
        let options = &core.options;
        let path = core.state.clone_path(&clone);
        let wanted = Wanted::of(options.reference.as_deref());
        let fetch = &options.fetch;
        let tip = (fetch.transfer)
            .run(
                &path,
                CloneTarget::OwnClone,
                &options.remote,
                wanted,
                &fetch.credentials,
            )
            .await?;
        *seen = Some(tip.commit);
        let adopting = Arc::clone(&core);
        match spawn_blocking(move || adopting.adopt(&clone, &tip, CommitTable::Unknown)).await {
            Ok(adopted) => adopted,
            Err(error) => Err(StateError::Unwritable {
                path,
                source: io::Error::other(error),
            }
            .into()),
        }
    }
}

fn result_of(error: &RemoteError) -> FetchResult {
    match error {
        RemoteError::Transfer(TransferError::TimedOut(_)) => FetchResult::TimedOut,
        RemoteError::Refused { .. } => FetchResult::Refused,
        _ => FetchResult::Failed,
    }
}
