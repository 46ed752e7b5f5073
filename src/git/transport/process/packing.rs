//! Repacking a clone, in a process of its own with the lowest priority.

use rustix::process::nice;

use super::session::{failure, too_much_memory};
use crate::git::error_chain::chain;
use crate::git::packs::{PackError, RepackOrder, Repacked, repack};
use crate::git::random::random;
use crate::git::transport::orders::{Job, Progress};
use crate::git::transport::remote::TransferFailure;

/// Added to the priority of the process, which then has the lowest one.
const LOWEST: i32 = 19;

/// Repacks a clone.
pub(crate) fn repack_clone(
    job: &Job,
    order: &RepackOrder,
    progress: &Progress,
) -> Result<Option<Repacked>, TransferFailure> {
    // A repacking process receives nothing.
    progress.complete();
    // This is only a courtesy to other processes, and may fail.
    let _ = nice(LOWEST);
    job.bounds.widen().map_err(|error| {
        TransferFailure::new(format!("cannot set the limits of a process: {error}"))
    })?;
    repack(&job.repository, order, random()).map_err(pack_failure)
}

/// Returns the meaning of an error in packs.
pub(crate) fn pack_failure(error: PackError) -> TransferFailure {
    match error {
        PackError::TooLarge(_) => too_much_memory(),
        PackError::Git(error) => failure(&error),
        PackError::Damaged(_) => TransferFailure {
            damage: true,
            ..TransferFailure::new(error.to_string())
        },
        PackError::Received(_) | PackError::Io(_) => TransferFailure::new(chain(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pack_of_the_remote_is_no_damage_here() {
        let here = pack_failure(PackError::Damaged("a short entry"));
        assert!(here.damage);
        let received = pack_failure(PackError::Received("a short entry"));
        assert!(!received.damage);
        let reason = "the remote sent a pack that is damaged: a short entry";
        assert_eq!(received.message, reason);
    }
}
