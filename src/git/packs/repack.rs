//! Merging the packs of a clone into one that has only the needed objects.
//!
//! A new pack is created next to the old ones, by a process of low priority, and replaces them in a
//! moment: readers that have an old one open keep it, and others look again (libgit2 does).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository};
use serde::{Deserialize, Serialize};

use super::entry::deflate;
use super::local_packs::{LocalPacks, StoredEntry, pack_names};
use super::pack_error::PackError;
use super::pack_writer::{
    CompressedBytes, Durability, INDEX_ASIDE, NewPackEntry, WrittenPack, write_pack,
};
use super::reachable::reachable;
use crate::git::object_header::header;

/// The number of packs above which they are merged.
const MAX_PACKS: usize = 16;

/// The bytes that may be wasted without repacking.
const SLACK: u64 = 1 << 20;

/// The name of a pack that is being made, before random digits.
const ASIDE: &str = "waypost-repack-";

/// Which packs to merge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RepackOrder {
    /// Their names, without the extension.
    pub(crate) packs: Vec<String>,
    /// The ids of the objects to keep, with all objects that they refer to, except parents of
    /// commits.
    pub(crate) roots: Vec<String>,
    /// The maximum size of an object in memory.
    pub(crate) max: u64,
}

/// Returns whether there are so many packs in a directory, or such large ones, that merging them may
/// save enough. Opens none of them.
///
/// # Errors
///
/// If the directory cannot be read.
pub(crate) fn may_be_due(directory: &Path, packs: &[String]) -> io::Result<bool> {
    let mut lengths = Vec::new();
    for name in packs {
        lengths.push(fs::metadata(directory.join(format!("{name}.pack")))?.len());
    }
    let largest = lengths.iter().copied().max().unwrap_or(0);
    let is_wasteful = lengths.iter().sum::<u64>() > largest + largest / 2 + SLACK;
    Ok(is_wasteful || packs.len() > MAX_PACKS)
}

/// A pack that was created to replace others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Repacked {
    aside: PathBuf,
    name: String,
}

/// Merges packs into one, if that saves enough. `suffix` distinguishes its temporary name.
///
/// # Errors
///
/// If a pack is damaged, or the system fails. Nothing is changed by this function.
pub(crate) fn repack(
    clone: &Path,
    order: &RepackOrder,
    suffix: u64,
) -> Result<Option<Repacked>, PackError> {
    let directory = clone.join("objects/pack");
    remove_leftovers(&directory);
    let repository = Repository::open(clone)?;
    let roots = ids(&order.roots)?;
    let needed = reachable(&repository, &roots)?;
    let packs = LocalPacks::open(&directory, &order.packs)?;
    let entries = plan(&packs, &needed, order.max)?;
    let planned: u64 = entries.iter().map(|it| it.content.length() + 16).sum();
    let is_wasteful = packs.total() > planned + planned / 2 + SLACK;
    if !is_wasteful && order.packs.len() <= MAX_PACKS {
        return Ok(None);
    }
    let aside = directory.join(format!("{ASIDE}{suffix:016x}"));
    let name = write_pack(&aside, &entries, Durability::Synced)?.name;
    Ok(Some(Repacked { aside, name }))
}

/// Removes what a killed process has left. One clone is repacked by one process at a time.
fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the entries of a pack with the needed objects, bases before their deltas.
fn plan<'p>(
    packs: &'p LocalPacks,
    needed: &HashSet<Oid>,
    max: u64,
) -> Result<Vec<NewPackEntry<'p>>, PackError> {
    let mut chosen: HashMap<Oid, (u32, StoredEntry)> = HashMap::new();
    let mut whole: HashSet<Oid> = HashSet::new();
    let mut pending: Vec<Oid> = needed.iter().copied().collect();
    while let Some(id) = pending.pop() {
        if chosen.contains_key(&id) {
            continue;
        }
        // Objects that are not in these packs are in a newer one.
        let Some((depth, stored)) = packs.best(id)? else {
            continue;
        };
        if let Some(base) = stored.base {
            match is_worth_its_base(packs, needed, &stored, base)? {
                true => pending.push(base),
                false => {
                    whole.insert(id);
                }
            }
        }
        chosen.insert(id, (depth, stored));
    }
    let mut order: Vec<(Oid, u32, StoredEntry)> = chosen
        .into_iter()
        .map(|(id, (depth, stored))| match whole.contains(&id) {
            true => (id, 0, stored),
            false => (id, depth, stored),
        })
        .collect();
    // A base has a smaller depth than the deltas on it.
    order.sort_unstable_by_key(|(id, depth, stored)| (*depth, stored.compressed.start, *id));
    (order.into_iter())
        .map(|(id, _, stored)| match whole.contains(&id) {
            true => anew(packs, id, stored, max),
            false => copied(packs, id, stored),
        })
        .collect()
}

