//! Cutting a file into pieces, so that only the changed parts of a later version are read.

mod batches;
mod cut;
mod cut_check;
#[cfg(test)]
mod cut_texts;
mod cutter;
mod gaps;
mod recut;
mod table_file;
pub(super) mod text;
mod window;

pub(crate) use batches::{Batch, Batches, CutBatches};
pub use cut::Cut;
pub(crate) use cut::{CutList, CutPiece};
pub use cut_check::CutCheck;
pub use cutter::Cutter;
pub(crate) use cutter::MAX_NEW;
pub(crate) use gaps::Gaps;
pub use table_file::{FileText, TableFile};
pub use window::ListPlace;
