//! Replacing a file in one step, or creating one: a concurrent reader gets the old one or none, or
//! the new one whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// Replaces the content of a file, which keeps its mode, and its owner if this user may give files
/// away. A link stays, and its target is replaced.
///
/// # Errors
///
/// If there is no such file, or none can be written beside it; in that case nothing has changed.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let beside = beside(&path);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let replaced = fill(file, &path, content).and_then(|()| fs::rename(&beside, &path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}

/// Creates a file with that content, and the mode of this user's new files.
///
/// # Errors
///
/// If that name exists already, or no file can be written there; in that case nothing has changed.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let mut file = File::create_new(&beside)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    // Unlike a rename, a hard link never replaces an existing file.
    let created = written.and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    created
}

/// Returns the path of a new file beside another, which is not part of the table if the directory
/// is one.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

fn fill(mut file: File, like: &Path, content: &[u8]) -> io::Result<()> {
    let metadata = fs::metadata(like)?;
    file.write_all(content)?;
    // Only root may do this.
    let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
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