/// Returns whether a delta and its base together take little more than the base would alone.
fn is_worth_its_base(
    packs: &LocalPacks,
    needed: &HashSet<Oid>,
    delta: &StoredEntry,
    base: Oid,
) -> Result<bool, PackError> {
    if needed.contains(&base) {
        return Ok(true);
    }
    let length = |it: &StoredEntry| it.compressed.end - it.compressed.start;
    let Some((_, stored)) = packs.best(base)? else {
        return Ok(true);
    };
    Ok(stored.base.is_some() || length(delta) <= length(&stored) / 2 + 1024)
}

fn copied(packs: &LocalPacks, id: Oid, stored: StoredEntry) -> Result<NewPackEntry<'_>, PackError> {
    let kind = packs.kind_of(&stored)?;
    Ok(NewPackEntry {
        id,
        kind,
        base: stored.base,
        size: stored.head.size,
        content: CompressedBytes::Stored(packs.file_of(&stored), stored.compressed.clone()),
    })
}

fn anew(
    packs: &LocalPacks,
    id: Oid,
    stored: StoredEntry,
    max: u64,
) -> Result<NewPackEntry<'_>, PackError> {
    let root = packs.root(id, stored, max)?;
    let object = packs.read(&root, max)?;
    if Oid::hash_object(root.kind(), &object)? != id {
        return Err(PackError::Damaged("an object of another id"));
    }
    Ok(NewPackEntry {
        id,
        kind: root.kind(),
        base: None,
        size: object.len() as u64,
        content: CompressedBytes::Bytes(deflate(&object)?),
    })
}

/// Replaces packs with the merged one, unless further objects of them are needed by now. Returns
/// whether it did.
///
/// Nothing else may be written to the clone meanwhile.
///
/// # Errors
///
/// If the clone is damaged, or the system fails.
pub(crate) fn install(
    clone: &Path,
    order: &RepackOrder,
    repacked: &Repacked,
    roots: &[Oid],
) -> Result<bool, PackError> {
    let directory = clone.join("objects/pack");
    let written = WrittenPack::of(repacked.aside.clone(), repacked.name.clone());
    let is_old = |name: &String| order.packs.contains(name);
    let installed = (|| {
        let repository = Repository::open(clone)?;
        let needed = reachable(&repository, roots)?;
        let mut others = pack_names(&directory)?;
        others.retain(|name| !is_old(name));
        let others = LocalPacks::open(&directory, &others)?;
        let made = LocalPacks::open_one(
            &repacked.aside.with_extension("pack"),
            &repacked.aside.with_extension(INDEX_ASIDE),
        )?;
        if !needed.iter().all(|id| made.have(*id) || others.have(*id)) {
            return Ok(false);
        }
        mark_shallow(&repository, &needed, |id| made.have(id) || others.have(id))?;
        written.install()?;
        Ok(true)
    })();
    if !matches!(installed, Ok(true)) {
        written.discard();
        return installed;
    }
    for name in order.packs.iter().filter(|name| **name != repacked.name) {
        // First the file by which the pack is found.
        for extension in ["idx", "pack"] {
            let _ = fs::remove_file(directory.join(format!("{name}.{extension}")));
        }
    }
    remove_orphans(&directory);
    Ok(true)
}

/// Removes packs without an index, which a process leaves if it is killed between both steps.
fn remove_orphans(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_pack = path.extension().is_some_and(|it| it == "pack");
        if is_pack && !path.with_extension("idx").exists() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Lists the needed commits among those without parents, and forgets those that are gone.
fn mark_shallow(
    repository: &Repository,
    needed: &HashSet<Oid>,
    is_kept: impl Fn(Oid) -> bool,
) -> Result<(), PackError> {
    let path = repository.path().join("shallow");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let listed = text.lines().filter_map(|it| Oid::from_str(it).ok());
    let mut shallow: Vec<Oid> = listed.filter(|id| is_kept(*id)).collect();
    let odb = repository.odb()?;
    for id in needed {
        // Files are not read to see that they are none.
        let found = header(&odb, *id);
        if found.is_ok_and(|(_, kind)| kind == ObjectType::Commit) {
            let commit = repository.find_commit(*id);
            shallow.extend(commit.is_ok_and(|it| it.parent_count() > 0).then_some(*id));
        }
    }
    shallow.sort_unstable();
    shallow.dedup();
    let text: String = shallow.iter().map(|id| format!("{id}\n")).collect();
    let aside = path.with_extension("lock");
    fs::write(&aside, text)?;
    Ok(fs::rename(&aside, &path)?)
}

fn ids(texts: &[String]) -> Result<Vec<Oid>, PackError> {
    let ids = texts.iter().map(|it| Ok(Oid::from_str(it)?));
    ids.collect()
}
