//! The objects that some commits lead to, without their parents.

use std::collections::HashSet;

use git2::{ObjectType, Oid, Repository};

/// Returns these objects and all that they lead to, without the parents of commits.
///
/// # Errors
///
/// If one of them is missing or damaged. Files are not read.
pub(crate) fn reachable(
    repository: &Repository,
    roots: &[Oid],
) -> Result<HashSet<Oid>, git2::Error> {
    let mut found: HashSet<Oid> = HashSet::new();
    let mut pending: Vec<Oid> = roots.to_vec();
    while let Some(id) = pending.pop() {
        if !found.insert(id) {
            continue;
        }
        let object = repository.find_object(id, None)?;
        match object.kind() {
            Some(ObjectType::Commit) => {
                pending.extend(object.as_commit().map(git2::Commit::tree_id));
            }
            Some(ObjectType::Tag) => pending.extend(object.as_tag().map(git2::Tag::target_id)),
            Some(ObjectType::Tree) => {
                for entry in object.as_tree().into_iter().flat_map(git2::Tree::iter) {
                    match entry.kind() {
                        Some(ObjectType::Tree) => pending.push(entry.id()),
                        Some(ObjectType::Blob) => {
                            found.insert(entry.id());
                        }
                        // The commit of another repository.
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}
