//! A table in files: listed, read consistently, and watched; with the checkout around
//! it, which says what commit it is, and where in the repository (`repository_place`).

mod events;
mod inspect;
mod read;
pub(super) mod replace;

pub use events::{Rests, Watch, Writers};
pub use inspect::{FilesError, Inspection, RepositoryPlace};
pub use read::{
    Earlier, FileSource, FileState, Fingerprint, Reading, Revision, StoredFile, has_content,
    was_written,
};
pub(super) use read::{SMALL, STEP};
pub(crate) use read::{Threads, content_hash, kept};
pub use replace::{create, create_with, replace, replace_with};
