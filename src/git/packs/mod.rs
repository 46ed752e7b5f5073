//! Pack files (gitformat-pack(5)) of a clone, read and written without inflating unchanged objects.
//!
//! libgit2 compresses each object of a new pack again, also local objects with which it completes a
//! received pack: for a table in one large file, this takes seconds and the space of the whole
//! table for any change. Here, objects are copied as they are stored, and a delta on a delta
//! becomes one delta on an object that is stored whole. Invariant: each pack is self-contained, and
//! its deltas refer to objects before them.

mod addition;
mod blob_stream;
mod complete;
mod delta;
mod entry;
mod local_packs;
mod object_reader;
mod pack_error;
mod pack_file;
mod pack_index;
mod pack_writer;
mod reachable;
mod received;
mod repack;

pub(crate) use addition::{AddedObject, add_objects};
pub(crate) use blob_stream::PackedBlobs;
pub(crate) use complete::complete;
pub(crate) use delta::Delta;
pub(crate) use entry::{EntryKind, deflate_fast};
pub(crate) use local_packs::pack_names;
pub(crate) use object_reader::ObjectReader;
pub(crate) use pack_error::PackError;
pub(crate) use pack_file::PackFile;
pub(crate) use pack_writer::{StoredPack, add_pack};
pub(crate) use received::ReceivedPack;
pub(crate) use repack::{RepackOrder, Repacked, install, may_be_due, repack};
