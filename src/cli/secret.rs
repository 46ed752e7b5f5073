//! Secrets: given by a variable, or by a file that a variable names; never by a flag, which
//! everyone on the machine can read.

use std::env;
use std::path::PathBuf;

use crate::source::Secret;

/// Returns where the secret of that name is: in the variable, or in the file that `…_FILE` names.
pub(super) fn of(name: &str) -> Option<Secret> {
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let file = value(&format!("{name}_FILE")).map(PathBuf::from);
    file.map(Secret::File)
        .or_else(|| value(name).map(Secret::Value))
}
