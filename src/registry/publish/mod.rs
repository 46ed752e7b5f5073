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

pub use branch::{Branch, Edit, PublishError, Published, TablePath, publish};
pub use checkout::{Checkout, CheckoutError};
pub use checkout_branch::CheckoutBranch;
pub use clone_branch::Remote;
pub use commit::{Identity, IdentityError};
pub use local::{LocalError, register_in_files};
pub(crate) use local::{lock, undone, write};
pub use online::register_on_branch;
pub use registrar::{Application, Decided, Registrar, RegistrarError};
pub use review::{NewBranch, NewBranchError, review_address};
