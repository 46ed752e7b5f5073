//! Registering links: from a wish to the changed text of a table.
//!
//! Everything that is decided is decided by a pure function of the table's files, so that whoever
//! lost a race for the table can decide again on what it is now. Writing to files stands apart.
//! Invariants: a registration adds one entry and changes nothing else, an import several; whatever
//! is refused changes nothing at all.

mod backoff;
mod batch;
mod bulk;
mod checkout;
mod checkout_branch;
mod choice;
mod commit;
mod draft;
mod drafts;
mod intake;
mod local;
mod online;
mod proof;
mod publish;
mod refusal;
mod register;
mod registrar;
mod remote;
mod review;
mod sieve;
mod spot;
mod turn;
mod wish;

pub use batch::{Batch, Registered, register_all};
pub use bulk::{Import, Imported, import_into_files};
pub use checkout::{Checkout, CheckoutError};
pub use checkout_branch::CheckoutBranch;
pub use commit::{Identity, IdentityError};
pub use intake::Intake;
pub use local::{LocalError, register_in_files};
pub use online::register_on_branch;
pub use publish::{Branch, Edit, PublishError, Published, TablePath, publish};
pub use refusal::{Holder, Refusal};
pub use register::{Registration, register};
pub use registrar::{Application, Decided, Registrar, RegistrarError};
pub use remote::Remote;
pub use review::{NewBranch, NewBranchError, review_address};
pub use wish::{Destination, MayShadow, Wish, WishedCode};
