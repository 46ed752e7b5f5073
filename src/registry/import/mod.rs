//! Imports links from another format, as one change.

mod decide;
mod intake;
mod publish;
mod site_intake;

pub use decide::{ImportDecision, ImportRun};
pub use intake::Intake;
pub use publish::{NewTable, import_in_files, import_in_new_file, import_on_branch};
