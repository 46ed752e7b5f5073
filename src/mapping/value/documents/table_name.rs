//! The names of table files in a directory.

use std::ffi::OsStr;
use std::path::Path;

/// Returns whether a file of this name in a directory is part of the table: `*.yaml` or `*.yml`,
/// but no dotfile.
///
/// Dotfiles are what editors and mounts leave next to a table (`.#mapping.yaml`, `..data`).
pub fn is_table_name(name: &OsStr) -> bool {
    let wanted = ["yaml", "yml"];
    !name.as_encoded_bytes().starts_with(b".")
        && (Path::new(name).extension()).is_some_and(|ext| wanted.iter().any(|want| ext == *want))
}
