//! Keeping the clone small: its packs are merged in the background, by a process of low priority.
//!
//! Invariant: fetches, registrations and readers never wait for that process. They only wait while
//! its pack replaces others, which takes some milliseconds.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;
use tracing::{debug, warn};

use super::current_clone::CurrentClone;
use super::remote_error::RemoteError;
use crate::git::{
    PackError, RepackOrder, Repacked, StateError, chain, install, may_be_due, pack_names,
};

/// The shortest time between two checks of the packs.
const PAUSE: Duration = Duration::from_millis(200);

/// Merges packs until it is dropped.
#[derive(Debug)]
pub(crate) struct Housekeeping(JoinHandle<()>);

impl Housekeeping {
    /// Begins. Must be called within a Tokio runtime.
    pub(crate) fn start(core: Arc<CurrentClone>) -> Self {
        Self(tokio::spawn(async move {
            let mut known = None;
            loop {
                core.grown.notified().await;
                match merge(&core, &mut known).await {
                    Ok(merged) => debug!(merged, "looked at the packs of the clone"),
                    Err(error) => {
                        warn!(error = chain(&error), "cannot merge the packs of the clone");
                        // Another clone may have replaced it meanwhile.
                        if error.is_damage() && core.usable_clone() == known {
                            core.distrust();
                        }
                    }
                }
                sleep(PAUSE).await;
            }
        }))
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Merges the packs of the current clone if that saves enough. Returns whether it did.
async fn merge(core: &Arc<CurrentClone>, known: &mut Option<String>) -> Result<bool, RemoteError> {
    let before = known.clone();
    let ordered = in_a_turn(core, move |core| core.repack_order(before.as_deref())).await?;
    let Some((clone, order)) = ordered else {
        return Ok(false);
    };
    *known = Some(clone.clone());
    let path = core.state.clone_path(&clone);
    let transfer = &core.options.fetch.transfer;
    let Some(repacked) = transfer.repack(&path, order.clone()).await? else {
        return Ok(false);
    };
    in_a_turn(core, move |core| core.install(&clone, &order, &repacked)).await
}

/// Runs a function while nothing else writes to the clone.
async fn in_a_turn<T: Send + 'static>(
    core: &Arc<CurrentClone>,
    work: impl FnOnce(&CurrentClone) -> Result<T, RemoteError> + Send + 'static,
) -> Result<T, RemoteError> {
    let _turn = core.turn.lock().await;
    let blocking = Arc::clone(core);
    match spawn_blocking(move || work(&blocking)).await {
        Ok(ended) => ended,
        Err(error) => Err(StateError::Unwritable {
            path: core.state.path().to_owned(),
            source: io::Error::other(error),
        }
        .into()),
    }
}

impl CurrentClone {
    /// Returns the current clone with its packs, and the objects to keep, if merging may save
    /// space. A clone that is not the known one may have more objects than needed.
    fn repack_order(
        &self,
        known: Option<&str>,
    ) -> Result<Option<(String, RepackOrder)>, RemoteError> {
        let Some(clone) = self.usable_clone() else {
            return Ok(None);
        };
        let path = self.state.clone_path(&clone);
        let directory = path.join("objects/pack");
        let found = pack_names(&directory).and_then(|packs| {
            let is_due = known != Some(&*clone) || may_be_due(&directory, &packs)?;
            Ok(is_due.then_some(packs))
        });
        let Some(packs) = found.map_err(|error| merging(&path, error.into()))? else {
            return Ok(None);
        };
        let roots = self.roots(&clone)?.into_iter().map(|id| id.to_string());
        Ok(Some((
            clone,
            RepackOrder {
                packs,
                roots: roots.collect(),
                max: self.options.fetch.transfer.max_bytes,
            },
        )))
    }

    /// Replaces packs with a merged one, if the clone is still the current one.
    fn install(
        &self,
        clone: &str,
        order: &RepackOrder,
        repacked: &Repacked,
    ) -> Result<bool, RemoteError> {
        if self.usable_clone().as_deref() != Some(clone) {
            return Ok(false);
        }
        let path = self.state.clone_path(clone);
        let installed = install(&path, order, repacked, &self.roots(clone)?);
        installed.map_err(|error| merging(&path, error))
    }

    /// Returns the objects from which all needed objects of a clone are reachable.
    fn roots(&self, clone: &str) -> Result<Vec<git2::Oid>, RemoteError> {
        let repository = self.repository(clone)?;
        let path = self.state.clone_path(clone);
        let clone_error = |source| RemoteError::Clone {
            path: path.clone(),
            source,
        };
        let mut roots = Vec::new();
        for reference in repository.references().map_err(clone_error)? {
            roots.extend(reference.map_err(clone_error)?.target());
        }
        let served = self.served();
        if let Some(record) = &served.record {
            roots.extend(
                [record.commit]
                    .into_iter()
                    .chain(record.good)
                    .map(git2::Oid::from),
            );
        }
        Ok(roots)
    }
}

fn merging(path: &std::path::Path, error: PackError) -> RemoteError {
    let path = path.to_owned();
    match error {
        PackError::Git(source) => RemoteError::Clone { path, source },
        PackError::Io(source) => StateError::Unwritable { path, source }.into(),
        PackError::Damaged(_) | PackError::Received(_) | PackError::TooLarge(_) => {
            RemoteError::Clone {
                path,
                source: git2::Error::from_str(&error.to_string()),
            }
        }
    }
}
