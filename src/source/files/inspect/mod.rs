//! What a table's paths name at one time: its files and their metadata, the links on the way to them, and
//! the checkout around them, which says what commit it is, and where in the repository.

mod checkout;
mod committed_tree;
mod error;
mod inspection;
mod listing;
mod locks;
mod repository_place;
mod stamp;
mod trails;

pub(in crate::source::files) use checkout::{Checkout, CommitComparison};
pub use error::FilesError;
pub use inspection::Inspection;
pub(in crate::source::files) use inspection::noted;
pub(in crate::source::files) use listing::Listing;
pub(in crate::source::files) use locks::Locks;
pub use repository_place::RepositoryPlace;
pub(in crate::source::files) use stamp::Stamp;
pub(in crate::source::files) use trails::Trails;
