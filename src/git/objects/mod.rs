//! New objects, before they are in a repository: a commit of changed files, and packs of its
//! objects; and the trees that it reads for that.

mod delta;
mod differing_items;
mod new_commit;
mod object;
mod pack;
mod tree;
mod whole_pack;

pub(crate) use differing_items::{DifferingItem, differing_items};
pub(crate) use new_commit::{FileChange, MAX_WHOLE, NewCommit};
pub(crate) use object::id_of;
pub(crate) use tree::{EntryMode, TreeItem};
pub(crate) use whole_pack::WholePack;
