//! The commit of changed files in a person's repository, made from a tree and not from the checkout.

use git2::build::TreeUpdateBuilder;
use git2::{Commit, FileMode, Oid, Repository, Signature};

use super::edit::Edit;
use super::identity::CommitIdentity;
use super::publish_error::PublishError;
use crate::git::CommitId;
use crate::mapping::SourceFile;

/// Writes the tree of a commit with files changed, which keep their modes, or added.
pub(super) fn write_tree(
    repository: &Repository,
    parent: &Commit<'_>,
    edit: &Edit,
) -> Result<Oid, PublishError> {
    let tree = parent.tree()?;
    let mut update = TreeUpdateBuilder::new();
    for SourceFile { path, bytes } in edit.whole()? {
        let executable = (tree.get_path((*path).as_ref()))
            .is_ok_and(|entry| entry.filemode() == i32::from(FileMode::BlobExecutable));
        let mode = match executable {
            true => FileMode::BlobExecutable,
            false => FileMode::Blob,
        };
        update.upsert(&*path, repository.blob(&bytes)?, mode);
    }
    Ok(update.create_updated(repository, &tree)?)
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
