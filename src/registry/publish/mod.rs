//! Publishes a change: to files under a lock, as a commit of a checkout, or on a remote's branch by
//! compare-and-swap.

mod backoff;
mod branch;
mod checkout;
mod checkout_branch;
mod checkout_error;
mod clone_branch;
mod commit;
mod edit;
mod identity;
mod local;
mod on_branch;
mod publish_error;
mod registration;
mod review;
mod table_change;
mod writer_lock;

pub(crate) use branch::publish_known;
pub use branch::{Branch, BranchTip, Published, TablePath, publish};
pub use checkout::UserCheckout;
pub use checkout_branch::CheckoutBranch;
pub use checkout_error::CheckoutError;
pub use clone_branch::CloneBranch;
pub use edit::Edit;
pub use identity::{CommitIdentity, IdentityError};
pub use local::LocalError;
pub(crate) use local::{change_in_files, create_in_files};
pub(in crate::registry) use on_branch::NotPublished;
pub(crate) use on_branch::change_on_branch;
pub use publish_error::PublishError;
pub use registration::{OnlineError, RegistrationRun, register_in_files, register_on_branch};
pub use review::{NewBranch, NewBranchError, review_address, web_address};
pub(crate) use table_change::{ChangeRun, TableChange};
