//! The commit of changed files, made from a tree without a checkout.

use git2::build::TreeUpdateBuilder;
use git2::{Commit, FileMode, Oid, Repository, Signature};

use super::edit::Edit;
use super::identity::CommitIdentity;
use crate::git::CommitId;
use crate::mapping::SourceFile;

/// A priority above those of files, where libgit2 would write otherwise.
const MEMORY_FIRST: i32 = 1_000;

/// Writes the tree of a commit with files changed, which keep their modes, or added.
pub(super) fn write_tree(
    repository: &Repository,
    parent: &Commit<'_>,
    edit: &Edit,
) -> Result<Oid, git2::Error> {
    let tree = parent.tree()?;
    let mut update = TreeUpdateBuilder::new();
    for SourceFile { path, bytes } in &edit.files {
        let executable = (tree.get_path((**path).as_ref()))
            .is_ok_and(|entry| entry.filemode() == i32::from(FileMode::BlobExecutable));
        let mode = match executable {
            true => FileMode::BlobExecutable,
            false => FileMode::Blob,
        };
        update.upsert(&**path, repository.blob(bytes)?, mode);
    }
    update.create_updated(repository, &tree)
}

/// Commits a tree on its parent, with an author, a committer and the current time. No reference
/// leads to the commit.
pub(super) fn commit_tree(
    repository: &Repository,
    [author, committer]: &[CommitIdentity; 2],
    edit: &Edit,
    tree: Oid,
    parent: &Commit<'_>,
) -> Result<CommitId, git2::Error> {
    let now = |who: &CommitIdentity| Signature::now(&who.name, &who.email);
    let tree = repository.find_tree(tree)?;
    let message = &edit.message;
    let (author, committer) = (now(author)?, now(committer)?);
    let commit = repository.commit(None, &author, &committer, message, &tree, &[parent])?;
    Ok(commit.into())
}

/// Commits an edit on a tip, in a bare repository that others read: all new objects get there in
/// one step, as one pack.
pub(super) fn commit_as_pack(
    repository: &Repository,
    identities: &[CommitIdentity; 2],
    edit: &Edit,
    tip: CommitId,
) -> Result<CommitId, git2::Error> {
    let odb = repository.odb()?;
    // Until they are packed, objects are only in memory.
    odb.add_new_mempack_backend(MEMORY_FIRST)?;
    let parent = repository.find_commit(tip.0)?;
    let tree = write_tree(repository, &parent, edit)?;
    let commit = commit_tree(repository, identities, edit, tree, &parent)?;
    let mut new = repository.revwalk()?;
    new.push(commit.0)?;
    new.hide(tip.0)?;
    let mut pack = repository.packbuilder()?;
    pack.insert_walk(&mut new)?;
    pack.write(&repository.path().join("objects/pack"), 0)?;
    Ok(commit)
}
