//! Owners of a table's entries, according to a base, and forbidden changes of a proposal.

use super::lineage::{HistoryError, Lineage, source_files};
use super::note::HistoryNote;
use crate::git::{CommitId, RepositoryError, TreePath};
use crate::mapping::{Author, Diagnostic, Owners, Proposal, SourceFile, Table};

/// The name of the owners file beside a table.
const OWNERS_FILE: &str = "owners.yaml";

/// An owners file, in the version that a proposal has.
pub struct OwnersFile {
    /// The path in the repository.
    pub path: TreePath,
    /// The file, if the proposal has one.
    pub proposed: Option<SourceFile>,
}

impl Lineage {
    /// Returns the path of the owners file beside the table: next to its file, or to its
    /// directory, of which it must not be a part. There is none beside the repository's top.
    pub fn owners_path(&self) -> Option<TreePath> {
        self.paths.first()?.beside(OWNERS_FILE)
    }

    /// Reads the owners file at the tip.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn owners_file(&self, path: TreePath) -> Result<OwnersFile, RepositoryError> {
        let proposed = self.file_at(self.tip, &path)?;
        Ok(OwnersFile { path, proposed })
    }

    /// Returns the problems of a proposed owners file, and the changes of a table since a base that
    /// their author may not make.
    ///
    /// The file in the commit that `base` names decides, never an older or a proposed one. `before` is
    /// the table with which [`since_base`](Self::since_base) has compared this one.
    ///
    /// # Errors
    ///
    /// If `base` names no commit, or Git cannot read the history.
    pub fn refused_changes(
        &self,
        base: &str,
        author: &str,
        file: &OwnersFile,
        tables: (Option<&Table>, &Table),
        note: &dyn Fn(&HistoryNote),
    ) -> Result<Vec<Diagnostic>, HistoryError> {
        let (before, after) = tables;
        let proposed = file.proposed.as_ref();
        let mut refused = proposed.map_or_else(Vec::new, |file| Owners::read(file).1);
        let rev = self.repository.commit(base)?;
        let Some(deciding) = self.file_at(rev, &file.path)? else {
            note(&HistoryNote::NoOwners { base: rev });
            return Ok(refused);
        };
        let (owners, problems) = Owners::read(&deciding);
        if owners.is_empty() && problems.is_empty() {
            note(&HistoryNote::EmptyOwners { base: rev });
            return Ok(refused);
        }
        if !problems.is_empty() {
            note(&HistoryNote::UnsoundOwners { base: rev });
        }
        let author = Author {
            name: author,
            owners: &owners,
        };
        let branched = self.repository.merge_base(rev, self.tip)?;
        let was = self.file_at(branched, &file.path)?;
        let bytes = |file: Option<&SourceFile>| file.map(|file| file.bytes.clone());
        let is_changed = ![was.as_ref(), Some(&deciding)]
            .into_iter()
            .any(|known| bytes(known) == bytes(proposed));
        if is_changed {
            refused.extend(author.refused_change_of(&deciding.path));
        }
        // The notes about the base were made when published links were compared.
        let quiet = |_: &HistoryNote| {};
        let moved_on = match rev == branched {
            true => None,
            false => self
                .last_sound(rev, before, &quiet)?
                .map(|(_, table)| table),
        };
        let current = match rev == branched {
            true => before,
            false => moved_on.as_ref(),
        };
        refused.extend(author.refused_changes(&Proposal {
            before,
            current,
            after,
        }));
        Ok(refused)
    }

    fn file_at(
        &self,
        commit: CommitId,
        path: &TreePath,
    ) -> Result<Option<SourceFile>, RepositoryError> {
        let paths = std::slice::from_ref(path);
        // No file of a directory is needed.
        let read = (self.repository).read_all(commit, paths, self.max_bytes, |_| false)?;
        Ok(source_files(read).pop())
    }
}
