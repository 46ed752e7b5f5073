//! The files of a table whose content differs between two commits, found by their ids: unchanged
//! files are not read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::rc::Rc;
use std::sync::Arc;

use git2::Oid;

use super::past_reader::PastReader;
use super::repository::{Version, damaged};
use super::repository_error::RepositoryError;
use super::tree::{FILE_MODE, MAX_LISTING, MODE_KIND, NameFilter, TREE_MODE, find_object};
use super::tree_path::TreePath;
use crate::git::commit_id::CommitId;
use crate::git::objects::{DifferingItem, EntryMode, TreeItem, differing_items};

/// The content of a file, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentId(Oid);

/// A file whose content changed.
#[derive(Debug)]
pub struct ChangedContent {
    /// The path that people know.
    pub path: Arc<str>,
    /// The former content.
    pub old: ContentId,
    /// The present content.
    pub new: ContentId,
}

impl PastReader<'_> {
    /// Returns the files at some paths, or the wanted files of directories there, whose content in
    /// a commit differs from an earlier version; `None` if anything else changed, such as the list
    /// of files.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit.
    pub fn changed_files(
        &mut self,
        paths: &[TreePath],
        old: &Version,
        (commit, new): (CommitId, &Version),
        is_wanted: NameFilter,
    ) -> Result<Option<Vec<ChangedContent>>, RepositoryError> {
        let mut changed = Vec::new();
        for ((path, old), new) in paths.iter().zip(old.ids()).zip(new.ids()) {
            let (Some(old), Some(new)) = (*old, *new) else {
                match old == new {
                    true => continue,
                    false => return Ok(None),
                }
            };
            if old == new {
                continue;
            }
            match self.changed_at(path, (old, new), commit, is_wanted)? {
                Some(found) => changed.extend(found),
                None => return Ok(None),
            }
        }
        Ok(Some(changed))
    }

    /// Reads the content of a file of a commit; `None` if it is no file, or has more than `max` bytes.
    ///
    /// # Errors
    ///
    /// If Git cannot read it.
    pub fn content(
        &mut self,
        id: ContentId,
        commit: CommitId,
        max: u64,
    ) -> Result<Option<Rc<Vec<u8>>>, RepositoryError> {
        let read = self.blob(id.0, max);
        read.map_err(|source| damaged(commit, source))
    }

    fn changed_at(
        &mut self,
        path: &TreePath,
        (old, new): (Oid, Oid),
        commit: CommitId,
        is_wanted: NameFilter,
    ) -> Result<Option<Vec<ChangedContent>>, RepositoryError> {
        let object = find_object(&self.repository.find(commit)?, path.inside())?;
        match object.map(|(_, mode)| mode & MODE_KIND) {
            Some(TREE_MODE) => {
                let mut read = |id| {
                    let read = self.tree(id, MAX_LISTING);
                    read.map_err(|source| damaged(commit, source))
                };
                let (old, new) = (read(old)?, read(new)?);
                let versions = old.as_ref().zip(new.as_ref());
                Ok(versions.and_then(|(old, new)| changed_in(path, old, new, is_wanted)))
            }
            // A former directory is no content.
            Some(FILE_MODE) => Ok(Some(vec![ChangedContent {
                path: path.shown(path.inside()),
                old: ContentId(old),
                new: ContentId(new),
            }])),
            _ => Ok(None),
        }
    }
}

/// Returns the wanted files with other content in two versions of a directory that has the same names in
/// both.
fn changed_in(
    path: &TreePath,
    old: &[u8],
    new: &[u8],
    is_wanted: NameFilter,
) -> Option<Vec<ChangedContent>> {
    let mut changed = Vec::new();
    for DifferingItem { old, new } in differing_items(old, new)? {
        if !is_wanted(OsStr::from_bytes(new.name)) {
            continue;
        }
        // A file may become a link with the same content.
        let is_file =
            |item: TreeItem<'_>| matches!(item.mode, Some(EntryMode::File | EntryMode::Executable));
        if !is_file(old) || !is_file(new) {
            return None;
        }
        if old.id == new.id {
            continue;
        }
        let name = String::from_utf8_lossy(new.name);
        let inside = match path.inside().trim_end_matches('/') {
            "" | "." => name.into_owned(),
            directory => format!("{directory}/{name}"),
        };
        changed.push(ChangedContent {
            path: path.shown(&inside),
            old: ContentId(old.id),
            new: ContentId(new.id),
        });
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use git2::Repository;

    use super::*;

    #[test]
    fn a_file_that_becomes_a_link_is_no_change_of_content() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(directory.path()).unwrap();
        let blob = repository.blob(b"a").unwrap();
        let odb = repository.odb().unwrap();
        let tree = |mode: i32| {
            let mut builder = repository.treebuilder(None).unwrap();
            builder.insert("a.yaml", blob, mode).unwrap();
            odb.read(builder.write().unwrap()).unwrap().data().to_vec()
        };
        let path = TreePath::new(String::new(), Path::new(""));
        let [file, program, link] = [0o100_644, 0o100_755, 0o120_000].map(tree);
        let changed = |old: &[u8], new: &[u8]| changed_in(&path, old, new, |_| true);
        assert!(changed(&file, &link).is_none() && changed(&link, &file).is_none());
        assert!(changed(&file, &program).is_some_and(|it| it.is_empty()));
        assert!(changed(&link, &link).is_some_and(|it| it.is_empty()));
    }
}
