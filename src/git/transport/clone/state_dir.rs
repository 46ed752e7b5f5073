//! The directory of a clone, with the state that is kept across restarts.
//!
//! One small file names the current clone and the served commit, another the commit being loaded;
//! each is replaced in one step, so a crash never leaves half a state. Every other clone is garbage
//! and removed. Invariant: one process uses a directory at a time.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::git::commit_id::CommitId;
use crate::git::random::random;
use crate::git::regular::read_regular;
use crate::git::setting::Setting;

const LOCK: &str = "lock";
const RECORD: &str = "state.json";
const ATTEMPT: &str = "attempt.json";
/// The size limit of a record in bytes, more than any has.
const MAX_RECORD: u64 = 1 << 20;
/// The prefix of the names of clones.
const CLONE: &str = "clone-";
/// The prefix of the names of private directories.
const PRIVATE: &str = "waypost-state-";
/// The age below which a private directory may belong to a process that has yet to lock it.
const SETTLED: Duration = Duration::from_secs(60);

/// The timeout for the previous user of the directory: a server that is being replaced, or a
/// process between `fork` and `exec`, holds the lock for a moment after it is done.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(20);

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process uses it.
    #[error(
        "another process uses the state directory {}: stop it, or give each process its own directory",
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// It belongs to someone else.
    #[error(
        "the state directory {} belongs to user {owner}, and the current user may not use it: \
         run as that user, `chown -R` it to the current user, or name another directory",
        path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The user id of its owner.
        owner: u32,
    },
    /// It cannot be written to.
    #[error(
        "cannot write to the state directory {}: mount it writable, let this user write to it, \
         or free space in it",
        path.display()
    )]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
    /// A temporary directory cannot be created.
    #[error(
        "cannot write to the state directory {}: name a directory with TMPDIR that this user can \
         write to, or free space in it",
        path.display()
    )]
    NoTemporary {
        /// The path.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
}

impl StateError {
    /// Returns the setting that may have to be changed.
    pub fn setting(&self) -> Option<Setting> {
        match self {
            Self::InUse { .. } | Self::Foreign { .. } | Self::Unwritable { .. } => {
                Some(Setting::StateDir)
            }
            Self::NoTemporary { .. } => None,
        }
    }

    /// Returns the error that something in the state directory belongs to someone else.
    pub(crate) fn foreign(path: &Path) -> Self {
        Self::Foreign {
            path: path.to_owned(),
            owner: fs::metadata(path).map_or(0, |it| it.uid()),
        }
    }
}

/// An open state directory, locked for this process.
#[derive(Debug)]
pub(crate) struct StateDir {
    path: PathBuf,
    /// The lock. There is none if the directory is not writable.
    _lock: Option<File>,
    private: bool,
}

/// The state that is kept across restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CloneRecord {
    /// The address of the followed remote, without secrets.
    pub(crate) remote: String,
    /// The followed reference.
    pub(crate) reference: Option<String>,
    /// The name of the current clone.
    pub(crate) clone: String,
    /// The name under which the commit was seen.
    pub(crate) seen_as: Option<String>,
    /// The commit to serve.
    pub(crate) commit: CommitId,
    /// The last commit known to hold a good table.
    pub(crate) good: Option<CommitId>,
}

