//! The metadata of files that shows whether they have changed.
//!
//! `read/pass.rs` reads them.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, statat};

use super::error::FilesError;

/// The age below which a file could change again with the same metadata: the coarsest file times in
/// use (FAT) count in steps of two seconds.
const RACY: Duration = Duration::from_millis(2_500);

/// The metadata that shows whether a file was replaced or written to.
///
/// The kernel sets the change time: unlike the modification time, it cannot be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(in crate::source::files) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Reads the metadata of a regular file, without opening it.
    pub(crate) fn of(path: &Path) -> Result<Self, FilesError> {
        let metadata = fs::metadata(path).map_err(|e| FilesError::from_io(path, e))?;
        Self::of_regular(path, &metadata)
    }

    /// Returns the modification time of the file, as set by its owner.
    pub(crate) fn modified(&self) -> SystemTime {
        system_time(self.modified)
    }

    /// Returns whether this is the same file, with the same length: its times or permissions may
    /// differ.
    pub(crate) fn has_same_extent(&self, other: &Self) -> bool {
        let extent = |stamp: &Self| (stamp.device, stamp.inode, stamp.size);
        extent(self) == extent(other)
    }

    /// Returns whether this is the same file, and nobody has written to it since: it may have been renamed.
    pub(crate) fn has_same_content_times(&self, other: &Self) -> bool {
        self.has_same_extent(other) && self.modified == other.modified
    }

    /// Returns whether the last change was to set the file's times: a write sets both to the same
    /// one.
    pub(crate) fn has_set_times(&self) -> bool {
        self.modified != self.changed
    }

    /// Returns how long before `now` the file was modified or changed, whichever was later; `None`
    /// if that was after `now`.
    pub(crate) fn age(&self, now: SystemTime) -> Option<Duration> {
        let latest = system_time(self.modified).max(system_time(self.changed));
        now.duration_since(latest).ok()
    }

    /// Returns whether the file was modified or changed within a duration of a point in time.
    ///
    /// A file with a time far in the future was not: its clock is wrong, and nothing is writing it.
    pub(crate) fn is_near(&self, now: SystemTime, window: Duration) -> bool {
        self.near_for(now, window).is_some()
    }

    /// Returns how long that will be so, if it is and the file stays as it is.
    pub(super) fn near_for(&self, now: SystemTime, window: Duration) -> Option<Duration> {
        let left = [self.modified, self.changed].into_iter().map(|time| {
            let time = system_time(time);
            let apart = now
                .duration_since(time)
                .unwrap_or_else(|ahead| ahead.duration());
            window.saturating_sub(apart)
        });
        left.max().filter(|left| !left.is_zero())
    }

    /// Returns whether the file, read at a point in time, could have changed again with the same
    /// metadata.
    pub(crate) fn is_racy(&self, read_at: SystemTime) -> bool {
        self.is_near(read_at, RACY)
    }

    /// Returns the metadata of one file after the nth change of its times.
    #[cfg(test)]
    pub(crate) fn fake(change: u64) -> Self {
        Self {
            device: 1,
            inode: 1,
            size: 1,
            modified: (i64::try_from(change).unwrap(), 0),
            changed: (i64::try_from(change).unwrap(), 0),
        }
    }

    /// Returns the given metadata of a regular file.
    pub(in crate::source::files) fn of_regular(
        path: &Path,
        metadata: &Metadata,
    ) -> Result<Self, FilesError> {
        if !metadata.is_file() {
            return Err(FilesError::NotRegular {
                path: path.to_owned(),
                kind: kind(metadata.file_type()),
            });
        }
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// An open directory, in which the metadata of a file is found without resolving its whole path.
pub(super) struct OpenDirectory(File);

impl OpenDirectory {
    /// Opens a directory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Returns the metadata of a regular file; `None` for a link, and if there is no such file.
    #[expect(
        clippy::useless_conversion,
        reason = "the types of the fields depend on the system"
    )]
    pub(super) fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_file() {
            return None;
        }
        Some(Stamp {
            device: found.st_dev.try_into().ok()?,
            inode: found.st_ino.try_into().ok()?,
            size: found.st_size.try_into().ok()?,
            modified: (
                found.st_mtime.try_into().ok()?,
                found.st_mtime_nsec.try_into().ok()?,
            ),
            changed: (
                found.st_ctime.try_into().ok()?,
                found.st_ctime_nsec.try_into().ok()?,
            ),
        })
    }
}

fn system_time((seconds, nanoseconds): (i64, i64)) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let part = Duration::from_nanos(nanoseconds.unsigned_abs());
    let time = if seconds < 0 {
        UNIX_EPOCH.checked_sub(whole)
    } else {
        UNIX_EPOCH.checked_add(whole)
    };
    time.and_then(|time| time.checked_add(part))
        .unwrap_or(UNIX_EPOCH)
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "directory"
    } else if file_type.is_fifo() {
        "named pipe"
    } else if file_type.is_socket() {
        "socket"
    } else {
        "device"
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_regular_file_has_the_same_metadata_by_its_name_as_by_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a.yaml"), "text").unwrap();
        let before_1970 = UNIX_EPOCH - Duration::from_millis(1_500);
        let file = File::options().write(true).open(at("a.yaml")).unwrap();
        file.set_modified(before_1970).unwrap();
        fs::create_dir(at("b.yaml")).unwrap();
        symlink("a.yaml", at("c.yaml")).unwrap();
        let directory = OpenDirectory::open(dir.path()).unwrap();

        let stamp = directory.stamp(OsStr::new("a.yaml")).unwrap();
        assert_eq!(stamp, Stamp::of(&at("a.yaml")).unwrap());
        assert_eq!(stamp.modified(), before_1970);
        for other in ["b.yaml", "c.yaml", "d.yaml"] {
            assert_eq!(directory.stamp(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_file_is_near_until_the_window_has_passed() {
        let (file, window) = (Stamp::fake(10), Duration::from_millis(200));
        let near_for = |after: u64| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(10_000 + after);
            file.near_for(now, window)
        };
        assert_eq!(near_for(0), Some(window));
        assert_eq!(near_for(150), Some(Duration::from_millis(50)));
        assert_eq!(near_for(200), None);
    }
}
