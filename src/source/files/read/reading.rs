//! A table's text and revision, read so that they match.
//!
//! Files are written while they are read: by editors, by `git pull`, by copying. A reading is
//! therefore an undisturbed pass over the files: Git was not running, no metadata differed
//! afterwards, and nothing had changed just before, or else two passes agree.
//!
//! This cannot detect a writer that pauses for longer than the timeout in the middle of a file that
//! it writes in place. A server uses `events/writers.rs` for those. Commands that read once (`check`,
//! `add`) take the file as it is: the person who runs one knows the state of the file.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::earlier::Earlier;
use super::fingerprint::{Fingerprint, ReadingState};
use super::pass::Pass;
use super::revision::{Revision, content_hash};
use crate::mapping::{FirstReading, SourceFile, TableFile, Timestamp};
use crate::source::files::inspect::{
    Checkout, CommitComparison, FilesError, Inspection, Listing, Locks, RepositoryPlace, Stamp,
    noted,
};

/// The timeout for Git to release a checkout, and again for files to stop changing.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout for a missing file: some programs delete a file to write it again.
const MISSING_TIMEOUT: Duration = Duration::from_millis(300);

/// The time between two checks.
const STEP: Duration = Duration::from_millis(100);

/// The age below which a file may still be in the middle of a change.
const YOUNG: Duration = Duration::from_millis(200);

/// A table in files: some paths, each a file or a directory of files.
#[derive(Debug, Clone)]
pub struct FileSource {
    paths: Vec<PathBuf>,
    max_bytes: u64,
}

/// The text of a table, with its revision: whole files, or cut files without the parts that are
/// already known.
#[derive(Debug)]
pub struct Reading<File = SourceFile> {
    /// The files in the order of their paths, and by name within a directory.
    pub files: Vec<File>,
    /// The version of the table.
    pub revision: Revision,
    /// Human-readable reasons why the revision is incomplete. Usually empty, and the same at each
    /// reading until the cause is fixed.
    pub warnings: Vec<String>,
    /// The fingerprint that decides whether to read again.
    pub fingerprint: Fingerprint,
}

impl Reading<TableFile> {
    /// Returns a reading of whole files, from one without known parts.
    pub(crate) fn into_whole(self) -> Reading {
        let whole = |file: TableFile| {
            let file = file.into_whole();
            file.expect("all text is read if nothing is known from before")
        };
        Reading {
            files: self.files.into_iter().map(whole).collect(),
            revision: self.revision,
            warnings: self.warnings,
            fingerprint: self.fingerprint,
        }
    }
}

impl FileSource {
    /// Names a table by files and directories, and limits it to `max_bytes` over all files.
    ///
    /// Nothing is read yet. Without paths the table is empty.
    pub fn new(paths: Vec<PathBuf>, max_bytes: u64) -> Self {
        Self { paths, max_bytes }
    }

    /// Returns the paths that name the table, as they were given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the most bytes that it may have.
    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Locates the table in its repository. Reads the disk.
    pub fn place(&self) -> RepositoryPlace {
        RepositoryPlace::of_files(&self.paths)
    }

    /// Returns whether there is no table at its paths: one of them is missing, or an empty
    /// directory.
    pub fn is_absent(&self) -> bool {
        matches!(
            Listing::of(&self.paths),
            Err(FilesError::NotFound { .. } | FilesError::NoYaml { .. })
        )
    }

    /// Reads the table, and waits until it is not being changed: usually not at all, at most some
    /// 20 seconds.
    ///
    /// Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, are too large together, or keep changing.
    pub fn read(&self) -> Result<Reading, FilesError> {
        let reading = self.read_seen(self.inspect(), Earlier::default())?;
        Ok(reading.into_whole())
    }

    /// Reads the table as [`read`](Self::read) does, starting from the current inspection, except
    /// for parts that are already known.
    pub(in crate::source::files) fn read_seen(
        &self,
        seen: Inspection,
        earlier: Earlier<'_>,
    ) -> Result<Reading<TableFile>, FilesError> {
        self.read_settled(seen, earlier, &ReadingSystemClock(Instant::now()))
    }

