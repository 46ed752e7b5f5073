//! Forges: the web pages of a repository where files are shown, and changes proposed.
//!
//! Only addresses are built here; whether a page exists, and who may use it, is the forge's concern.

mod host;
mod issue_form;
mod pages;

pub use host::Forge;
pub use issue_form::{ISSUE_FORMS, IssueFields};
pub use pages::{MAX_ADDRESS_BYTES, RepositoryPages};
