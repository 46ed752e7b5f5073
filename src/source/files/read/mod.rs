//! Reading the files of a table so that they match, except for parts that are already known.

mod earlier;
mod file_record;
mod fingerprint;
mod pass;
mod reading;
mod revision;
mod steps;
mod stored;
mod threads;

pub use earlier::Earlier;
pub(crate) use file_record::kept;
pub use fingerprint::Fingerprint;
pub(in crate::source) use pass::SMALL;
pub use reading::{FileSource, Reading};
pub use revision::Revision;
pub(crate) use revision::content_hash;
pub(in crate::source) use steps::STEP;
pub use stored::{FileState, StoredFile, has_content, was_written};
pub(crate) use threads::Threads;
