//! Adding new objects to a clone, as one pack.
//!
//! Compressing a large file takes longer than everything else that a commit of a few lines needs. So
//! the pack has the file's previous version as it is stored in the clone, and the delta to the new one.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use git2::{ObjectType, Oid};

use super::delta::{Delta, MAX_STEPS};
use super::entry::{deflate, deflate_fast};
use super::local_packs::{LocalPacks, RootedEntry};
use super::pack_error::PackError;
use super::pack_writer::{CompressedBytes, Durability, NewPackEntry, StoredPack, write_pack};
use crate::git::parallel::in_parallel;

/// The smallest object that is stored as a delta: smaller ones are compressed in less time than the
/// indexes of packs are read.
const MIN_DELTA: usize = 64 << 10;

/// An object that is in no repository yet.
pub(crate) struct AddedObject<'o> {
    pub(crate) id: Oid,
    pub(crate) kind: ObjectType,
    pub(crate) bytes: &'o [u8],
    /// An object, and the delta from it to this one, if that is known and small.
    pub(crate) delta: Option<(Oid, &'o [u8])>,
}

/// An object of the clone that is stored whole, and the delta from it to a new one.
struct RootedDelta {
    root: RootedEntry,
    bytes: Vec<u8>,
}

/// Writes objects into the directory of packs, where they appear in one step, through temporary files
/// `aside`. The pack is self-contained.
///
/// # Errors
///
/// If they cannot be written.
pub(crate) fn add_objects(
    objects: &[AddedObject<'_>],
    directory: &Path,
    aside: &Path,
) -> Result<StoredPack, PackError> {
    let (local, deltas) = match deltas(objects, directory) {
        // Without its previous version, an object is written whole: other reads report the damage.
        Err(PackError::Damaged(_)) => (LocalPacks::open(directory, &[])?, HashMap::new()),
        found => found?,
    };
    let entries = entries(objects, &local, deltas)?;
    Ok(write_pack(aside, &entries, Durability::Buffered)?.install()?)
}

/// Returns the deltas to large objects, and the packs that have their previous versions: none are opened
/// if no object is large, or there are too many.
fn deltas(
    objects: &[AddedObject<'_>],
    directory: &Path,
) -> Result<(LocalPacks, HashMap<Oid, RootedDelta>), PackError> {
    let large = objects.iter().filter(|it| it.bytes.len() >= MIN_DELTA);
    let large: Vec<_> = large.filter_map(|it| Some((it, it.delta?))).collect();
    let local = match large.is_empty() {
        true => None,
        false => LocalPacks::open_few(directory)?,
    };
    let mut deltas = HashMap::new();
    let Some(local) = local else {
        return Ok((LocalPacks::open(directory, &[])?, deltas));
    };
    for (object, delta) in large {
        let delta = match rooted(&local, object, delta) {
            Err(PackError::TooLarge(_)) => None,
            rooted => rooted?,
        };
        deltas.extend(delta.map(|delta| (object.id, delta)));
    }
    Ok((local, deltas))
}

/// Returns the delta to a new object from one that is stored whole, if it is small, given the delta from
/// its previous version.
///
/// # Errors
///
/// If a pack is damaged, or the deltas in between are too large or take too many steps.
fn rooted(
    local: &LocalPacks,
    object: &AddedObject<'_>,
    (base, bytes): (Oid, &[u8]),
) -> Result<Option<RootedDelta>, PackError> {
    let Some((_, stored)) = local.best(base)? else {
        return Ok(None);
    };
    let max = 2 * object.bytes.len() as u64;
    let root = local.root_within(base, stored, max, MAX_STEPS)?;
    let bytes = match &root.delta {
        None => bytes.to_vec(),
        Some(first) => {
            let last = Delta::parse(bytes, max)?;
            first.then_within(&last, MAX_STEPS)?.to_bytes()
        }
    };
    Ok((bytes.len() <= object.bytes.len() / 2).then_some(RootedDelta { root, bytes }))
}

/// Returns the entries of a pack, previous versions before the deltas to new ones.
fn entries<'p>(
    objects: &[AddedObject<'_>],
    local: &'p LocalPacks,
    deltas: HashMap<Oid, RootedDelta>,
) -> Result<Vec<NewPackEntry<'p>>, PackError> {
    let added: HashSet<Oid> = objects.iter().map(|object| object.id).collect();
    let mut written = HashSet::new();
    let mut entries = Vec::new();
    // An object that becomes what it was before is not a delta to itself.
    let deltas: HashMap<_, _> = (deltas.into_iter())
        .filter(|(_, delta)| !added.contains(&delta.root.id))
        .collect();
    for RootedDelta { root, .. } in deltas.values() {
        if written.insert(root.id) {
            entries.push(NewPackEntry {
                id: root.id,
                kind: root.kind(),
                base: None,
                size: root.stored.head.size,
                content: CompressedBytes::Stored(
                    local.file_of(&root.stored),
                    root.stored.compressed.clone(),
                ),
            });
        }
    }
    let objects: Vec<_> = (objects.iter())
        .filter(|object| written.insert(object.id))
        .collect();
    let new = in_parallel(&objects, |object| -> Result<_, PackError> {
        let (base, size, bytes) = match deltas.get(&object.id) {
            Some(delta) => (
                Some(delta.root.id),
                delta.bytes.len(),
                deflate(&delta.bytes)?,
            ),
            // As fast as possible: it is soon packed again.
            None => (None, object.bytes.len(), deflate_fast(object.bytes)?),
        };
        Ok(NewPackEntry {
            id: object.id,
            kind: object.kind,
            base,
            size: size as u64,
            content: CompressedBytes::Bytes(bytes),
        })
    });
    for entry in new {
        entries.push(entry?);
    }
    Ok(entries)
}
