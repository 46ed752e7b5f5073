//! The text of files in a repository: inflated when a part of one is needed, and cut once.

use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use git2::{Oid, Repository};

use super::stored_text::StoredText;
use super::text_file::TextFile;
use crate::git::{CommitId, PackedBlobs, TreeError, each_file};
use crate::mapping::{Cut, is_table_name};
use crate::source::kept;

/// Where files of a table were cut, by the identities of their contents.
#[derive(Debug, Default)]
pub(crate) struct BlobCuts {
    known: HashMap<Oid, Arc<Cut>>,
    /// Those of the last commit that was made on the one that was read.
    committed: Vec<(Oid, Arc<Cut>)>,
}

impl BlobCuts {
    /// Returns the files of the table at `path`, a file or a directory of files, in a commit, of at most
    /// `max` bytes together. Only those are read that were not in the commit before.
    ///
    /// # Errors
    ///
    /// If the commit holds no table there that can be read.
    pub(crate) fn read(
        &mut self,
        shared: Arc<Mutex<Repository>>,
        commit: CommitId,
        path: &str,
        max: u64,
    ) -> Result<Vec<TextFile>, ReadTipError> {
        let repository = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        let mut cuts = HashMap::new();
        each_file(
            &repository,
            &repository.find_commit(commit.0)?,
            path,
            max,
            is_table_name,
            |file| {
                let text = OnceLock::new();
                let cut = match self.known.get(&file.id) {
                    Some(cut) => Arc::clone(cut),
                    None => file.read(|bytes| {
                        let cut = Arc::new(Cut::of(bytes));
                        let _ = text.set(bytes.to_vec());
                        cut
                    })?,
                };
                if let Some(kept) = kept(&cut) {
                    cuts.insert(file.id, kept);
                }
                found.push((Arc::<str>::from(file.path), file.id, cut, text));
                Ok(())
            },
        )?;
        self.known = cuts;
        self.committed.clear();
        drop(repository);
        let objects = Arc::new(TipObjects {
            repository: shared,
            packs: OnceLock::new(),
        });
        let files = found.into_iter().map(|(path, id, cut, text)| {
            let objects = Arc::clone(&objects);
            let size = cut.size();
            let text = BlobText {
                objects,
                id,
                size,
                text,
            };
            TextFile::stored(path, cut, Arc::new(text))
        });
        Ok(files.collect())
    }

    /// Adds the files that a commit changes, by their paths in the repository, so that they are not
    /// read from it. What cannot be found in the commit is read later.
    pub(crate) fn learn(
        &mut self,
        repository: &Repository,
        commit: CommitId,
        files: Vec<(Arc<str>, Arc<Cut>)>,
    ) {
        let tree = repository.find_commit(commit.0).and_then(|it| it.tree());
        let Ok(tree) = tree else {
            return;
        };
        self.committed = files
            .into_iter()
            .filter_map(|(path, cut)| {
                let entry = tree.get_path(Path::new(&*path)).ok()?;
                Some((entry.id(), kept(&cut)?))
            })
            .collect();
        self.known.extend(self.committed.iter().cloned());
    }

    /// Takes where the files that the last commit changes were cut.
    pub(crate) fn take_committed(&mut self) -> Vec<(Oid, Arc<Cut>)> {
        std::mem::take(&mut self.committed)
    }
}

/// Why the table of a commit cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadTipError {
    #[error(transparent)]
    Git(#[from] git2::Error),
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// The size in bytes from which a file is read from the packs directly: libgit2 computes its id again,
/// which takes longer than to inflate it.
const LARGE: u64 = 128 << 10;

/// The objects from which the files of a tip are read.
struct TipObjects {
    repository: Arc<Mutex<Repository>>,
    /// The packs, once a large file was needed; `None` if libgit2 has to read them.
    packs: OnceLock<Option<PackedBlobs>>,
}

impl TipObjects {
    /// Returns the content of a blob of this size.
    fn read(&self, id: Oid, size: u64) -> Option<Vec<u8>> {
        if size >= LARGE
            && let Some(bytes) = self.read_packed(id, size)
        {
            return Some(bytes);
        }
        let repository = self.repository();
        Some(repository.find_blob(id).ok()?.content().to_vec())
    }

    fn read_packed(&self, id: Oid, size: u64) -> Option<Vec<u8>> {
        let packs = self.packs.get_or_init(|| {
            let directory = self.repository().commondir().join("objects/pack");
            PackedBlobs::open(&directory).ok().flatten()
        });
        let mut stream = packs.as_ref()?.stream(id, size).ok()??;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(size).ok()?).ok()?;
        stream.read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == size).then_some(bytes)
    }

    fn repository(&self) -> MutexGuard<'_, Repository> {
        (self.repository.lock()).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a file in a repository.
struct BlobText {
    objects: Arc<TipObjects>,
    id: Oid,
    /// Its size in bytes.
    size: u64,
    /// The text, once it was needed.
    text: OnceLock<Vec<u8>>,
}

impl StoredText for BlobText {
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        if let Some(text) = self.text.get() {
            return Some(text.get(range)?.to_vec());
        }
        let text = self.objects.read(self.id, self.size)?;
        self.text
            .get_or_init(|| text)
            .get(range)
            .map(<[u8]>::to_vec)
    }
}

impl fmt::Debug for BlobText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobText({})", self.id)
    }
}
