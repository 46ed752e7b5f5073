//! A table in files as a server's source: read after changes, and watched in between.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::mapping::TableFile;
use crate::source::{
    Earlier, FileSource, Fingerprint, Inspection, Puller, Reading, RepositoryPlace, Rests,
    SourceError, Watch, Writers,
};

use crate::server::state::{Fetching, Source};

/// A table in files and directories.
pub struct Files {
    files: FileSource,
    hints: Arc<Notify>,
    writers: Writers,
    watch: Option<Mutex<Watch>>,
    puller: Option<Puller>,
}

impl Files {
    /// Creates a source from a table's paths, and watches them for changes.
    pub fn watched(paths: Vec<PathBuf>, max_bytes: u64) -> Self {
        let hints = Arc::default();
        let writers = Writers::new();
        let watch = Watch::start(&paths, Arc::clone(&hints), writers.clone());
        Self {
            files: FileSource::new(paths, max_bytes),
            hints,
            writers,
            watch: Some(Mutex::new(watch)),
            puller: None,
        }
    }

    /// Creates a source from a table's paths, which are checked only at each poll.
    pub fn polled(paths: Vec<PathBuf>, max_bytes: u64) -> Self {
        Self {
            files: FileSource::new(paths, max_bytes),
            hints: Arc::default(),
            writers: Writers::new(),
            watch: None,
            puller: None,
        }
    }

    /// Sets how long to wait for files that may still be in the process of being written.
    #[must_use]
    pub fn resting(self, rests: Rests) -> Self {
        self.writers.wait_for(rests);
        self
    }

    /// Lets a puller update the checkout around the files.
    #[must_use]
    pub fn pulled_by(mut self, puller: Puller) -> Self {
        self.puller = Some(puller);
        self
    }

    /// Inspects the paths, and watches their current targets, so that no later change is missed.
    fn inspect(&self) -> Inspection {
        let seen = self.files.inspect();
        if let Some(watch) = &self.watch {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.rearm(&seen);
        }
        seen
    }
}

impl Source for Files {
    fn describe(&self) -> String {
        let paths = self.files.paths().iter();
        let paths: Vec<_> = paths.map(|path| path.to_string_lossy()).collect();
        paths.join(", ")
    }

    fn hints(&self) -> Arc<Notify> {
        Arc::clone(&self.hints)
    }

    fn refresh(&self) {
        if let Some(puller) = &self.puller {
            puller.refresh();
        }
    }

    fn read(
        &self,
        known: Option<&Fingerprint>,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, SourceError> {
        let seen = self.inspect();
        if known.is_some_and(|known| !self.files.may_differ_from(known, &seen)) {
            return Ok(None);
        }
        Ok(Some(self.writers.read(&self.files, seen, earlier)?))
    }

    fn place(&self) -> RepositoryPlace {
        self.files.place()
    }

    fn fetching(&self) -> Option<Fetching> {
        let puller = self.puller.as_ref()?;
        Some(Fetching {
            remote: None,
            last: puller.last(),
            last_success: puller.last_success(),
        })
    }
}