    /// Inspects the paths, without reading the files.
    pub fn inspect(&self) -> Inspection {
        Inspection::of(&self.paths)
    }

    /// Reads the table as it is, without waiting.
    ///
    /// For commands that read once. A Git hook runs while Git itself holds the checkout's lock, so
    /// waiting would be a deadlock.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, are too large together, or change while they are read.
    pub fn read_once(&self) -> Result<Reading, FilesError> {
        let now = SystemTime::now();
        let attempt = self.attempt_once(Earlier::default())?;
        Ok(attempt.into_reading(now).into_whole())
    }

    /// Reads the files as [`read_once`](Self::read_once) does, and compiles them meanwhile; returns as much
    /// of their text as was needed.
    ///
    /// # Errors
    ///
    /// Those of `read_once`.
    pub fn compile_once(&self, first: &FirstReading) -> Result<Vec<TableFile>, FilesError> {
        let earlier = Earlier {
            first: Some(first),
            ..Earlier::default()
        };
        Ok(self.attempt_once(earlier)?.pass.files)
    }

    fn attempt_once(&self, earlier: Earlier<'_>) -> Result<ReadingAttempt, FilesError> {
        let attempt = self.attempt(self.inspect(), earlier)?;
        match attempt.pass.steady {
            true => Ok(attempt),
            false => Err(self.still_being_written()),
        }
    }

    /// Returns whether the inspected table may differ from the one with this fingerprint.
    ///
    /// Reads nothing, so it is cheap for a table of any size. If in doubt, and after any error, the
    /// answer is yes.
    pub fn may_differ_from(&self, known: &Fingerprint, seen: &Inspection) -> bool {
        known.may_be_outdated(seen)
    }

