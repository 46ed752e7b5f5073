//! Everything about Git: remotes and their credentials, commits and their content, signatures, work
//! trees, and pushes.
//!
//! The files next to the folders are shared by them: work trees and fast-forwarding them, symbolic
//! links, the output of child processes, headers of objects, and how libgit2 starts.
//!
//! # Invariants
//!
//! - Nothing here knows what a table is, only bytes at paths.
//! - A fetch can hang, crash or be killed anywhere, so everything that a remote can delay runs in a
//!   process of its own, whose memory, disk and time are bounded; each call returns within bounded
//!   time (docs/decisions/0004).
//! - No error, log or report shows a credential.

mod branch;
mod captured;
mod commit_id;
mod damage;
mod error_chain;
mod fast_forward;
mod foreign_repository;
mod hex;
mod history;
mod object_header;
mod objects;
mod packs;
mod parallel;
mod random;
mod regular;
mod secrets;
mod setting;
mod signatures;
mod ssh_patterns;
pub(crate) mod symlinks;
#[cfg(test)]
mod testing;
mod transport;
mod unwinding;
mod wire;
mod without_authorities;
pub(crate) mod work_tree;

pub(crate) use branch::ReceivedAs;
pub use branch::{
    GitProgram, GitProgramError, RemoteBranch, RemoteBranchError, SeenBranch, UnpushedCommit,
};
pub(crate) use commit_id::SHORT;
pub use commit_id::{CommitId, CommitIdError};
pub(crate) use damage::is_damage;
pub use error_chain::chain;
pub use fast_forward::FastForwardError;
pub(crate) use fast_forward::fast_forward;
pub use foreign_repository::ForeignRepository;
pub(crate) use hex::hex;
pub use history::{
    ContentId, FoundFile, HistoryStep, LocalRepository, NameFilter, PastReader, RepositoryError,
    RevPath, TreeError, TreeFile, TreePath, Version, each_file,
};
pub(crate) use objects::{FileChange, NewCommit, id_of};
pub(crate) use packs::{
    PackError, PackedBlobs, RepackOrder, Repacked, install, may_be_due, pack_names,
};
pub(crate) use parallel::in_parallel;
pub use random::random;
pub use regular::{open_regular, read_regular};
pub(crate) use secrets::masked;
pub use secrets::{CredentialsError, Secret, SecretText, is_exposed, redact, secrets_in_address};
pub use setting::Setting;
pub use signatures::{
    AllowedSigners, Anyone, KeyError, Refusal, Signer, SignerLineError, SignersError, Verify,
};
pub(crate) use symlinks::{Symlink, Trail};
pub(crate) use transport::Transport;
pub(crate) use transport::{CloneRecord, CloneTarget, SECRET_VARIABLES, StateDir, Tip, Wanted};
pub use transport::{
    Credentials, Pushed, RemoteUrl, RemoteUrlError, StateError, Transfer, TransferError,
    TransferTimeout, run_transfer,
};
pub(crate) use wire::has_git_program;
pub use without_authorities::start_without_authorities;
