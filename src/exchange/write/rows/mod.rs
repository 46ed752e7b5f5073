//! What all formats are written from: codes in order, as text and as expressions, and what a format loses.

mod expression;
mod losses;
mod order;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use expression::{folded, matching, matching_any_case};
pub use losses::{Feature, Losses};
pub(crate) use order::{CodeRow, SortedEntries, base_path};