    fn read_settled(
        &self,
        seen: Inspection,
        earlier: Earlier<'_>,
        clock: &dyn ReadingClock,
    ) -> Result<Reading<TableFile>, FilesError> {
        let mut waited_for_git = Duration::ZERO;
        let mut first = Some(seen);
        let mut before: Option<(Vec<Stamp>, String)> = None;
        loop {
            let began = clock.elapsed();
            let now = clock.now();
            let seen = first.take().unwrap_or_else(|| self.inspect());
            let mut locks = Locks::of(&seen.surroundings, now, TIMEOUT);
            if locks.fresh && waited_for_git < TIMEOUT {
                clock.sleep(STEP);
                waited_for_git += clock.elapsed().saturating_sub(began);
                continue;
            }
            // Waiting for Git does not count against the files.
            let waited = clock.elapsed().saturating_sub(waited_for_git);

            if let Some(left) = seen.young_for(now, YOUNG).filter(|_| waited < YOUNG) {
                // Reading it now would have to be repeated.
                clock.sleep(left.min(STEP));
                continue;
            }
            let mut attempt = match self.attempt(seen, earlier) {
                Ok(attempt) => attempt,
                Err(error) if error.is_missing() && waited < MISSING_TIMEOUT => {
                    clock.sleep(STEP);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let locked_meanwhile = !locks.fresh && locks.look_again(clock.now(), TIMEOUT);
            if attempt.pass.steady && !locked_meanwhile {
                let young = |stamp: &Stamp| stamp.is_near(now, YOUNG);
                let stamps = attempt.state.files.iter().map(|file| file.stamp);
                let this = (stamps.collect::<Vec<_>>(), attempt.hash.clone());
                if !this.0.iter().any(young) || before.as_ref() == Some(&this) {
                    attempt.warnings.extend(locks.warnings());
                    return Ok(attempt.into_reading(now));
                }
                before = Some(this);
            } else {
                before = None;
            }
            if waited >= TIMEOUT {
                return Err(self.still_being_written());
            }
            clock.sleep(STEP);
        }
    }

    /// Reads everything once, and checks the commit again after the files.
    fn attempt(
        &self,
        seen: Inspection,
        earlier: Earlier<'_>,
    ) -> Result<ReadingAttempt, FilesError> {
        let seen = seen.complete()?;
        let mut pass = Pass::read(&self.paths, &seen, self.max_bytes, earlier)?;
        let Inspection {
            listing,
            trails,
            checkout,
            head,
            warnings,
            ..
        } = seen;
        if let Some(checkout) = &checkout {
            pass.steady &= checkout.head().ok().flatten() == head;
        }
        let files = pass.states.clone();
        Ok(ReadingAttempt {
            hash: content_hash(&pass.files),
            pass,
            state: ReadingState {
                listing,
                files,
                head,
                trails,
            },
            checkout,
            warnings,
        })
    }

    pub(super) fn still_being_written(&self) -> FilesError {
        FilesError::StillBeingWritten {
            path: self.paths.first().cloned().unwrap_or_default(),
        }
    }
}

/// The result of one pass, whether or not it is valid.
struct ReadingAttempt {
    pass: Pass,
    hash: String,
    state: ReadingState,
    checkout: Option<Checkout>,
    warnings: Vec<String>,
}

impl ReadingAttempt {
    /// Makes it a reading that began at `now`.
    fn into_reading(mut self, now: SystemTime) -> Reading<TableFile> {
        let blobs: Vec<_> = self.state.files.iter().map(|file| file.blob).collect();
        let verdict = match (&self.checkout, self.state.head) {
            (Some(checkout), Some(head)) => {
                let (listing, trails) = (&self.state.listing, &self.state.trails);
                let judged = checkout.judge(head, listing, trails, &blobs);
                noted(judged.map(|it| Some((head, it))), &mut self.warnings)
            }
            _ => None,
        };
        let changed = self.pass.newest().map(Timestamp::from);
        let revision = match verdict {
            Some((head, CommitComparison::Clean(time))) => Revision::clean(head, time, self.hash),
            Some((head, CommitComparison::Dirty)) => Revision::dirty(head, changed, self.hash),
            Some((_, CommitComparison::Unknown)) | None => Revision::content(changed, self.hash),
        };
        Reading {
            files: self.pass.files,
            revision,
            warnings: self.warnings,
            fingerprint: Fingerprint::new(self.state, now),
        }
    }
}

/// A clock.
trait ReadingClock {
    /// Returns the time of day, as in file times.
    fn now(&self) -> SystemTime;
    /// Returns the time since the clock was started.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&self, duration: Duration);
}

struct ReadingSystemClock(Instant);

impl ReadingClock for ReadingSystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, duration: Duration) {
        thread::sleep(duration);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt as _;
    use std::path::Path;

    use super::*;
    use crate::mapping::{Cut, compile_after};

    const HOUR: Duration = Duration::from_secs(3_600);

    /// A clock whose time passes only in `sleep`, which also runs the events that would happen
    /// meanwhile.
    struct Fake<'a> {
        just_written: Option<&'a Path>,
        slept: Cell<Duration>,
        meanwhile: RefCell<Box<dyn FnMut(Duration) + 'a>>,
    }

    impl<'a> Fake<'a> {
        /// A clock by which this file has always just been written.
        fn at_change_of(path: &'a Path, meanwhile: impl FnMut(Duration) + 'a) -> Self {
            Self {
                just_written: Some(path),
                ..Self::ahead(meanwhile)
            }
        }

        /// A clock that is an hour ahead, so that new files look old.
        fn ahead(meanwhile: impl FnMut(Duration) + 'a) -> Self {
            Self {
                just_written: None,
                slept: Cell::default(),
                meanwhile: RefCell::new(Box::new(meanwhile)),
            }
        }
    }

    impl ReadingClock for Fake<'_> {
        fn now(&self) -> SystemTime {
            match self.just_written {
                Some(path) => fs::metadata(path)
                    .and_then(|metadata| metadata.modified())
                    .unwrap_or_else(|_| SystemTime::now()),
                None => SystemTime::now() + HOUR,
            }
        }

        fn elapsed(&self) -> Duration {
            self.slept.get()
        }

