//! Writing a pack of a clone, and giving it its name.

use std::collections::HashMap;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process;

use git2::{ObjectType, Oid};

use super::entry::EntryKind;
use super::local_packs::FileRange;
use super::pack_error::PackError;
use super::pack_file::{FinishedPack, PackFile};
use crate::git::random::random;

/// The extension of an index that has yet to be given its name: readers look for others.
pub(super) const INDEX_ASIDE: &str = "index";

/// An object to write.
pub(super) struct NewPackEntry<'f> {
    pub(super) id: Oid,
    pub(super) kind: ObjectType,
    /// The object to which it is a delta, which is written before it.
    pub(super) base: Option<Oid>,
    /// The size of the uncompressed content.
    pub(super) size: u64,
    pub(super) content: CompressedBytes<'f>,
}

/// The compressed bytes of an object to write.
pub(super) enum CompressedBytes<'f> {
    /// As they are stored elsewhere.
    Stored(&'f File, Range<u64>),
    Bytes(Vec<u8>),
}

impl CompressedBytes<'_> {
    /// Returns the number of bytes.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Stored(_, range) => range.end - range.start,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    fn copy_to(&self, out: &mut impl io::Write) -> Result<(), PackError> {
        match self {
            Self::Bytes(bytes) => out.write_all(bytes)?,
            Self::Stored(file, range) => {
                let mut left = self.length();
                let mut range = FileRange::new(file, range.clone());
                let mut bytes = vec![0; (64 << 10).min(left.max(1)) as usize];
                while left > 0 {
                    let length = range.read(&mut bytes)?;
                    if length == 0 {
                        return Err(PackError::Damaged("an entry that is cut"));
                    }
                    out.write_all(&bytes[..length])?;
                    left -= length as u64;
                }
            }
        }
        Ok(())
    }
}

/// A pack that is written, and has yet to be given its name.
#[derive(Debug)]
pub(super) struct WrittenPack {
    /// Its path without the extension.
    aside: PathBuf,
    /// Its name, without the extension.
    pub(super) name: String,
}

impl WrittenPack {
    /// Gives the pack its name, by which it is found from now on; if that fails, removes what has none yet.
    pub(super) fn install(&self) -> io::Result<StoredPack> {
        let [pack, index] = ["pack", "idx"].map(|extension| {
            self.aside
                .with_file_name(format!("{}.{extension}", self.name))
        });
        let installed = fs::rename(self.aside.with_extension("pack"), &pack).and_then(|()| {
            let found = fs::rename(self.aside.with_extension(INDEX_ASIDE), &index);
            // Unless the same pack was there before.
            let is_lost = found.is_err() && !index.is_file();
            found.inspect_err(|_| {
                if is_lost {
                    let _ = fs::remove_file(&pack);
                }
            })
        });
        installed.inspect_err(|_| self.discard())?;
        let path = self.aside.with_file_name(&self.name);
        Ok(StoredPack { path })
    }

    /// Returns a pack that an earlier process has written.
    pub(super) fn of(aside: PathBuf, name: String) -> Self {
        Self { aside, name }
    }

    /// Removes it.
    pub(super) fn discard(&self) {
        for extension in ["pack", INDEX_ASIDE] {
            let _ = fs::remove_file(self.aside.with_extension(extension));
        }
    }
}

/// A pack that has its name.
#[derive(Debug)]
pub(crate) struct StoredPack {
    /// Its path without the extension.
    path: PathBuf,
}

impl StoredPack {
    /// Copies it to another repository, where its objects appear in one step, and are on the disk. They are
    /// kept although nothing leads to them, until the result is dropped.
    ///
    /// # Errors
    ///
    /// If it cannot be copied; then nothing is left of it there.
    pub(crate) fn copy_to(&self, repository: &Path) -> io::Result<KeptPack> {
        // If this process is killed, `git gc` removes the leftovers by this name (git-prune(1)).
        let aside = format!("objects/pack/tmp_pack_{:016x}", random());
        let name = self.path.file_name().unwrap_or_default();
        let copy = WrittenPack::of(repository.join(aside), name.to_string_lossy().into_owned());
        [("pack", "pack"), ("idx", INDEX_ASIDE)]
            .into_iter()
            .try_for_each(|(from, to)| {
                let to = copy.aside.with_extension(to);
                fs::copy(self.path.with_extension(from), &to)?;
                let file = File::open(&to)?;
                // Nobody writes to it, as to those that Git makes.
                let mode = file.metadata()?.permissions().mode() & 0o444;
                file.set_permissions(Permissions::from_mode(mode))?;
                file.sync_all()
            })
            .inspect_err(|_| copy.discard())?;
        let kept =
            KeptPack::create(&copy.aside.with_file_name(name)).inspect_err(|_| copy.discard())?;
        copy.install()?;
        Ok(kept)
    }
}

