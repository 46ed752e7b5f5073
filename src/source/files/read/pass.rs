//! Reading the files of a table, once.
//!
//! One pass over the files, with the data needed to decide whether they changed meanwhile. That
//! decision, and retries, are in `reading.rs`. Pipes and devices are never opened for reading: they
//! could block a reader forever.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use git2::{ObjectType, Oid};

use super::earlier::{Earlier, KnownStates};
use super::file_record::FileRecord;
use super::steps::{FileSteps, Hashing, cut_all, open};
use crate::git::id_of;
use crate::mapping::{Cutter, FirstReading, KnownPieces, SourceFile, TableFile};
use crate::source::files::inspect::{FilesError, Inspection, Stamp};

/// The largest table in one file whose text is always read, in bytes: proposals for it are decided with
/// its text.
pub(crate) const SMALL: u64 = 64 << 10;

/// All files of a table, read once.
#[derive(Debug)]
pub(crate) struct Pass {
    /// The files, with the text that is not known yet.
    pub(crate) files: Vec<TableFile>,
    /// The metadata of each file before it was read, and what is remembered of it.
    pub(crate) states: Vec<FileRecord>,
    /// Whether the metadata was still the same after everything was read.
    pub(crate) steady: bool,
}

/// How a table is read.
struct PassReader<'a> {
    known: KnownStates<'a>,
    first: Option<&'a FirstReading>,
    /// Whether the identity of each file in Git is needed.
    needs_blobs: bool,
    max: u64,
    /// How many bytes may still be read.
    left: u64,
}

impl Pass {
    /// Reads the files that were found under `paths`, at most `max` bytes, except for parts that are
    /// already known.
    pub(super) fn read(
        paths: &[PathBuf],
        seen: &Inspection,
        max: u64,
        earlier: Earlier<'_>,
    ) -> Result<Self, FilesError> {
        let (listing, stamps) = (&seen.listing, seen.stamps_within(max)?);
        let mut reader = PassReader {
            known: KnownStates::of(earlier),
            first: earlier.first,
            needs_blobs: seen.head.is_some(),
            max,
            left: max,
        };
        if let Some(first) = earlier.first {
            first.begin();
        }
        let is_only = stamps.len() == 1;
        let mut files = Vec::with_capacity(stamps.len());
        let mut states = Vec::with_capacity(stamps.len());
        let mut steady = true;
        for (file, stamp) in listing.files().zip(&stamps) {
            let path = &*file.path();
            let keeps_text = is_only && stamp.size <= SMALL;
            let (opened, file, blob) = reader.read(path, stamp, keeps_text)?;
            steady &= opened == *stamp;
            reader.left = reader.left.saturating_sub(file.cut.size());
            states.push(FileRecord::new(path, *stamp, &file.cut, blob));
            files.push(file);
        }
        // Checked again by name, and only after the last file, so that a file renamed over another,
        // or a swapped link, cannot mix files of two generations.
        steady &= listing.is_current(paths, &stamps);
        Ok(Self {
            files,
            states,
            steady,
        })
    }

    /// Returns when the newest of the files was modified.
    pub(crate) fn newest(&self) -> Option<SystemTime> {
        let times = self.states.iter().map(|file| file.stamp.modified());
        times.max()
    }
}

