//! The packs of a clone: where objects are stored in them, and how.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use git2::{ObjectType, Oid};

use super::delta::Delta;
use super::entry::{EntryHead, EntryKind, MAX_HEAD, inflate};
use super::pack_error::PackError;
use super::pack_index::PackIndex;

/// The length of the checksum at the end of a pack.
const CHECKSUM: u64 = 20;

/// The longest chain of deltas that is followed; Git makes none longer than 4095.
const MAX_CHAIN: u32 = 10_000;

/// The maximum number of packs that a reader opens at once.
const MAX_PACKS: usize = 64;

/// The maximum size of their indexes together, in bytes; those are kept in memory.
const MAX_INDEXES: u64 = 32 << 20;

/// Some packs of a directory.
#[derive(Debug)]
pub(super) struct LocalPacks(Vec<LocalPack>);

#[derive(Debug)]
struct LocalPack {
    file: File,
    length: u64,
    index: PackIndex,
}

/// How an object is stored in a pack.
#[derive(Debug, Clone)]
pub(super) struct StoredEntry {
    /// The number of its pack.
    pack: usize,
    pub(super) head: EntryHead,
    /// Where its compressed bytes are.
    pub(super) compressed: Range<u64>,
    /// The object to which it is a delta.
    pub(super) base: Option<Oid>,
}

impl StoredEntry {
    /// Returns the number of the pack, and where the compressed bytes begin in it.
    pub(super) fn place(&self) -> (usize, u64) {
        (self.pack, self.compressed.start)
    }
}

impl LocalPacks {
    /// Opens the packs of these names, without their extension.
    pub(super) fn open(directory: &Path, names: &[String]) -> Result<Self, PackError> {
        let packs = names.iter().map(|name| {
            let file = File::open(directory.join(name).with_extension("pack"))?;
            Ok(LocalPack {
                length: file.metadata()?.len(),
                file,
                index: PackIndex::read(&directory.join(name).with_extension("idx"))?,
            })
        });
        packs.collect::<Result<_, PackError>>().map(Self)
    }

    /// Opens the packs in a directory; `None` if there are too many, or their indexes are too large.
    pub(super) fn open_few(directory: &Path) -> Result<Option<Self>, PackError> {
        let names = pack_names(directory)?;
        let mut indexes = 0;
        for name in &names {
            indexes += fs::metadata(directory.join(name).with_extension("idx"))?.len();
        }
        match names.len() > MAX_PACKS || indexes > MAX_INDEXES {
            true => Ok(None),
            false => Self::open(directory, &names).map(Some),
        }
    }

    /// Opens one pack.
    pub(super) fn open_one(pack: &Path, index: &Path) -> Result<Self, PackError> {
        let file = File::open(pack)?;
        Ok(Self(vec![LocalPack {
            length: file.metadata()?.len(),
            file,
            index: PackIndex::read(index)?,
        }]))
    }

