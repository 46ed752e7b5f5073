//! Publishes a change: to files, a commit of a checkout, or a branch of a remote.

mod backoff;
mod branch;
mod checkout;
mod checkout_branch;
mod clone_branch;
mod commit;
mod local;
mod online;
mod registrar;
mod review;
mod writer_lock;

pub use branch::{Branch, BranchTip, Edit, PublishError, Published, TablePath, publish};
pub use checkout::{CheckoutError, UserCheckout};
pub use checkout_branch::CheckoutBranch;
pub use clone_branch::CloneBranch;
pub use commit::{CommitIdentity, IdentityError};
pub use local::{LocalError, register_in_files};
pub(crate) use local::{lock, undone, write};
pub use online::{OnlineError, register_on_branch};
pub use registrar::{CommittedTable, PublishedGroup, Registrar, RegistrarError, Submission};
pub use review::{NewBranch, NewBranchError, review_address};