impl PassReader<'_> {
    /// Reads a file, unless it is known, and returns its metadata as of when it was opened, and its
    /// identity in Git.
    fn read(
        &self,
        path: &Path,
        stamp: &Stamp,
        keeps_text: bool,
    ) -> Result<(Stamp, TableFile, Option<Oid>), FilesError> {
        let shown: Arc<str> = path.to_string_lossy().into();
        let known = match keeps_text {
            true => KnownPieces::default(),
            false => self.known.pieces(&shown),
        };
        if known.is_empty() {
            if let Some(first) = self.first {
                match keeps_text {
                    true => first.give_up(),
                    false => {
                        if let Some(read) = self.compile(path, &shown, first)? {
                            return Ok(read);
                        }
                    }
                }
            }
            let (opened, bytes) = read_whole(path, self.left, self.max)?;
            let blob = self.needs_blobs.then(|| id_of(ObjectType::Blob, &bytes));
            let file = TableFile::whole(SourceFile::new(shown, bytes));
            return Ok((opened, file, blob));
        }
        let unchanged = (self.known).unchanged(path, stamp, &known, self.needs_blobs);
        if let Some((cut, blob)) = unchanged {
            return Ok((*stamp, TableFile::known(shown, cut), blob));
        }
        self.stream(path, shown, &known)
    }

    fn hashing(&self) -> Hashing {
        match self.needs_blobs {
            true => Hashing::Blob,
            false => Hashing::None,
        }
    }

    /// Reads a file of which some pieces are known.
    fn stream(
        &self,
        path: &Path,
        shown: Arc<str>,
        known: &KnownPieces,
    ) -> Result<(Stamp, TableFile, Option<Oid>), FilesError> {
        let mut steps = FileSteps::open(path, (self.left, self.max), self.hashing())?;
        let mut cutter = Cutter::new(steps.size().min(self.left), known);
        cut_all(&mut cutter, |buffer| steps.read(buffer))?;
        let (stamp, blob) = steps.finish();
        Ok((stamp, cutter.finish(shown), blob))
    }

    /// Reads a file that is compiled meanwhile; `None` if its text is needed.
    fn compile(
        &self,
        path: &Path,
        shown: &Arc<str>,
        first: &FirstReading,
    ) -> Result<Option<(Stamp, TableFile, Option<Oid>)>, FilesError> {
        let mut steps = FileSteps::open(path, (self.left, self.max), self.hashing())?;
        let cut = steps.compile(shown, first)?;
        let (stamp, blob) = steps.finish();
        Ok(cut.map(|cut| {
            let file = TableFile::known(Arc::clone(shown), Arc::new(cut));
            (stamp, file, blob)
        }))
    }
}

/// Reads a file of at most `left` bytes, and returns its metadata as of when it was opened.
fn read_whole(path: &Path, left: u64, max: u64) -> Result<(Stamp, Vec<u8>), FilesError> {
    let failed = |error| FilesError::from_io(path, error);
    let (stamp, file) = open(path)?;
    let mut bytes = Vec::new();
    let expected = usize::try_from(stamp.size.min(left)).unwrap_or(0);
    bytes
        .try_reserve_exact(expected)
        .map_err(|error| failed(error.into()))?;
    // One byte more than allowed, to detect a longer file: it may grow while it is read, and some
    // files (those in /proc) report no size.
    let limit = left.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > left {
        // It grew meanwhile: more of it was read than is left.
        return Err(FilesError::too_large(
            path,
            max - left + bytes.len() as u64,
            max,
        ));
    }
    Ok((stamp, bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;
    use std::time::Duration;

    use super::*;
    use crate::source::files::inspect::Stamp;

    const MAX: u64 = 1 << 20;

    fn read(path: &Path) -> Result<Pass, FilesError> {
        read_at_most(path, MAX)
    }

    fn read_at_most(path: &Path, max: u64) -> Result<Pass, FilesError> {
        let paths = [path.to_owned()];
        let seen = Inspection::of(&paths).complete()?;
        Pass::read(&paths, &seen, max, Earlier::default())
    }

    fn bytes(pass: &Pass, number: usize) -> &[u8] {
        &pass.files[number].as_whole().unwrap().bytes
    }

    fn names(pass: &Pass) -> Vec<String> {
        let name = |file: &TableFile| Path::new(&*file.path).file_name().unwrap().to_owned();
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
        assert_eq!(bytes(&pass, 0), b"text");
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
        assert_eq!(bytes(&pass, 2), b"b.yml");
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
        // The same as part of a directory, and for a directory instead of a file.
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
        let error = read_whole(&path, MAX, MAX).unwrap_err();
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
             give this user read access to it and to its directories"
        );
        assert_eq!(
            FilesError::too_large(path, 12, 10).to_string(),
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
        assert!(read_whole(&path, 5, 9).is_ok());
        let error = read_whole(&path, 4, 9).unwrap_err();
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
        let seen = Inspection::of(&paths);
        fs::write(dir.path().join("b.yaml"), "").unwrap();
        let pass = Pass::read(&paths, &seen, MAX, Earlier::default());
        assert!(!pass.unwrap().steady);
    }

    #[test]
    fn is_not_steady_when_a_file_was_changed_after_the_inspection() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.yaml");
        let paths = [dir.path().to_owned()];
        fs::write(&path, "a").unwrap();
        let seen = Inspection::of(&paths);
        fs::write(&path, "ab").unwrap();
        let pass = Pass::read(&paths, &seen, MAX, Earlier::default());
        assert!(!pass.unwrap().steady);
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
    }
}
