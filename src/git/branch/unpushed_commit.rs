//! A commit that was made, and how its objects get to the remote.

use crate::git::commit_id::CommitId;
use crate::git::objects::WholePack;
use crate::git::packs::StoredPack;

/// A commit that the remote does not have. It is in the clone, or gets there while it is pushed.
pub struct UnpushedCommit {
    pub(super) id: CommitId,
    pub(super) objects: UnpushedObjects,
}

/// How a remote gets the objects that it lacks.
pub(super) enum UnpushedObjects {
    /// They are determined when the commit is pushed.
    Unknown,
    /// The pack of the clone that has them is copied to a repository on this machine.
    Copied(StoredPack),
    /// They are sent to a repository on this machine.
    Sent(UnpushedPack),
}

/// The objects that are sent to a repository on this machine.
pub(super) enum UnpushedPack {
    /// They are in the clone.
    Thin(Vec<u8>),
    /// They are written to the clone while they are sent.
    Whole(WholePack),
}

impl UnpushedCommit {
    pub(crate) fn id(&self) -> CommitId {
        self.id
    }
}

/// Takes any commit of the clone; the objects that the remote lacks are determined when it is
/// pushed.
impl From<CommitId> for UnpushedCommit {
    fn from(id: CommitId) -> Self {
        let objects = UnpushedObjects::Unknown;
        Self { id, objects }
    }
}
