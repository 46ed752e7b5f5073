//! A table's text and revision, read so that they match.
//!
//! Files are written while they are read: by editors, by `git pull`, by copying. A reading is
//! therefore a pass over the files that nothing disturbed: Git was not at work, nothing looked
//! different afterwards, and nothing had changed just before, or else two passes agree.
//!
//! This cannot detect a writer that pauses longer than the wait, halfway through a file that it
//! writes in place. A server uses `writers.rs` for those. Commands that read once (`check`,
//! `add`) take the file as it is: anyone who runs one knows what they have written.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::checkout::{Checkout, CommitComparison};
use super::error::FilesError;
use super::fingerprint::{Fingerprint, ReadingState};
use super::inspection::{Inspection, noted};
use super::listing::{self, Listing, Pass, Stamp};
use super::locks::Locks;
use super::repository_place::RepositoryPlace;
use super::revision::{Revision, content_hash};
use crate::mapping::{SourceFile, Timestamp};

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

/// The whole text of a table, with its revision.
#[derive(Debug)]
pub struct Reading {
    /// The files in the order of their paths, and by name within a directory.
    pub files: Vec<SourceFile>,
    /// The version of the table.
    pub revision: Revision,
    /// The reasons why the revision is not known better, for people. Usually empty, and the same at
    /// each reading until someone acts on it.
    pub warnings: Vec<String>,
    /// What to compare with to decide whether to read again.
    pub fingerprint: Fingerprint,
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

    /// Reads the table, and waits for anyone who is changing it: usually not at all, at most some
    /// 20 seconds.
    ///
    /// Blocks the thread.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, are too large together, or keep changing.
    pub fn read(&self) -> Result<Reading, FilesError> {
        self.read_seen(self.inspect())
    }

    /// Reads the table as [`read`](Self::read) does, beginning with what was seen just now.
    pub(super) fn read_seen(&self, seen: Inspection) -> Result<Reading, FilesError> {
        self.read_settled(seen, &ReadingSystemClock(Instant::now()))
    }

    /// Looks at what the paths name, without reading it.
    pub fn inspect(&self) -> Inspection {
        Inspection::of(&self.paths)
    }

    /// Reads the table as it is, without waiting for anyone.
    ///
    /// For commands that read once. A Git hook runs while Git itself holds the checkout's lock, and
    /// would wait for its own end.
    ///
    /// # Errors
    ///
    /// If the files cannot be read, are too large together, or change while they are read.
    pub fn read_once(&self) -> Result<Reading, FilesError> {
        let now = SystemTime::now();
        let attempt = self.attempt(self.inspect())?;
        if !attempt.pass.steady {
            return Err(self.still_being_written());
        }
        Ok(attempt.into_reading(now))
    }

    /// Returns whether the table, as seen just now, may differ from the one with this fingerprint.
    ///
    /// Reads nothing, so it is cheap for a table of any size. In doubt, and after any error, the
    /// answer is yes.
    pub fn may_differ_from(&self, known: &Fingerprint, seen: &Inspection) -> bool {
        known.may_be_outdated(seen, self.max_bytes)
    }

