//! The text of files in a repository: inflated when a part of one is needed, and cut once.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use git2::{Oid, Repository};

use super::stored_text::StoredText;
use super::text_file::TextFile;
use crate::git::{CommitId, TreeError, each_file};
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
        repository: Repository,
        commit: CommitId,
        path: &str,
        max: u64,
    ) -> Result<Vec<TextFile>, ReadTipError> {
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
        let repository = Arc::new(Mutex::new(repository));
        let files = found.into_iter().map(|(path, id, cut, text)| {
            let repository = Arc::clone(&repository);
            TextFile::stored(
                path,
                cut,
                Arc::new(BlobText {
                    repository,
                    id,
                    text,
                }),
            )
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

/// The text of a file in a repository.
struct BlobText {
    repository: Arc<Mutex<Repository>>,
    id: Oid,
    /// The text, once it was needed.
    text: OnceLock<Vec<u8>>,
}

impl StoredText for BlobText {
    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        if let Some(text) = self.text.get() {
            return Some(text.get(range)?.to_vec());
        }
        let repository = self
            .repository
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = repository.find_blob(self.id).ok()?.content().to_vec();
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
