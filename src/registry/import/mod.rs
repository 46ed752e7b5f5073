//! Imports links from another format, as one change.

mod bulk;
mod site_intake;

pub use bulk::{Import, Imported, import_into_files};
pub use site_intake::SiteIntake;