/// A pack that repacking leaves as it is: otherwise `git repack -a -d` would remove objects to which
/// nothing leads yet (git-repack(1)).
#[derive(Debug)]
pub(crate) struct KeptPack {
    /// The file that says so, unless another process has made it.
    keep: Option<PathBuf>,
}

impl KeptPack {
    /// Keeps a pack, given its path without the extension.
    fn create(pack: &Path) -> io::Result<Self> {
        let keep = pack.with_extension("keep");
        match File::create_new(&keep) {
            Ok(mut file) => {
                let kept = Self { keep: Some(keep) };
                writeln!(file, "waypost {}", process::id())?;
                Ok(kept)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Self { keep: None }),
            Err(error) => Err(error),
        }
    }
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        if let Some(keep) = &self.keep {
            // If it stays, the pack is only not merged with others.
            let _ = fs::remove_file(keep);
        }
    }
}

/// Writes a pack that was made in memory into the directory of packs, where it appears in one step,
/// through temporary files `aside`.
///
/// # Errors
///
/// If it cannot be written; then nothing is left of it.
pub(crate) fn add_pack(made: &FinishedPack<Vec<u8>>, aside: &Path) -> io::Result<()> {
    let written = WrittenPack::of(aside.to_owned(), made.name.clone());
    fs::write(aside.with_extension("pack"), &made.out)
        .and_then(|()| fs::write(aside.with_extension(INDEX_ASIDE), &made.index))
        .inspect_err(|_| written.discard())?;
    written.install().map(drop)
}

/// Whether a pack that was written is on the disk already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It is: what it replaces may be removed.
    Synced,
    /// The system writes it later.
    Buffered,
}

/// Writes a pack and its index next to their final places. If that fails, nothing is left of them.
pub(super) fn write_pack(
    aside: &Path,
    entries: &[NewPackEntry<'_>],
    durability: Durability,
) -> Result<WrittenPack, PackError> {
    let mut written = WrittenPack::of(aside.to_owned(), String::new());
    match write_files(aside, entries, durability) {
        Ok(name) => {
            written.name = name;
            Ok(written)
        }
        Err(error) => {
            written.discard();
            Err(error)
        }
    }
}

/// Writes a pack and its index; returns the name of the pack.
fn write_files(
    aside: &Path,
    entries: &[NewPackEntry<'_>],
    durability: Durability,
) -> Result<String, PackError> {
    let file = File::create(aside.with_extension("pack"))?;
    let mut pack = PackFile::new(BufWriter::with_capacity(256 << 10, file), entries.len())?;
    let mut positions = HashMap::with_capacity(entries.len());
    for entry in entries {
        let position = pack.position();
        let kind = match entry.base {
            None => EntryKind::Whole(entry.kind),
            Some(base) => {
                let base: Option<&u64> = positions.get(&base);
                let base = base.ok_or(PackError::Damaged("a delta before its base"))?;
                EntryKind::OffsetDelta(position - base)
            }
        };
        pack.entry(entry.id, kind, entry.size, |pack| {
            entry.content.copy_to(pack)
        })?;
        positions.insert(entry.id, position);
    }
    let written = pack.finish()?;
    let file = written.out.into_inner();
    let file = file.map_err(io::IntoInnerError::into_error)?;
    let mut index = File::create(aside.with_extension(INDEX_ASIDE))?;
    index.write_all(&written.index)?;
    if durability == Durability::Synced {
        file.sync_all()?;
        index.sync_all()?;
    }
    Ok(written.name)
}