    /// Returns the number of bytes in them.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|pack| pack.length).sum()
    }

    /// Returns whether an object is in one of them.
    pub(super) fn have(&self, id: Oid) -> bool {
        self.0.iter().any(|pack| pack.index.position(id).is_some())
    }

    /// Returns how an object is stored in the first pack that has it.
    pub(super) fn find(&self, id: Oid) -> Result<Option<StoredEntry>, PackError> {
        let mut packs = self.0.iter().enumerate();
        let found = packs.find_map(|(number, it)| Some((number, it.index.position(id)?)));
        found
            .map(|(number, position)| self.stored(number, position))
            .transpose()
    }

    /// Returns how an object is stored where that takes the fewest deltas, with their number.
    pub(super) fn best(&self, id: Oid) -> Result<Option<(u32, StoredEntry)>, PackError> {
        let mut best: Option<(u32, StoredEntry)> = None;
        for (number, pack) in self.0.iter().enumerate() {
            let Some(position) = pack.index.position(id) else {
                continue;
            };
            let stored = self.stored(number, position)?;
            let depth = self.depth(&stored)?;
            let length = |it: &StoredEntry| it.compressed.end - it.compressed.start;
            let is_better = best
                .as_ref()
                .is_none_or(|(least, known)| (depth, length(&stored)) < (*least, length(known)));
            if is_better {
                best = Some((depth, stored));
            }
        }
        Ok(best)
    }

    /// Returns the number of deltas from a stored object to one that is stored whole.
    fn depth(&self, stored: &StoredEntry) -> Result<u32, PackError> {
        let mut depth = 0;
        let mut base = self.base_of(stored)?;
        while let Some(stored) = base {
            depth += 1;
            if depth > MAX_CHAIN {
                return Err(PackError::Damaged("deltas without end"));
            }
            base = self.base_of(&stored)?;
        }
        Ok(depth)
    }

    /// Returns the base of a delta, in the same pack.
    pub(super) fn base_of(&self, stored: &StoredEntry) -> Result<Option<StoredEntry>, PackError> {
        let Some(id) = stored.base else {
            return Ok(None);
        };
        let missing = || PackError::Damaged("a delta without its base");
        let position = self.0[stored.pack].index.position(id).ok_or_else(missing)?;
        self.stored(stored.pack, position).map(Some)
    }

    fn stored(&self, number: usize, position: u64) -> Result<StoredEntry, PackError> {
        let pack = &self.0[number];
        let last = pack.length.saturating_sub(CHECKSUM);
        let end = pack.index.next_position(position).unwrap_or(last);
        let mut bytes = [0; MAX_HEAD];
        let bytes = match end.checked_sub(position) {
            Some(length) if end <= last => &mut bytes[..MAX_HEAD.min(length as usize)],
            _ => return Err(PackError::Damaged("an entry that is cut")),
        };
        pack.file.read_exact_at(bytes, position)?;
        let head = EntryHead::parse(bytes)?;
        let base = match head.kind {
            EntryKind::Whole(_) => None,
            EntryKind::IdDelta(id) => Some(id),
            EntryKind::OffsetDelta(distance) => (position.checked_sub(distance))
                .and_then(|at| pack.index.object_at(at))
                .ok_or(PackError::Damaged("a delta without its base"))
                .map(Some)?,
        };
        Ok(StoredEntry {
            pack: number,
            head,
            compressed: position + head.length as u64..end,
            base,
        })
    }

    /// Returns the kind of a stored object.
    pub(super) fn kind_of(&self, stored: &StoredEntry) -> Result<ObjectType, PackError> {
        let mut at = stored.clone();
        loop {
            match (at.head.kind, self.base_of(&at)?) {
                (EntryKind::Whole(kind), _) => return Ok(kind),
                (_, Some(base)) => at = base,
                (_, None) => return Err(PackError::Damaged("a delta without its base")),
            }
        }
    }

    /// Returns the file in which an object is stored.
    pub(super) fn file_of(&self, stored: &StoredEntry) -> &File {
        &self.0[stored.pack].file
    }

    /// Returns what is stored: an object, or a delta.
    pub(super) fn inflated(&self, stored: &StoredEntry, max: u64) -> Result<Vec<u8>, PackError> {
        if stored.head.size > max {
            return Err(PackError::TooLarge(stored.head.size));
        }
        inflate(
            FileRange::new(self.file_of(stored), stored.compressed.clone()),
            stored.head.size,
        )
    }

    /// Returns the object at the end of a stored one's deltas, and the delta from it, if any.
    pub(super) fn root(
        &self,
        id: Oid,
        stored: StoredEntry,
        max: u64,
    ) -> Result<RootedEntry, PackError> {
        self.root_within(id, stored, max, usize::MAX)
    }

    /// As [`root`](Self::root), unless the delta takes more steps than `max_steps`.
    pub(super) fn root_within(
        &self,
        id: Oid,
        stored: StoredEntry,
        max: u64,
        max_steps: usize,
    ) -> Result<RootedEntry, PackError> {
        let mut at = RootedEntry {
            id,
            stored,
            delta: None,
        };
        // Ends, since each depth before was counted.
        while let Some(base) = at.stored.base {
            let step = Delta::parse(&self.inflated(&at.stored, max)?, max)?;
            let stored = self.base_of(&at.stored)?;
            at = RootedEntry {
                id: base,
                stored: stored.ok_or(PackError::Damaged("a delta without its base"))?,
                delta: Some(match at.delta {
                    Some(delta) => step.then_within(&delta, max_steps)?,
                    None => step,
                }),
            };
        }
        Ok(at)
    }

    /// Reads an object whose root this is.
    pub(super) fn read(&self, root: &RootedEntry, max: u64) -> Result<Vec<u8>, PackError> {
        let bytes = self.inflated(&root.stored, max)?;
        match &root.delta {
            None => Ok(bytes),
            Some(delta) => delta.apply(&bytes),
        }
    }
}

/// An object that is stored whole, and the delta from it to another one.
#[derive(Debug)]
pub(super) struct RootedEntry {
    pub(super) id: Oid,
    pub(super) stored: StoredEntry,
    pub(super) delta: Option<Delta>,
}

impl RootedEntry {
    /// Returns the kind of the objects.
    pub(super) fn kind(&self) -> ObjectType {
        match self.stored.head.kind {
            EntryKind::Whole(kind) => kind,
            EntryKind::OffsetDelta(_) | EntryKind::IdDelta(_) => ObjectType::Any,
        }
    }
}

/// A part of a file, read from its beginning.
pub(super) struct FileRange<'f> {
    file: &'f File,
    rest: Range<u64>,
}

impl<'f> FileRange<'f> {
    pub(super) fn new(file: &'f File, range: Range<u64>) -> Self {
        Self { file, rest: range }
    }
}

impl io::Read for FileRange<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.rest.end.saturating_sub(self.rest.start);
        let length = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut bytes[..length], self.rest.start)?;
        self.rest.start += read as u64;
        Ok(read)
    }
}

/// Returns the names of the packs in a directory that have an index, without their extension.
pub(crate) fn pack_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if let Some(name) = name.to_str().and_then(|it| it.strip_suffix(".idx"))
            && name.starts_with("pack-")
            && directory.join(format!("{name}.pack")).exists()
        {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}
