//! A writable branch of a remote; and the `git` program, for what libgit2 does differently.

mod program;
mod remote_branch;

pub use program::{GitProgram, GitProgramError};
pub use remote_branch::{RemoteBranch, RemoteBranchError, SeenBranch};
