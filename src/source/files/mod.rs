//! A table in files: listed, read consistently, and watched; with the checkout around
//! it, which says what commit it is, and where in the repository (`repository_place`).

mod checkout;
mod committed_tree;
mod earlier;
mod error;
mod file_record;
mod fingerprint;
mod inspection;
mod listing;
mod locks;
mod pass;
mod places;
mod reading;
pub(super) mod replace;
mod repository_place;
mod revision;
mod settling;
mod steps;
mod stored;
mod threads;
mod trails;
mod watch;
mod writers;

pub use earlier::Earlier;
pub use error::FilesError;
pub(crate) use file_record::kept;
pub use fingerprint::Fingerprint;
pub use inspection::Inspection;
pub(super) use pass::SMALL;
pub use reading::{FileSource, Reading};
pub use replace::{create, create_with, replace, replace_with};
pub use repository_place::RepositoryPlace;
pub use revision::Revision;
pub(crate) use revision::content_hash;
pub use settling::Rests;
pub(super) use steps::STEP;
pub use stored::{FileState, StoredFile, has_content, was_written};
pub(crate) use threads::Threads;
pub use watch::Watch;
pub use writers::Writers;
