//! A table in files: listed, read so that nothing is torn, and watched.

mod checkout;
mod error;
mod fingerprint;
mod inspection;
mod listing;
mod locks;
mod places;
mod reading;
pub(super) mod replace;
mod repository_place;
mod revision;
mod settling;
mod trails;
mod watch;
mod writers;

pub use error::FilesError;
pub use fingerprint::Fingerprint;
pub use inspection::Inspection;
pub use reading::{FileSource, Reading};
pub use replace::{create, replace};
pub use repository_place::RepositoryPlace;
pub use revision::Revision;
pub(crate) use revision::content_hash;
pub use settling::Rests;
pub use watch::Watch;
pub use writers::Writers;