        fn sleep(&self, duration: Duration) {
            self.slept.set(self.slept.get() + duration);
            (self.meanwhile.borrow_mut())(self.slept.get());
        }
    }

    fn table(text: &str) -> (tempfile::TempDir, PathBuf, FileSource) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mapping.yaml");
        fs::write(&path, text).unwrap();
        let source = FileSource::new(vec![path.clone()], 1 << 20);
        (dir, path, source)
    }

    fn text(reading: &Reading<TableFile>) -> &str {
        str::from_utf8(&reading.files[0].as_whole().unwrap().bytes).unwrap()
    }

    fn settled(source: &FileSource, clock: &Fake<'_>) -> Result<Reading<TableFile>, FilesError> {
        source.read_settled(source.inspect(), Earlier::default(), clock)
    }

    #[test]
    fn reads_a_quiet_file_without_waiting() {
        let (_dir, _, source) = table("quiet");
        let clock = Fake::ahead(|_| panic!("waited"));
        let reading = settled(&source, &clock).unwrap();
        assert_eq!(text(&reading), "quiet");
        assert_eq!(reading.revision.commit(), None);
        assert!(reading.revision.time().is_some());
        assert!(reading.warnings.is_empty());
    }

    #[test]
    fn never_reads_half_of_a_file_that_is_written_in_place() {
        let (_dir, path, source) = table("half");
        let clock = Fake::at_change_of(&path, |slept| match slept.as_millis() {
            100 => fs::write(&path, "half of").unwrap(),
            200 => fs::write(&path, "half of it").unwrap(),
            _ => {}
        });
        assert_eq!(text(&settled(&source, &clock).unwrap()), "half of it");
    }

    #[test]
    fn gives_up_on_a_file_that_never_comes_to_rest() {
        let (_dir, path, source) = table("");
        let mut written = String::new();
        let clock = Fake::at_change_of(&path, |_| {
            written.push('x');
            fs::write(&path, &written).unwrap();
        });
        let error = settled(&source, &clock).unwrap_err();
        assert!(matches!(error, FilesError::StillBeingWritten { .. }));
        assert!(source.read_once().is_ok());
    }

    #[test]
    fn does_not_wait_for_a_file_from_the_future() {
        let (_dir, path, source) = table("tomorrow");
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + 24 * HOUR).unwrap();
        let clock = Fake::ahead(|_| panic!("waited"));
        assert_eq!(text(&settled(&source, &clock).unwrap()), "tomorrow");
    }

    #[test]
    fn waits_a_moment_for_a_file_that_is_deleted_and_written_again() {
        let (_dir, path, source) = table("old");
        fs::remove_file(&path).unwrap();
        let clock = Fake::ahead(|_| fs::write(&path, "new").unwrap());
        assert_eq!(text(&settled(&source, &clock).unwrap()), "new");
    }

    #[test]
    fn reports_a_file_that_stays_away() {
        let (_dir, path, source) = table("");
        fs::remove_file(&path).unwrap();
        let clock = Fake::ahead(|slept| assert!(slept < TIMEOUT, "waited too long"));
        let error = settled(&source, &clock).unwrap_err();
        assert!(matches!(error, FilesError::NotFound { .. }));
    }

    #[test]
    fn waits_while_git_works_and_reads_what_it_leaves() {
        let (dir, path, source) = table("half of");
        git2::Repository::init(dir.path()).unwrap();
        let lock = dir.path().join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        let clock = Fake::at_change_of(&path, |slept| match slept.as_secs() {
            // Git deletes a file before it writes it, which does not mean that the table is
            // deleted.
            2 if path.exists() => fs::remove_file(&path).unwrap(),
            4 if lock.exists() => {
                fs::write(&path, "half of it").unwrap();
                fs::remove_file(&lock).unwrap();
            }
            _ => {}
        });
        let reading = settled(&source, &clock).unwrap();
        assert_eq!(text(&reading), "half of it");
        assert!(reading.warnings.is_empty());
    }

    #[test]
    fn reads_past_a_lock_that_git_left_behind() {
        let (dir, _, source) = table("text");
        git2::Repository::init(dir.path()).unwrap();
        fs::write(dir.path().join(".git/index.lock"), "").unwrap();
        let clock = Fake::ahead(|_| panic!("waited"));
        let reading = settled(&source, &clock).unwrap();
        assert_eq!(text(&reading), "text");
        assert!(reading.warnings[0].contains("index.lock"));
    }

    #[test]
    fn reads_past_a_lock_that_is_always_new() {
        let (dir, _, source) = table("text");
        git2::Repository::init(dir.path()).unwrap();
        let lock = File::create(dir.path().join(".git/index.lock")).unwrap();
        lock.set_modified(SystemTime::now() + 24 * HOUR).unwrap();
        let clock = Fake::ahead(|slept| assert!(slept <= 2 * TIMEOUT, "waited too long"));
        let reading = settled(&source, &clock).unwrap();
        assert_eq!(reading.warnings.len(), 1);
    }

    #[test]
    fn a_hook_under_gits_own_lock_does_not_wait() {
        let (dir, _, source) = table("text");
        git2::Repository::init(dir.path()).unwrap();
        fs::write(dir.path().join(".git/index.lock"), "").unwrap();
        assert_eq!(source.read_once().unwrap().files[0].bytes, b"text");
    }

    #[test]
    fn knows_without_reading_that_nothing_changed() {
        let (_dir, path, source) = table("old");
        let settled = || {
            source
                .read_settled(source.inspect(), Earlier::default(), &Fake::ahead(|_| {}))
                .unwrap()
        };
        let known = settled().fingerprint;
        assert!(!source.may_differ_from(&known, &source.inspect()));

        // As an editor saves, but with the size and time of the old file.
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let beside = path.with_extension("tmp");
        fs::write(&beside, "new").unwrap();
        (File::options().write(true).open(&beside).unwrap())
            .set_modified(modified)
            .unwrap();
        fs::rename(&beside, &path).unwrap();
        assert!(source.may_differ_from(&known, &source.inspect()));
        assert!(!source.may_differ_from(&settled().fingerprint, &source.inspect()));

        fs::remove_file(&path).unwrap();
        assert!(source.may_differ_from(&known, &source.inspect()));
    }

    #[test]
    fn does_not_trust_the_times_of_a_file_just_changed() {
        let (_dir, path, source) = table("text");
        let known = source
            .read_settled(
                source.inspect(),
                Earlier::default(),
                &Fake::at_change_of(&path, |_| {}),
            )
            .unwrap()
            .fingerprint;
        assert!(source.may_differ_from(&known, &source.inspect()));
    }

    #[test]
    fn what_is_read_in_pieces_is_never_of_two_versions() {
        let entries = |host: &str| -> String {
            let entries = (0..9_000).map(|it| format!("- url: https://{host}/{it:04}\n"));
            entries.collect()
        };
        let version = |host: &str| {
            let text = format!("base_url: https://s.code/\nmapping:\n{}", entries(host));
            text.into_bytes()
        };
        // Of the same length.
        let versions = [version("one.org"), version("two.org")];
        let (_dir, path, source) = table("");
        fs::write(&path, &versions[0]).unwrap();
        let whole = source.read().unwrap().files;
        let table = compile_after(&whole, None).table.unwrap();
        let hashes = versions.each_ref().map(|text| *Cut::of(text).hash());
        let writer = thread::spawn({
            let versions = versions.clone();
            move || {
                for number in 1..12 {
                    // In one step: a file that stays cut off for long is read as it is.
                    let file = File::options().write(true).open(&path).unwrap();
                    file.write_all_at(&versions[number % 2], 0).unwrap();
                    thread::sleep(Duration::from_millis(20));
                }
            }
        });
        let mut last = None;
        while !writer.is_finished() || last != Some(hashes[1]) {
            let earlier = Earlier {
                table: Some(&table),
                ..Earlier::default()
            };
            let reading = source.read_seen(source.inspect(), earlier).unwrap();
            let hash = *reading.files[0].cut.hash();
            assert!(hashes.contains(&hash));
            last = Some(hash);
        }
        writer.join().unwrap();
    }
}