    fn read_settled(
        &self,
        seen: Inspection,
        clock: &dyn ReadingClock,
    ) -> Result<Reading, FilesError> {
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

            let mut attempt = match self.attempt(seen) {
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
                let this = (attempt.pass.stamps.clone(), attempt.hash.clone());
                if !attempt.pass.stamps.iter().any(young) || before.as_ref() == Some(&this) {
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

    /// Reads everything once, and looks at the commit again after the files.
    fn attempt(&self, seen: Inspection) -> Result<ReadingAttempt, FilesError> {
        let Inspection {
            listing,
            trails,
            checkout,
            head,
            warnings,
            ..
        } = seen.complete()?;
        let mut pass = Pass::read(&self.paths, &listing, self.max_bytes)?;
        if let Some(checkout) = &checkout {
            pass.steady &= checkout.head().ok().flatten() == head;
        }
        let stamps = pass.stamps.clone();
        Ok(ReadingAttempt {
            hash: content_hash(&pass.files),
            pass,
            state: ReadingState {
                listing,
                stamps,
                head,
                trails,
            },
            checkout,
            warnings,
        })
    }

    fn still_being_written(&self) -> FilesError {
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
    fn into_reading(mut self, now: SystemTime) -> Reading {
        let verdict = match (&self.checkout, self.state.head) {
            (Some(checkout), Some(head)) => {
                let judged = checkout.judge(
                    head,
                    &self.state.listing,
                    &self.state.trails,
                    &self.pass.files,
                );
                noted(judged.map(|it| Some((head, it))), &mut self.warnings)
            }
            _ => None,
        };
        let changed = listing::newest(&self.pass.stamps).map(Timestamp::from);
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
    use std::path::Path;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// A clock whose time passes only in `sleep`, which also runs the events that would happen
    /// meanwhile.
    struct Fake<'a> {
        just_written: Option<&'a Path>,
        slept: Cell<Duration>,
        meanwhile: RefCell<Box<dyn FnMut(Duration) + 'a>>,
    }

    impl<'a> Fake<'a> {
        /// A clock by which this file was always written just now.
        fn at_change_of(path: &'a Path, meanwhile: impl FnMut(Duration) + 'a) -> Self {
            Self {
                just_written: Some(path),
                ..Self::ahead(meanwhile)
            }
        }

        /// A clock by which files just written are old: it is an hour ahead.
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

    fn text(reading: &Reading) -> &str {
        str::from_utf8(&reading.files[0].bytes).unwrap()
    }

    #[test]
    fn reads_a_quiet_file_without_waiting() {
        let (_dir, _, source) = table("quiet");
        let clock = Fake::ahead(|_| panic!("waited"));
        let reading = source.read_settled(source.inspect(), &clock).unwrap();
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
        assert_eq!(
            text(&source.read_settled(source.inspect(), &clock).unwrap()),
            "half of it"
        );
    }

    #[test]
    fn gives_up_on_a_file_that_never_comes_to_rest() {
        let (_dir, path, source) = table("");
        let mut written = String::new();
        let clock = Fake::at_change_of(&path, |_| {
            written.push('x');
            fs::write(&path, &written).unwrap();
        });
        let error = source.read_settled(source.inspect(), &clock).unwrap_err();
        assert!(matches!(error, FilesError::StillBeingWritten { .. }));
        assert!(source.read_once().is_ok());
    }

    #[test]
    fn does_not_wait_for_a_file_from_the_future() {
        let (_dir, path, source) = table("tomorrow");
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + 24 * HOUR).unwrap();
        let clock = Fake::ahead(|_| panic!("waited"));
        assert_eq!(
            text(&source.read_settled(source.inspect(), &clock).unwrap()),
            "tomorrow"
        );
    }

    #[test]
    fn waits_a_moment_for_a_file_that_is_deleted_and_written_again() {
        let (_dir, path, source) = table("old");
        fs::remove_file(&path).unwrap();
        let clock = Fake::ahead(|_| fs::write(&path, "new").unwrap());
        assert_eq!(
            text(&source.read_settled(source.inspect(), &clock).unwrap()),
            "new"
        );
    }

    #[test]
    fn reports_a_file_that_stays_away() {
        let (_dir, path, source) = table("");
        fs::remove_file(&path).unwrap();
        let clock = Fake::ahead(|slept| assert!(slept < TIMEOUT, "waited too long"));
        let error = source.read_settled(source.inspect(), &clock).unwrap_err();
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
        let reading = source.read_settled(source.inspect(), &clock).unwrap();
        assert_eq!(text(&reading), "half of it");
        assert!(reading.warnings.is_empty());
    }

    #[test]
    fn reads_past_a_lock_that_git_left_behind() {
        let (dir, _, source) = table("text");
        git2::Repository::init(dir.path()).unwrap();
        fs::write(dir.path().join(".git/index.lock"), "").unwrap();
        let clock = Fake::ahead(|_| panic!("waited"));
        let reading = source.read_settled(source.inspect(), &clock).unwrap();
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
        let reading = source.read_settled(source.inspect(), &clock).unwrap();
        assert_eq!(reading.warnings.len(), 1);
    }

    #[test]
    fn a_hook_under_gits_own_lock_does_not_wait() {
        let (dir, _, source) = table("text");
        git2::Repository::init(dir.path()).unwrap();
        fs::write(dir.path().join(".git/index.lock"), "").unwrap();
        assert_eq!(text(&source.read_once().unwrap()), "text");
    }

    #[test]
    fn knows_without_reading_that_nothing_changed() {
        let (_dir, path, source) = table("old");
        let settled = || {
            source
                .read_settled(source.inspect(), &Fake::ahead(|_| {}))
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
            .read_settled(source.inspect(), &Fake::at_change_of(&path, |_| {}))
            .unwrap()
            .fingerprint;
        assert!(source.may_differ_from(&known, &source.inspect()));
    }
}
