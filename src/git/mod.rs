//! Everything that speaks Git: remotes and their credentials, commits and their content, signatures,
//! work trees, and pushes.
//!
//! Invariants: nothing here knows what a table is, only bytes at paths; no error, log or report shows
//! a credential; each call returns within bounded time, because what a remote can delay runs in a
//! process of its own.

mod branch;
mod captured;
mod commit_id;
mod damage;
mod error_chain;
mod fast_forward;
mod foreign_repository;
mod history;
mod random;
mod regular;
mod secrets;
mod setting;
mod signatures;
pub(crate) mod symlinks;
mod transport;
pub(crate) mod work_tree;

pub use branch::{GitProgram, GitProgramError, RemoteBranch, RemoteBranchError, SeenBranch};
pub(crate) use commit_id::SHORT;
pub use commit_id::{CommitId, CommitIdError};
pub(crate) use damage::is_damage;
pub use error_chain::chain;
pub use fast_forward::FastForwardError;
pub(crate) use fast_forward::fast_forward;
pub use foreign_repository::ForeignRepository;
pub use history::{
    HistoryStep, LocalRepository, NameFilter, RepositoryError, RevPath, TreeError, TreeFile,
    TreePath, Version, read_files,
};
pub use random::random;
pub use regular::{open_regular, read_regular};
pub(crate) use secrets::masked;
pub use secrets::{CredentialsError, Secret, SecretText, is_exposed, redact, secrets_in_address};
pub use setting::Setting;
pub use signatures::{
    AllowedSigners, Anyone, KeyError, Refusal, Signer, SignerLineError, SignersError, Verify,
};
pub(crate) use symlinks::{Symlink, Trail};
pub(crate) use transport::{CloneRecord, CloneTarget, SECRET_VARIABLES, StateDir, Tip, Wanted};
pub use transport::{
    Credentials, Pushed, RemoteUrl, RemoteUrlError, StateError, Transfer, TransferError,
    run_transfer,
};
