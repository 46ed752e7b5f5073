//! A writable branch of a remote; and the `git` program, for what libgit2 does differently.

mod plain_repository;
mod program;
mod program_error;
mod receive_pack;
mod remote_branch;
mod remote_branch_error;
mod started_process;
mod unpushed_commit;
mod update_ref;

pub use program::GitProgram;
pub use program_error::GitProgramError;
pub(crate) use receive_pack::ReceivedAs;
pub use remote_branch::{RemoteBranch, SeenBranch};
pub use remote_branch_error::RemoteBranchError;
pub use unpushed_commit::UnpushedCommit;
