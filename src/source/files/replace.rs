//! Replacing a file in one step, or creating one: a concurrent reader gets the old one or none, or
//! the new one whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

use crate::source::files::read::FileState;

/// Replaces the content of a file, which keeps its mode, and its owner if this user may give files
/// away. A link stays, and its target is replaced.
///
/// # Errors
///
/// If there is no such file, or none can be written next to it; in that case nothing has changed.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(content)).map(drop)
}

/// Replaces the content of a file as [`replace`] does, by what `write` writes; returns its new state.
///
/// # Errors
///
/// If there is no such file, none can be written beside it, or `write` fails; in that case nothing has
/// changed.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<FileState> {
    let place = fs::canonicalize(path)?;
    let beside = beside(&place);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let filled = write(&mut file).and_then(|()| finish(&file, &place));
    let replaced = filled.and_then(|()| fs::rename(&beside, &place));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    // A rename changes the metadata.
    replaced.and_then(|()| FileState::of(path, &file))
}

/// Creates a file with that content, and the mode of this user's new files.
///
/// # Errors
///
/// If that name exists already, or no file can be written there; in that case nothing has changed.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    create_with(path, |file| file.write_all(content)).map(drop)
}

/// Creates a file as [`create`] does, with what `write` writes; returns its state.
///
/// # Errors
///
/// If that name exists already, no file can be written there, or `write` fails; in that case nothing has
/// changed.
pub fn create_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<FileState> {
    let beside = beside(path);
    let mut file = File::create_new(&beside)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    // Unlike a rename, a hard link never replaces an existing file.
    let created = written.and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    created.and_then(|()| FileState::of(path, &file))
}

/// Returns the path of a new file next to another, which is not part of a table in that directory.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

/// Gives a new file the owner and mode of another, and sees that it is on the disk.
fn finish(file: &File, like: &Path) -> io::Result<()> {
    let metadata = fs::metadata(like)?;
    // Only root may do this.
    let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
    file.set_permissions(metadata.permissions())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn keeps_links_and_modes() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("table"), dir.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("table", &link).unwrap();
        let before = fs::metadata(&path).unwrap();

        replace(&link, b"new").unwrap();

        let after = fs::metadata(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(after.mode(), before.mode());
        // Written beside it and renamed, not into it.
        assert_ne!(after.ino(), before.ino());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn creates_what_is_not_there_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table");
        create(&path, b"first").unwrap();
        assert!(create(&path, b"second").is_err());
        assert!(create(&dir.path().join("nowhere/table"), b"third").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn makes_no_file_that_was_not_there() {
        let dir = tempfile::tempdir().unwrap();
        assert!(replace(&dir.path().join("table"), b"new").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
