//! Errors that mean that a repository itself is damaged.

use git2::{ErrorClass, ErrorCode};

/// Returns whether Git reports an error in the repository's own objects, and not in a remote or the
/// system.
pub(crate) fn is_damage(error: &git2::Error) -> bool {
    let class = matches!(
        error.class(),
        ErrorClass::Odb
            | ErrorClass::Zlib
            | ErrorClass::Object
            | ErrorClass::Indexer
            | ErrorClass::Reference
            | ErrorClass::Repository
            | ErrorClass::Config
            | ErrorClass::Tree
            | ErrorClass::Sha1
    );
    class && error.code() != ErrorCode::Owner
}
