//! Importing: links from another form, as one change.

mod bulk;
mod intake;
mod sieve;

pub use bulk::{Import, Imported, import_into_files};
pub use intake::Intake;
