//! From bytes to nodes and typed values, with their positions and every problem found.
//!
//! A fast reader handles the form of most tables, and a YAML parser all others; that form is also
//! cut into pieces, so that only the changed parts of a later version are read.

mod batches;
pub(super) mod block;
mod block_line;
mod cut;
mod cut_check;
#[cfg(test)]
mod cut_texts;
mod cutter;
mod gaps;
pub(super) mod lookalike;
mod node;
mod reader;
mod recut;
mod report;
mod stop;
mod table_file;
pub(super) mod text;
mod values;
mod window;
pub(super) mod yaml;

pub(crate) use batches::{Batch, Batches, CutBatches};
pub use cut::Cut;
pub(crate) use cut::CutPiece;
pub use cut_check::CutCheck;
pub use cutter::Cutter;
pub(crate) use cutter::MAX_NEW;
pub(crate) use node::{Located, Node};
pub(crate) use reader::{Reader, SeenKeys};
pub(crate) use report::Report;
pub(crate) use stop::{Declined, Stop};
pub use table_file::{FileText, TableFile};
pub use window::ListPlace;
