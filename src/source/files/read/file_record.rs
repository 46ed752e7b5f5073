//! What is remembered of a file that was read, until the next reading.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::Oid;

use crate::mapping::Cut;
use crate::source::files::inspect::Stamp;

/// The largest text around a list of entries that is kept for the next reading, in bytes.
const MAX_KEPT: usize = 64 << 10;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRecord {
    /// The path by which the table names it.
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    /// Where it was cut, unless that takes too much memory.
    pub(crate) cut: Option<Arc<Cut>>,
    /// The identity of its content in Git, if that was needed.
    pub(crate) blob: Option<Oid>,
}

impl FileRecord {
    pub(crate) fn new(path: &Path, stamp: Stamp, cut: &Arc<Cut>, blob: Option<Oid>) -> Self {
        Self {
            path: path.to_owned(),
            stamp,
            cut: kept(cut),
            blob,
        }
    }
}

/// Returns where a file was cut, if that can be kept until the next reading.
pub(crate) fn kept(cut: &Arc<Cut>) -> Option<Arc<Cut>> {
    // The pieces of a list take one six-hundredth of its text.
    let max = MAX_KEPT as u64 + cut.size() / 256;
    (cut.heap_bytes() as u64 <= max).then(|| Arc::clone(cut))
}
