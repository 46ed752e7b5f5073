//! Merging of two changed versions of a document by meaning.
//!
//! Each version is split into items, which are matched by code; the merged result is read again
//! from scratch, and is accepted only if nothing was lost or invented. Whatever cannot be merged in
//! this way is merged by lines, as git does without a driver. Invariant: no line of either side is
//! dropped unless the other side removed it; in doubt, it is a conflict.

mod account;
mod around;
mod by_meaning;
mod entry;
mod envelope;
mod fallback;
mod indentation;
mod items;
mod merged;
mod order;
mod parts;
mod piece;
mod placed;
mod retargeted;
mod shared_codes;
mod sides;
mod text;

pub use by_meaning::merge;
pub use merged::{Conflict, MergeError, Merged, NotByMeaning};
