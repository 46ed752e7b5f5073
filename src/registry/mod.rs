//! Registering links: from a wish to the changed text of a table.
//!
//! Everything that is decided is decided by a pure function of the table's files, so that whoever
//! lost a race for the table can decide again on what it is now. Writing to files stands apart.
//! Invariants: a registration adds one entry and changes nothing else, an import several; whatever
//! is refused changes nothing at all.

mod decide;
mod import;
mod publish;
pub use decide::{Batch, Registered, register_all};
pub use decide::{Destination, MayShadow, Wish, WishedCode};
pub use decide::{Holder, Refusal};
pub use decide::{Registration, register};
pub use import::Intake;
pub use import::{Import, Imported, import_into_files};
pub use publish::CheckoutBranch;
pub use publish::Remote;
pub use publish::register_on_branch;
pub use publish::{Application, Decided, Registrar, RegistrarError};
pub use publish::{Branch, Edit, PublishError, Published, TablePath, publish};
pub use publish::{Checkout, CheckoutError};
pub use publish::{Identity, IdentityError};
pub use publish::{LocalError, register_in_files};
pub use publish::{NewBranch, NewBranchError, review_address};
