//! Files of past versions of a table: only those that changed between two commits are read, once.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::lineage::Lineage;
use crate::git::{CommitId, ContentId, PastReader, RepositoryError, Version};
use crate::mapping::{ChangedFile, ListPlace, is_table_name};

/// The maximum size of the files that are kept, in bytes; one that is larger is kept by itself.
const MAX_BYTES: usize = 64 << 20;

/// The files that were read last.
pub(super) struct PastFiles<'l> {
    lineage: &'l Lineage,
    reader: PastReader<'l>,
    known: HashMap<ContentId, PastFile>,
    /// Their size.
    bytes: usize,
}

/// A file of a past version.
#[derive(Clone)]
struct PastFile {
    bytes: Rc<Vec<u8>>,
    /// Where its list is, if that is known.
    list: Option<ListPlace>,
}

/// The files that changed between two versions.
pub(super) struct FileChanges {
    files: Vec<FileVersions>,
    /// The size of their former contents, in bytes.
    pub(super) removed: u64,
    /// The size of their present contents, in bytes.
    pub(super) added: u64,
}

struct FileVersions {
    path: Arc<str>,
    list: ListPlace,
    old: Rc<Vec<u8>>,
    id: ContentId,
    new: Rc<Vec<u8>>,
}

impl FileChanges {
    /// Returns the files.
    pub(super) fn files(&self) -> Vec<ChangedFile<'_>> {
        let files = self.files.iter().map(|file| ChangedFile {
            path: Arc::clone(&file.path),
            list: file.list,
            old: &file.old,
            new: &file.new,
        });
        files.collect()
    }
}

impl<'l> PastFiles<'l> {
    pub(super) fn of(lineage: &'l Lineage) -> Self {
        Self {
            lineage,
            reader: PastReader::of(&lineage.repository),
            known: HashMap::new(),
            bytes: 0,
        }
    }

    /// Reads the files that changed between the versions in two commits; `None` if more changed than the
    /// content of some, or one of them is too large or has no list in the usual form.
    ///
    /// # Errors
    ///
    /// If Git cannot read them.
    pub(super) fn changes(
        &mut self,
        (before, now): (CommitId, CommitId),
        (old, new): (&Version, &Version),
    ) -> Result<Option<FileChanges>, RepositoryError> {
        let paths = &self.lineage.paths;
        let changed = (self.reader).changed_files(paths, old, (now, new), is_table_name)?;
        let Some(changed) = changed else {
            return Ok(None);
        };
        let mut changes = FileChanges {
            files: Vec::with_capacity(changed.len()),
            removed: 0,
            added: 0,
        };
        for change in changed {
            let Some(old) = self.read(change.old, before)? else {
                return Ok(None);
            };
            let Some(list) = old.list.or_else(|| ListPlace::of(&old.bytes)) else {
                return Ok(None);
            };
            let Some(new) = self.read(change.new, now)? else {
                return Ok(None);
            };
            changes.removed += old.bytes.len() as u64;
            changes.added += new.bytes.len() as u64;
            changes.files.push(FileVersions {
                path: change.path,
                list,
                old: old.bytes,
                id: change.new,
                new: new.bytes,
            });
        }
        Ok(Some(changes))
    }

    /// Records that files differ in their lists alone, so that these are where they were.
    pub(super) fn compared(&mut self, changes: &FileChanges) {
        for file in &changes.files {
            if let Some(known) = self.known.get_mut(&file.id) {
                known.list = Some(file.list);
            }
        }
    }

    /// Reads a file; `None` if it is larger than a table may be.
    fn read(
        &mut self,
        id: ContentId,
        commit: CommitId,
    ) -> Result<Option<PastFile>, RepositoryError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(known.clone()));
        }
        let max = self.lineage.max_bytes;
        let Some(bytes) = self.reader.content(id, commit, max)? else {
            return Ok(None);
        };
        let file = PastFile { bytes, list: None };
        self.bytes += file.bytes.len();
        if self.bytes > MAX_BYTES {
            self.known.clear();
            self.bytes = file.bytes.len();
        }
        self.known.insert(id, file.clone());
        Ok(Some(file))
    }
}
