//! Secrets: given by a variable, or by a file that a variable names; never by a flag, which every
//! user of the machine can read.

use std::env;
use std::path::PathBuf;

use crate::git::{SECRET_VARIABLES, Secret, SecretText};

/// Returns the source of the secret with this name: the variable, or the file that `…_FILE` names.
pub(crate) fn of(name: &str) -> Option<Secret> {
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let file = value(&format!("{name}_FILE")).map(PathBuf::from);
    file.map(Secret::File)
        .or_else(|| value(name).map(|text| Secret::Value(SecretText::from(text))))
}

/// Returns the files of secrets that everyone on this machine can read.
pub(crate) fn exposed_files() -> Vec<PathBuf> {
    let secrets = SECRET_VARIABLES.into_iter().filter_map(of);
    let exposed = |secret: Secret| secret.exposed_file().map(PathBuf::from);
    secrets.filter_map(exposed).collect()
}
