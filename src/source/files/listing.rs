//! Listing and reading the files of a table, once.
//!
//! One pass over the files, with the data needed to decide whether they changed meanwhile. That
//! decision, and retries, are in `reading.rs`. Pipes and devices are never opened for reading: they
//! could block a reader forever.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::FilesError;
use crate::mapping::{SourceFile, is_table_name};

/// The files that some paths name, in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Every file, as reached through the path that was given.
    pub(crate) files: Vec<PathBuf>,
    /// The directories among the given paths.
    pub(crate) directories: Vec<Directory>,
}

/// A directory that was named as a table, or as a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// Which of the given paths it is, from 0.
    pub(crate) number: usize,
    /// The names of its table files, sorted.
    pub(crate) names: Vec<OsString>,
}

impl Listing {
    /// Lists the files that paths name: a file itself, or each table file directly in a directory.
    /// A path that is repeated counts once.
    pub(crate) fn of(paths: &[PathBuf]) -> Result<Self, FilesError> {
        match Self::found(paths) {
            (listing, None) => Ok(listing),
            (_, Some(error)) => Err(error),
        }
    }

    /// Lists what can be found, with the first error if that is not all.
    pub(crate) fn found(paths: &[PathBuf]) -> (Self, Option<FilesError>) {
        let mut listing = Self {
            files: Vec::new(),
            directories: Vec::new(),
        };
        let mut error = None;
        let mut seen = HashSet::with_capacity(paths.len());
        for (number, path) in paths.iter().enumerate() {
            // A file that is named twice still counts once.
            if seen.insert(path)
                && let Err(failed) = listing.add(path, number)
            {
                error.get_or_insert(failed);
            }
        }
        (listing, error)
    }

    fn add(&mut self, path: &Path, number: usize) -> Result<(), FilesError> {
        let metadata = fs::metadata(path).map_err(|e| FilesError::from_io(path, e))?;
        if !metadata.is_dir() {
            self.files.push(path.to_owned());
            return Ok(());
        }
        let names = table_names(path)?;
        (self.files).extend(names.iter().map(|name| path.join(name)));
        self.directories.push(Directory { number, names });
        Ok(())
    }
}

