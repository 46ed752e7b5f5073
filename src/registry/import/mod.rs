//! Imports links from another format, as one change.

mod bulk;
mod intake;

pub use bulk::{Import, Imported, import_into_files};
pub use intake::Intake;
