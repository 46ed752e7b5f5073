//! The writers of a table's files: their events, and whether their writes are complete.
//!
//! `settling.rs` makes the decision; the events of `notify`, the clock and the reading are here.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{AccessKind, AccessMode, Flag, ModifyKind, RenameMode};
use notify::{Event, EventKind};

use super::places::Places;
use super::settling::{Incomplete, Look, Rests, Settling};
use crate::mapping::TableFile;
use crate::source::files::inspect::{FilesError, Inspection, Stamp};
use crate::source::files::read::{Earlier, FileSource, Reading};

/// The writers of a table's files, shared between the watcher and the reader of the files.
#[derive(Debug, Clone)]
pub struct Writers {
    state: Arc<Mutex<WritersState>>,
    started: Instant,
}

#[derive(Debug, Default)]
struct WritersState {
    settling: Settling,
    rests: Rests,
    /// The hash of the table that was taken last.
    hash: Option<String>,
}

impl Writers {
    /// Returns a value that knows nothing about writers yet.
    pub fn new() -> Self {
        Self {
            state: Arc::default(),
            started: Instant::now(),
        }
    }

    /// Changes the timeouts from now on.
    pub fn wait_for(&self, rests: Rests) {
        self.state().rests = rests;
    }

    /// Reads a table that was just inspected, if every file of it is complete, except for parts
    /// that are already known.
    ///
    /// Files are complete if a Git commit has them with exactly these bytes, or if these bytes were
    /// read last time. Blocks the thread as [`FileSource::read`] does, but does not wait for a
    /// writer.
    ///
    /// # Errors
    ///
    /// [`FilesError::Unsettled`] while a file may be in the middle of a write,
    /// [`FilesError::StillBeingWritten`] once that has lasted too long, and those of
    /// [`FileSource::read`].
    pub fn read(
        &self,
        files: &FileSource,
        seen: Inspection,
        earlier: Earlier<'_>,
    ) -> Result<Reading<TableFile>, FilesError> {
        let state = self.state();
        if let Some(busy) = state.settling.busy(self.now(), &state.rests) {
            return Err(busy.into());
        }
        drop(state);

        let inspected = seen.began.saturating_duration_since(self.started);
        let began = SystemTime::now();
        let read = files.read_seen(seen, earlier);
        let mut state = self.state();
        let WritersState {
            settling,
            rests,
            hash,
        } = &mut *state;
        let reading = read.inspect_err(|_| settling.failed())?;
        let files: Vec<_> = reading.fingerprint.files().collect();
        let looks: Vec<Look<'_>> = (files.iter().zip(&reading.files))
            .map(|((path, stamp, trail), file)| Look {
                path,
                trail: trail.as_deref(),
                stamp: **stamp,
                hash: file.cut.hash(),
                ends_line: file.cut.ends_line(),
                age: stamp.age(began),
            })
            .collect();
        let revision = &reading.revision;
        let committed = revision.commit().is_some() && !revision.is_dirty();
        if !committed && hash.as_deref() != Some(revision.hash()) {
            settling.judge(&looks, self.now(), rests)?;
        }
        settling.take(&looks, inspected);
        *hash = Some(revision.hash().to_owned());
        Ok(reading)
    }

    /// Records an event about the table's files or the way to them.
    pub(crate) fn note(&self, event: &Event, places: &Places) {
        if event.flag() == Some(Flag::Rescan) {
            return self.lose();
        }
        for (at, path) in event.paths.iter().enumerate() {
            if places.lead_through(path) {
                self.note_one(event.kind, at, path);
            }
        }
    }

    fn note_one(&self, kind: EventKind, at: usize, path: &Path) {
        let now = self.now();
        // Checked without the lock, because the file system determines how long that takes.
        match kind {
            EventKind::Modify(ModifyKind::Data(_)) => match Stamp::of(path) {
                // Setting only the modification time causes the same event. So does a write
                // followed by that: at the last event, the times look set.
                Ok(stamp) if stamp.has_set_times() => {
                    self.state().settling.written_or_touched(path);
                }
                _ => self.state().settling.written(path, now),
            },
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => self.note_closed(path),
            EventKind::Modify(ModifyKind::Metadata(_)) => {
                if let Ok(stamp) = Stamp::of(path) {
                    self.state().settling.touched(path, stamp);
                }
            }
            EventKind::Modify(ModifyKind::Name(mode)) => {
                let arrived = mode == RenameMode::To || (mode == RenameMode::Both && at == 1);
                match arrived {
                    true if path.is_dir() => self.state().settling.moved(path, now),
                    true => self.note_closed(path),
                    // The replacement, as in an exchange, has an event of its own.
                    false if path.symlink_metadata().is_ok() => {}
                    false => self.state().settling.gone(path),
                }
            }
            EventKind::Create(_) | EventKind::Remove(_) => self.state().settling.gone(path),
            _ => {}
        }
    }

    fn note_closed(&self, path: &Path) {
        let stamp = Stamp::of(path);
        let settling = &mut self.state().settling;
        match stamp {
            Ok(stamp) => settling.closed(path, stamp),
            Err(_) => settling.gone(path),
        }
    }

    /// Records that events were lost.
    pub(crate) fn lose(&self) {
        self.state().settling.lost();
    }

    /// Records that a directory is no longer watched, or was replaced.
    pub(crate) fn forget(&self, directory: &Path) {
        self.state().settling.forget(directory);
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, WritersState> {
        (self.state.lock()).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Writers {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Incomplete> for FilesError {
    fn from(incomplete: Incomplete) -> Self {
        match incomplete {
            Incomplete::Wait { path, again } => Self::Unsettled { path, again },
            Incomplete::Overdue { path } => Self::StillBeingWritten { path },
        }
    }
}