impl StateDir {
    /// Opens and locks a directory, and creates it if needed.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|e| denied(&path, e))?;
        let lock_file = path.join(LOCK);
        let opened = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_file)
            // A lock needs no write permission. In a read-only directory the state is still valid.
            .or_else(|error| match error.kind() {
                io::ErrorKind::ReadOnlyFilesystem => File::open(&lock_file).map_err(|_| error),
                _ => Err(error),
            });
        let lock = match opened {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => None,
            Err(error) => return Err(denied(&path, error)),
        };
        match lock.as_ref().map(lock_with_timeout) {
            Some(Err(TryLockError::WouldBlock)) => Err(StateError::InUse { path }),
            Some(Err(TryLockError::Error(error))) => Err(denied(&path, error)),
            None | Some(Ok(())) => Ok(Self {
                path,
                _lock: lock,
                private: false,
            }),
        }
    }

    /// Creates a directory for this process alone, under `temp`; it is removed when this is
    /// dropped.
    ///
    /// Those of killed processes are removed: otherwise they would fill up a small temporary file
    /// system.
    pub(crate) fn private(temp: &Path) -> Result<Self, StateError> {
        let path = temp.join(format!("{PRIVATE}{:016x}", random()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        if let Err(source) = made {
            return Err(StateError::NoTemporary { path, source });
        }
        let mut state = Self::open(&path)?;
        state.private = true;
        if let Ok(me) = fs::metadata(&path) {
            remove_abandoned(temp, &path, me.uid());
        }
        Ok(state)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a clone.
    pub(crate) fn clone_path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns a name for a new clone.
    pub(crate) fn new_clone() -> String {
        format!("{CLONE}{:016x}", random())
    }

    /// Returns the last record, if it can be understood.
    pub(crate) fn load(&self) -> Option<CloneRecord> {
        let text = read_regular(&self.path.join(RECORD), MAX_RECORD).ok()?;
        let record: CloneRecord = serde_json::from_slice(&text).ok()?;
        // The name becomes part of a path.
        let plain = record.clone.starts_with(CLONE) && !record.clone.contains('/');
        plain.then_some(record)
    }

    /// Writes a record, durably and in one step.
    pub(crate) fn store(&self, record: &CloneRecord) -> Result<(), StateError> {
        self.write(RECORD, record)
    }

    /// Returns the last record of an attempt to load a commit, if it can be understood.
    pub(crate) fn load_attempt<A: DeserializeOwned>(&self) -> Option<A> {
        let text = read_regular(&self.attempt_path(), MAX_RECORD).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Records an attempt to load a commit, durably and in one step, if the directory outlives this
    /// process.
    pub(crate) fn store_attempt(&self, attempt: &impl Serialize) -> Result<(), StateError> {
        match self.private {
            true => Ok(()),
            false => self.write(ATTEMPT, attempt),
        }
    }

    /// Removes the record of an attempt. If it comes back after a power cut, it counts as one more
    /// attempt that ended with one.
    pub(crate) fn remove_attempt(&self) {
        let path = self.attempt_path();
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %path.display(), "cannot remove the record of an attempt");
        }
    }

    /// Returns the path of the record of attempts.
    pub(crate) fn attempt_path(&self) -> PathBuf {
        self.path.join(ATTEMPT)
    }

    fn write(&self, name: &str, content: &impl Serialize) -> Result<(), StateError> {
        let path = self.path.join(name);
        let aside = path.with_extension("json.new");
        let write = || {
            let mut file = File::create(&aside)?;
            file.write_all(&serde_json::to_vec_pretty(content)?)?;
            if self.private {
                // A temporary directory is not read after this process.
                return fs::rename(&aside, &path);
            }
            file.sync_all()?;
            fs::rename(&aside, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|e| denied(&path, e))
    }

    /// Removes every clone but the current one. Any that cannot be removed now are left to the next
    /// time.
    pub(crate) fn sweep(&self, keep: Option<&str>) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_clone = name.to_string_lossy().starts_with(CLONE);
            if is_clone && keep.is_none_or(|keep| name != keep) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        if self.private {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Returns the meaning of a failure to create or write something.
fn denied(path: &Path, source: io::Error) -> StateError {
    let metadata = path.ancestors().find_map(|it| fs::metadata(it).ok());
    let owner = metadata.map(|it| it.uid());
    match owner.filter(|owner| Some(*owner) != me()) {
        Some(owner) if source.kind() == io::ErrorKind::PermissionDenied => StateError::Foreign {
            path: path.to_owned(),
            owner,
        },
        _ => StateError::Unwritable {
            path: path.to_owned(),
            source,
        },
    }
}

/// Returns the user id of this process, where the system provides it as that of a file (proc(5)).
fn me() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|it| it.uid())
}

/// Removes private directories of this user that no process has locked.
fn remove_abandoned(temp: &Path, mine: &Path, user: u32) {
    for entry in fs::read_dir(temp).into_iter().flatten().flatten() {
        let path = entry.path();
        if path == mine || !entry.file_name().to_string_lossy().starts_with(PRIVATE) {
            continue;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let age = metadata.modified().ok().and_then(|it| it.elapsed().ok());
        let settled = age.is_some_and(|age| age > SETTLED);
        if !metadata.is_dir() || metadata.uid() != user || !settled {
            continue;
        }
        let held = File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err());
        if !held {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Takes a lock, or gives up after [`LOCK_TIMEOUT`].
fn lock_with_timeout(file: &File) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_TIMEOUT => thread::sleep(STEP),
            taken => return taken,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    fn record(clone: &str) -> CloneRecord {
        CloneRecord {
            remote: "https://h.example/r".to_owned(),
            reference: None,
            clone: clone.to_owned(),
            seen_as: None,
            commit: git2::Oid::ZERO_SHA1.into(),
            good: None,
        }
    }

    #[test]
    fn one_process_uses_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/state");
        let first = StateDir::open(&path).unwrap();
        assert!(matches!(
            StateDir::open(&path),
            Err(StateError::InUse { .. })
        ));
        drop(first);
        StateDir::open(&path).unwrap();
    }

    #[test]
    fn only_what_is_someone_elses_is_foreign() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path| denied(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(refused(dir.path()), StateError::Unwritable { .. }));
        // Only root can give a directory away; the first process belongs to root.
        let theirs = match chown(dir.path(), Some(12_345), None) {
            Ok(()) => dir.path(),
            Err(_) => Path::new("/proc/1"),
        };
        assert!(matches!(refused(theirs), StateError::Foreign { .. }));
    }

    #[test]
    fn remembers_what_was_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        assert_eq!(state.load(), None);
        state.store(&record("clone-1")).unwrap();
        assert_eq!(state.load(), Some(record("clone-1")));
        state.store(&record("clone-1/../../x")).unwrap();
        assert_eq!(state.load(), None);
    }

    #[test]
    fn sweeps_all_clones_but_one() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(dir.path()).unwrap();
        for name in ["clone-1", "clone-2", "other"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        state.sweep(Some("clone-2"));
        let left = ["clone-1", "clone-2", "other"].map(|it| dir.path().join(it).exists());
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn a_private_directory_is_private_and_goes_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::private(dir.path()).unwrap();
        let path = state.path().to_owned();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o700
        );
        drop(state);
        assert!(!path.exists());
    }

    #[test]
    fn removes_what_killed_processes_left() {
        let dir = tempfile::tempdir().unwrap();
        let [old, young, held] =
            ["1", "2", "3"].map(|it| dir.path().join(format!("{PRIVATE}{it}")));
        fs::create_dir(&old).unwrap();
        fs::create_dir(&young).unwrap();
        let _held = StateDir::open(&held).unwrap();
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
        for path in [&old, &held] {
            File::open(path).unwrap().set_modified(hour_ago).unwrap();
        }
        let _state = StateDir::private(dir.path()).unwrap();
        assert_eq!(
            [old.exists(), young.exists(), held.exists()],
            [false, true, true]
        );
    }
}
