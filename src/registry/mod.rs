//! Registering links: from a wish to the changed text of a table.
//!
//! Everything that is decided is decided by a pure function of the table's files, so that whoever
//! lost a race for the table can decide again on what it is now. Writing to files stands apart.
//! Invariants: a registration adds one entry and changes nothing else, an import several; whatever is refused changes
//! nothing at all.

mod bulk;
mod choice;
mod intake;
mod local;
mod proof;
mod refusal;
mod register;
mod spot;
mod wish;

pub use bulk::{Import, Imported, import_into_files};
pub use intake::Intake;
pub use local::{LocalError, register_in_files};
pub use refusal::{Holder, Refusal};
pub use register::{Registration, register};
pub use wish::{Destination, Wish, WishedCode};
