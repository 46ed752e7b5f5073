//! Where table text comes from: files, Git checkouts, remote repositories, and the watching
//! of them.
//!
//! Invariants: nothing here knows what a table means, or who serves it. A table is handed out
//! whole or not at all: never half of a file that is being written, never files of two states of
//! a checkout. Every call returns within bounded time.

mod address;
mod captured;
mod checkout;
mod committed;
mod committed_error;
mod credentials;
mod error;
mod fast_forward;
mod fetch;
mod fetch_options;
mod fetches;
mod files;
mod fingerprint;
mod git_program;
mod held;
mod history;
mod known_hosts;
mod links;
mod locks;
mod merge_setup;
mod places;
mod pull;
mod push;
mod reading;
mod remote;
mod remote_branch;
mod replace;
mod report;
mod rev_path;
mod revision;
mod rounds;
mod schedule;
mod secret;
mod session;
mod signature;
mod signer_line;
mod signer_options;
mod signers;
mod state;
mod transfer;
mod tree;
mod tree_path;
mod turn;
mod verify;
mod wanted;
mod watch;
mod work_tree;
mod worker;

pub use address::{RemoteUrl, RemoteUrlError};
pub use committed::{CommitId, Committed, Version};
pub use committed_error::CommittedError;
pub use credentials::Credentials;
pub use error::SourceError;
pub use fast_forward::FastForwardError;
pub use fetch_options::FetchOptions;
pub use fingerprint::Fingerprint;
pub use git_program::{GitProgram, GitProgramError};
pub use history::Step;
pub use merge_setup::{MergeSetup, MergeSetupError};
pub use pull::{PullError, Puller, Pulling};
pub use push::Pushed;
pub use reading::{FileSource, Reading};
pub use remote::{Follower, Following, RemoteError};
pub use remote_branch::{RemoteBranch, RemoteBranchError, Seen};
pub use replace::{create, replace};
pub use report::{CommitInfo, Fetch, FetchResult, RemoteStatus};
pub use rev_path::RevPath;
pub use revision::Revision;
pub use rounds::Observer;
pub use schedule::{Schedule, chance};
pub use secret::{CredentialsError, Secret, SecretText, is_exposed};
pub use signer_line::SignerLineError;
pub use signers::{AllowedSigners, Signer, SignersError};
pub use state::StateError;
pub use transfer::{Transfer, TransferError};
pub use tree::{TreeError, read_table};
pub use tree_path::TreePath;
pub use turn::Turn;
pub use verify::{Anyone, Refusal, Verify};
pub use watch::Watch;
pub use worker::run_transfer;