/// Returns the names of the table files directly in a directory, sorted.
pub(crate) fn table_names(directory: &Path) -> Result<Vec<OsString>, FilesError> {
    let failed = |error| FilesError::from_io(directory, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if is_table_name(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(FilesError::NoYaml {
            path: directory.to_owned(),
        });
    }
    names.sort();
    Ok(names)
}

/// The metadata that shows whether a file was replaced or written to.
///
/// The change time is set by the kernel: unlike the modification time, nobody can set it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
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
    /// A file with a time far in the future was not: that is a wrong clock, not a writer.
    pub(crate) fn is_near(&self, now: SystemTime, window: Duration) -> bool {
        [self.modified, self.changed].into_iter().any(|time| {
            let time = system_time(time);
            let apart = now
                .duration_since(time)
                .unwrap_or_else(|ahead| ahead.duration());
            apart < window
        })
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

    fn of_regular(path: &Path, metadata: &Metadata) -> Result<Self, FilesError> {
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

/// Returns when the newest of some files was modified.
pub(crate) fn newest(stamps: &[Stamp]) -> Option<SystemTime> {
    stamps.iter().map(Stamp::modified).max()
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

/// All files of a table, read once.
#[derive(Debug)]
pub(crate) struct Pass {
    /// The files with their bytes.
    pub(crate) files: Vec<SourceFile>,
    /// The metadata of each file before it was read.
    pub(crate) stamps: Vec<Stamp>,
    /// Whether the metadata was still the same after everything was read.
    pub(crate) steady: bool,
}

impl Pass {
    /// Reads the files that `listing` found under `paths`, at most `max` bytes.
    pub(crate) fn read(paths: &[PathBuf], listing: &Listing, max: u64) -> Result<Self, FilesError> {
        let stamps = stamps(&listing.files, max)?;
        let mut files = Vec::with_capacity(listing.files.len());
        let mut steady = true;
        let mut left = max;
        for (path, stamp) in listing.files.iter().zip(&stamps) {
            let (opened, bytes) = read_file(path, left, max)?;
            steady &= opened == *stamp;
            left = left.saturating_sub(bytes.len() as u64);
            files.push(SourceFile {
                path: path.to_string_lossy().into(),
                bytes,
            });
        }
        // Checked again by name and only after the last file: so a file that was renamed over
        // another, or a swapped link, cannot combine files of two generations.
        steady &= (listing.files.iter().zip(&stamps))
            .all(|(path, stamp)| Stamp::of(path).is_ok_and(|now| now == *stamp));
        steady &= Listing::of(paths).is_ok_and(|now| now == *listing);
        Ok(Self {
            files,
            stamps,
            steady,
        })
    }
}

/// Checks all files, so that a table too large is refused before any of it is in memory.
pub(crate) fn stamps(files: &[PathBuf], max: u64) -> Result<Vec<Stamp>, FilesError> {
    let stamps: Vec<Stamp> = (files.iter())
        .map(|path| Stamp::of(path))
        .collect::<Result<_, _>>()?;
    let mut total = 0_u64;
    let totals = stamps.iter().map(|stamp| {
        total = total.saturating_add(stamp.size);
        total
    });
    let totals: Vec<u64> = totals.collect();
    match totals.iter().position(|total| *total > max) {
        None => Ok(stamps),
        Some(at) => Err(too_large(&files[at], total, max)),
    }
}

/// Reads a file of at most `left` bytes, and returns its metadata as of when it was opened.
fn read_file(path: &Path, left: u64, max: u64) -> Result<(Stamp, Vec<u8>), FilesError> {
    let failed = |error| FilesError::from_io(path, error);
    let file = open(path).map_err(failed)?;
    let stamp = Stamp::of_regular(path, &file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    let expected = usize::try_from(stamp.size.min(left)).unwrap_or(0);
    bytes
        .try_reserve_exact(expected)
        .map_err(|error| failed(error.into()))?;
    // One byte more than allowed, to detect a longer file: it may grow while it is read, and some
    // files (those in /proc) have no size at all.
    let limit = left.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > left {
        // It grew meanwhile: more of it was read than is left.
        return Err(too_large(path, max - left + bytes.len() as u64, max));
    }
    Ok((stamp, bytes))
}

/// Opens a file for reading, without waiting for a writer should it have become a pipe.
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
}

fn too_large(path: &Path, size: u64, max: u64) -> FilesError {
    FilesError::TooLarge {
        path: path.to_owned(),
        size,
        max,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    const MAX: u64 = 1 << 20;

    fn read(path: &Path) -> Result<Pass, FilesError> {
        read_at_most(path, MAX)
    }

    fn read_at_most(path: &Path, max: u64) -> Result<Pass, FilesError> {
        let paths = [path.to_owned()];
        Pass::read(&paths, &Listing::of(&paths)?, max)
    }

    fn names(pass: &Pass) -> Vec<String> {
        let name = |file: &SourceFile| Path::new(&*file.path).file_name().unwrap().to_owned();
        (pass.files.iter())
            .map(|file| name(file).into_string().unwrap())
            .collect()
    }

    #[test]
    fn reads_a_file_under_the_name_it_was_given() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("table.txt");
        fs::write(&path, "text").unwrap();
        let pass = read(&path).unwrap();
        assert!(pass.steady);
        assert_eq!(pass.files.len(), 1);
        assert_eq!(*pass.files[0].path, *path.to_str().unwrap());
        assert_eq!(pass.files[0].bytes, b"text");
    }

    #[test]
    fn reads_the_yaml_files_of_a_directory_by_name_without_dotfiles() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "b.yml",
            "a.yaml",
            "B.yaml",
            ".hidden.yaml",
            ".yaml",
            "notes.md",
            "c.yaml~",
            "d.YAML",
        ] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        symlink("nowhere", dir.path().join(".#a.yaml")).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/e.yaml"), "").unwrap();

        let pass = read(dir.path()).unwrap();
        assert_eq!(names(&pass), ["B.yaml", "a.yaml", "b.yml"]);
        assert_eq!(pass.files[2].bytes, b"b.yml");
    }

    #[test]
    fn says_what_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        symlink("gone", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        fs::create_dir(at("empty")).unwrap();

        let error = |name: &str| read(&at(name)).unwrap_err();
        assert!(matches!(error("none"), FilesError::NotFound { .. }));
        assert!(matches!(error("file/x"), FilesError::NotFound { .. }));
        assert!(matches!(error("empty"), FilesError::NoYaml { .. }));
        assert!(matches!(error("circle"), FilesError::Io { .. }));
        let FilesError::DanglingLink { target, .. } = error("dangling") else {
            panic!("not reported as a link")
        };
        assert_eq!(
            target,
            at("gone")
                .parent()
                .unwrap()
                .canonicalize()
                .unwrap()
                .join("gone")
        );
    }

    #[test]
    fn refuses_what_could_block_a_reader() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert!(
            Command::new("mkfifo")
                .arg(at("pipe.yaml"))
                .status()
                .unwrap()
                .success()
        );
        let _socket = UnixListener::bind(at("socket")).unwrap();

        let kind = |path: &Path| match read(path).unwrap_err() {
            FilesError::NotRegular { kind, .. } => kind,
            other => panic!("{other}"),
        };
        assert_eq!(kind(&at("pipe.yaml")), "named pipe");
        assert_eq!(kind(&at("socket")), "socket");
        assert_eq!(kind(Path::new("/dev/zero")), "device");
        // The same as part of a directory, and for a directory in place of a file.
        assert_eq!(kind(dir.path()), "named pipe");
        fs::remove_file(at("pipe.yaml")).unwrap();
        fs::create_dir(at("dir.yaml")).unwrap();
        assert_eq!(kind(dir.path()), "directory");
    }

    #[test]
    fn does_not_wait_for_a_file_that_became_a_pipe_before_it_was_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let error = read_file(&path, MAX, MAX).unwrap_err();
        assert!(matches!(
            error,
            FilesError::NotRegular {
                kind: "named pipe",
                ..
            }
        ));
    }

    #[test]
    fn a_message_names_the_place_and_the_way_out() {
        let path = Path::new("links/mapping.yaml");
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert_eq!(
            FilesError::from_io(path, denied).to_string(),
            "no permission to read links/mapping.yaml: \
             let this user read it and enter its directories"
        );
        assert_eq!(
            too_large(path, 12, 10).to_string(),
            "the table is larger than 10 bytes at links/mapping.yaml: it has 12"
        );
    }

    #[test]
    fn refuses_what_this_user_may_not_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret.yaml");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // Permissions do not apply to root: there is nothing to test here.
        if File::open(&path).is_ok() {
            return;
        }
        let error = read(&path).unwrap_err();
        assert!(matches!(error, FilesError::Unreadable { .. }));
    }

    #[test]
    fn refuses_more_than_the_limit_over_all_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), "12345").unwrap();
        fs::write(dir.path().join("b.yaml"), "12345").unwrap();
        assert!(read_at_most(dir.path(), 10).is_ok());
        fs::write(dir.path().join("c.yaml"), "123").unwrap();
        let error = read_at_most(dir.path(), 9).unwrap_err();
        let FilesError::TooLarge { path, size, max: 9 } = error else {
            panic!("not refused as too large")
        };
        assert_eq!(path, dir.path().join("b.yaml"));
        assert_eq!(size, 13);
    }

    #[test]
    fn reads_no_more_than_the_limit_of_a_file_that_grew_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.yaml");
        fs::write(&path, "12345").unwrap();
        assert!(read_file(&path, 5, 9).is_ok());
        let error = read_file(&path, 4, 9).unwrap_err();
        let FilesError::TooLarge { size, max, .. } = error else {
            panic!("not refused as too large")
        };
        assert_eq!((size, max), (10, 9));
    }

    #[test]
    fn is_not_steady_when_a_file_came_after_the_listing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), "").unwrap();
        let paths = [dir.path().to_owned()];
        let listing = Listing::of(&paths).unwrap();
        fs::write(dir.path().join("b.yaml"), "").unwrap();
        assert!(!Pass::read(&paths, &listing, MAX).unwrap().steady);
    }

    #[test]
    fn a_time_far_in_the_future_is_not_near() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.yaml");
        fs::write(&path, "").unwrap();
        let window = Duration::from_secs(60);
        let now = SystemTime::now();
        assert!(Stamp::of(&path).unwrap().is_near(now, window));

        let year = Duration::from_secs(31_536_000);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(now + year).unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert!(!stamp.is_near(now + year / 2, window));
        assert_eq!(newest(&[stamp]).unwrap(), stamp.modified());
    }
}
