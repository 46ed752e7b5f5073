//! The default place of the state.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::terminal::Error;

/// Returns the named file, or the user's default, whose directory is created.
pub(super) fn path(named: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    // The XDG Base Directory Specification: paths that are not absolute are ignored.
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let folder = absolute("XDG_STATE_HOME").or_else(home).ok_or_else(|| {
        Error::usage(
            "there is no home directory for the results of link checks: name a file with --state",
        )
    })?;
    let folder = folder.join("waypost");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder.join("linkcheck.redb"))
}
