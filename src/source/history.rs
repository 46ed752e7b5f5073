//! How the commits of a local repository hang together.

use super::{CommitId, Committed, CommittedError};

impl Committed {
    /// Finds the commit at which two lines of work parted.
    ///
    /// # Errors
    ///
    /// If there is none, or a shallow clone does not reach that far.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Result<CommitId, CommittedError> {
        match self.repository.merge_base(one.0, other.0) {
            Ok(id) => Ok(CommitId(id)),
            Err(_) if self.repository.is_shallow() => Err(CommittedError::Shallow { one, other }),
            Err(_) => Err(CommittedError::Unrelated { one, other }),
        }
    }
}
