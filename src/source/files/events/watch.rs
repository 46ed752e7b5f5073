//! Hints that a table may have changed, from the file system.
//!
//! A hint only means "look now": whether anything changed is found by looking. So hints may be too
//! frequent, and they may be missing (NFS, bind mounts, a full event queue): a listener polls as
//! well. `writers.rs` keeps what events report about writers for those looks. Directories are
//! watched and never files, because a saved file is often a new one under an old name, and so is a
//! swapped link on the way to it.
//!
//! The debouncers made for `notify` are not used: they work out what happened to which file, which
//! hints do not need, and they delay events of a file for as long as it is written without a pause.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tracing::warn;

use super::places::Places;
use super::writers::Writers;
use crate::source::files::inspect::Inspection;

/// How long events are collected into one hint, counted from the first: no hint is delayed by more
/// than this, however many events follow.
const GATHER: Duration = Duration::from_millis(100);

/// Watches the places where a table's files are, until it is dropped.
pub struct Watch {
    hint: Arc<Notify>,
    writers: Writers,
    /// `None` if the system cannot provide watches.
    watcher: Option<RecommendedWatcher>,
    places: Arc<Mutex<Places>>,
    watched: BTreeMap<PathBuf, Identity>,
    /// Whether it was reported that something cannot be watched.
    reported: bool,
}

impl Watch {
    /// Starts to watch the files and directories that name a table, with its Git checkout.
    ///
    /// `hint` is notified when something may have changed. It holds at most one notification, so
    /// pending hints are merged. Missing files are watched at the nearest existing directory. If
    /// the system cannot watch, that is logged once, and there are no hints.
    ///
    /// `writers` receives the events about writes to the files.
    pub fn start(paths: &[PathBuf], hint: Arc<Notify>, writers: Writers) -> Self {
        let places = Arc::default();
        let watcher = watcher(Arc::clone(&places), writers.clone(), Arc::clone(&hint));
        let mut watch = Self {
            hint,
            writers,
            watcher: None,
            places,
            watched: BTreeMap::new(),
            reported: false,
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.report(&error, Path::new("")),
        }
        watch.update(&Inspection::of(paths));
        watch
    }

    /// Watches where the paths lead, as seen just now: directories may have been replaced, links
    /// swapped.
    ///
    /// Call it after each inspection, before the table is read; it is cheap when nothing changed.
    /// Blocks the thread for as long as the file system takes. If the watched places change, events
    /// there may have been missed, so that is a hint.
    pub fn rearm(&mut self, seen: &Inspection) {
        if self.update(seen) {
            self.hint.notify_one();
        }
    }

    /// Updates the watches, and returns whether that changed them.
    fn update(&mut self, seen: &Inspection) -> bool {
        let Some(mut watcher) = self.watcher.take() else {
            return false;
        };
        let places = Places::of(seen);
        let directories: Vec<PathBuf> = places.directories().map(Path::to_owned).collect();
        *lock(&self.places) = places;

        // A watch belongs to a directory, not to its name: one that was replaced must be removed
        // first.
        for (directory, known) in &self.watched {
            if !directories.contains(directory) || Identity::of(directory).as_ref() != Some(known) {
                // It may have been removed with its directory.
                let _ = watcher.unwatch(directory);
                self.writers.forget(directory);
            }
        }
        let mut watched = BTreeMap::new();
        for directory in directories {
            let Some(identity) = Identity::of(&directory) else {
                continue;
            };
            // Watching again changes nothing if the watch exists. It restores a watch that was lost
            // when its directory was replaced by one with the same identity.
            match watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    watched.insert(directory, identity);
                }
                Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {}
                Err(error) => self.report(&error, &directory),
            }
        }
        self.watcher = Some(watcher);
        let changed = self.watched != watched;
        self.watched = watched;
        changed
    }

    fn report(&mut self, error: &notify::Error, directory: &Path) {
        if !self.reported {
            let directory = directory.display();
            warn!(%error, %directory, "cannot watch for changes, they are found by polling");
            self.reported = true;
        }
    }
}

/// Creates a watcher whose events become hints.
fn watcher(
    places: Arc<Mutex<Places>>,
    writers: Writers,
    hint: Arc<Notify>,
) -> notify::Result<RecommendedWatcher> {
    let (sender, receiver) = sync_channel(1);
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        match event {
            Ok(event) => {
                let places = lock(&places);
                if !places.concern(&event) {
                    return;
                }
                writers.note(&event, &places);
            }
            // An error may have hidden a change, too.
            Err(_) => writers.lose(),
        }
        // If the channel is full, a hint is on its way.
        let _ = sender.try_send(());
    })?;
    // Ends when the watcher is dropped, and the sender with it.
    (thread::Builder::new().name("table hints".into())).spawn(move || gather(&receiver, &hint))?;
    Ok(watcher)
}

/// Merges all events within a short time into one hint.
fn gather(events: &Receiver<()>, hint: &Notify) {
    while events.recv().is_ok() {
        thread::sleep(GATHER);
        // Earlier events are in this hint; later ones begin the next.
        let _ = events.try_recv();
        hint.notify_one();
    }
}

fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the directory under a name is still the same one.
///
/// Inode numbers are reused, often immediately; the creation time distinguishes them where the file
/// system records it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    created: Option<SystemTime>,
}

impl Identity {
    fn of(directory: &Path) -> Option<Self> {
        let metadata = fs::metadata(directory).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            created: metadata.created().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use notify::EventKind;
    use notify::event::{DataChange, ModifyKind};
    use tokio::time::timeout;

    use super::*;
    use crate::source::files::read::FileSource;

    /// Long enough for any machine; a passing test never waits for it.
    const DEADLINE: Duration = Duration::from_secs(60);

    struct Fixture {
        _dir: tempfile::TempDir,
        root: PathBuf,
        hint: Arc<Notify>,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            Self {
                _dir: dir,
                root,
                hint: Arc::new(Notify::new()),
            }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.root.join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
            fs::write(self.at(name), text).unwrap();
        }

        fn watch(&self, name: &str) -> Watch {
            Watch::start(&[self.at(name)], Arc::clone(&self.hint), Writers::new())
        }

        fn seen(&self, name: &str) -> Inspection {
            Inspection::of(&[self.at(name)])
        }

        async fn hinted(&self) {
            (timeout(DEADLINE, self.hint.notified()).await).expect("no hint came");
        }

        /// Consumes the pending hints of earlier actions.
        async fn quiet(&self) {
            while timeout(5 * GATHER, self.hint.notified()).await.is_ok() {}
        }
    }

    #[tokio::test]
    async fn notices_a_write_in_place() {
        let fixture = Fixture::new();
        fixture.write("mapping.yaml", "old");
        let _watch = fixture.watch("mapping.yaml");
        fixture.write("mapping.yaml", "new");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_a_new_file_renamed_over_the_old() {
        let fixture = Fixture::new();
        fixture.write("mapping.yaml", "old");
        fixture.write("elsewhere/new", "new");
        let _watch = fixture.watch("mapping.yaml");
        fs::rename(fixture.at("elsewhere/new"), fixture.at("mapping.yaml")).unwrap();
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_deletion_and_the_file_that_follows() {
        let fixture = Fixture::new();
        fixture.write("mapping.yaml", "old");
        let mut watch = fixture.watch("mapping.yaml");
        fs::remove_file(fixture.at("mapping.yaml")).unwrap();
        fixture.hinted().await;
        watch.rearm(&fixture.seen("mapping.yaml"));
        fixture.quiet().await;
        fixture.write("mapping.yaml", "new");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_a_file_that_comes_into_a_directory() {
        let fixture = Fixture::new();
        fs::create_dir(fixture.at("links")).unwrap();
        let _watch = fixture.watch("links");
        fixture.write("links/a.yaml", "new");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_what_comes_into_a_directory_that_was_replaced() {
        let fixture = Fixture::new();
        fixture.write("links/a.yaml", "old");
        fixture.write("next/a.yaml", "new");
        let mut watch = fixture.watch("links");
        fs::rename(fixture.at("links"), fixture.at("previous")).unwrap();
        fs::rename(fixture.at("next"), fixture.at("links")).unwrap();
        fixture.hinted().await;
        watch.rearm(&fixture.seen("links"));
        fixture.quiet().await;
        fixture.write("links/a.yaml", "newer");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_what_comes_into_a_directory_that_was_made_again() {
        let fixture = Fixture::new();
        fixture.write("links/a.yaml", "old");
        let mut watch = fixture.watch("links/a.yaml");
        fs::remove_dir_all(fixture.at("links")).unwrap();
        fs::create_dir(fixture.at("links")).unwrap();
        fixture.hinted().await;
        fixture.quiet().await;
        watch.rearm(&fixture.seen("links/a.yaml"));
        fixture.quiet().await;
        fixture.write("links/a.yaml", "new");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn waits_for_a_directory_that_does_not_exist_yet() {
        let fixture = Fixture::new();
        let mut watch = fixture.watch("not/yet/mapping.yaml");
        fs::create_dir_all(fixture.at("not/yet")).unwrap();
        fixture.hinted().await;
        watch.rearm(&fixture.seen("not/yet/mapping.yaml"));
        fixture.quiet().await;
        fixture.write("not/yet/mapping.yaml", "new");
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn notices_a_swapped_link_on_the_way_and_follows_it() {
        let fixture = Fixture::new();
        fixture.write("releases/1/mapping.yaml", "old");
        fixture.write("releases/2/mapping.yaml", "new");
        symlink("releases/1", fixture.at("current")).unwrap();
        let mut watch = fixture.watch("current/mapping.yaml");
        symlink("releases/2", fixture.at("next")).unwrap();
        fs::rename(fixture.at("next"), fixture.at("current")).unwrap();
        fixture.hinted().await;
        watch.rearm(&fixture.seen("current/mapping.yaml"));
        fixture.quiet().await;
        fixture.write("releases/2/mapping.yaml", "newer");
        fixture.hinted().await;
        assert!(!watch.watched.contains_key(&fixture.at("releases/1")));
    }

    #[tokio::test]
    async fn notices_a_configmap_swap_of_a_file_and_of_a_directory() {
        for table in ["etc/mapping.yaml", "etc"] {
            let fixture = Fixture::new();
            fixture.write("etc/..1/mapping.yaml", "old");
            symlink("..1", fixture.at("etc/..data")).unwrap();
            symlink("..data/mapping.yaml", fixture.at("etc/mapping.yaml")).unwrap();
            let mut watch = fixture.watch(table);
            for generation in ["2", "3"] {
                watch.rearm(&fixture.seen(table));
                fixture.quiet().await;
                fixture.write(&format!("etc/..{generation}/mapping.yaml"), generation);
                fixture.quiet().await;
                // As the kubelet does (AtomicWriter).
                symlink(format!("..{generation}"), fixture.at("etc/..data_tmp")).unwrap();
                fs::rename(fixture.at("etc/..data_tmp"), fixture.at("etc/..data")).unwrap();
                fixture.hinted().await;
            }
        }
    }

    #[tokio::test]
    async fn notices_another_commit_of_the_same_bytes() {
        let fixture = Fixture::new();
        let repository = git2::Repository::init(&fixture.root).unwrap();
        fixture.write("mapping.yaml", "text");
        let _watch = fixture.watch("mapping.yaml");
        let tree = repository.treebuilder(None).unwrap().write().unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let author = git2::Signature::now("A", "a@example.org").unwrap();
        (repository.commit(Some("HEAD"), &author, &author, "empty", &tree, &[])).unwrap();
        fixture.hinted().await;
    }

    #[tokio::test]
    async fn an_endless_storm_does_not_hold_hints_back() {
        let fixture = Fixture::new();
        fixture.write("mapping.yaml", "");
        let _watch = fixture.watch("mapping.yaml");
        let path = fixture.at("mapping.yaml");
        let calm = Arc::new(AtomicBool::new(false));
        let storm = thread::spawn({
            let calm = Arc::clone(&calm);
            move || {
                while !calm.load(Ordering::Relaxed) {
                    fs::write(&path, "storm").unwrap();
                }
            }
        });
        for _ in 0..3 {
            fixture.hinted().await;
        }
        calm.store(true, Ordering::Relaxed);
        storm.join().unwrap();
    }

    #[tokio::test]
    async fn a_storm_becomes_a_few_hints() {
        let fixture = Fixture::new();
        fixture.write("mapping.yaml", "");
        let _watch = fixture.watch("mapping.yaml");
        for _ in 0..1_000 {
            fixture.write("mapping.yaml", "storm");
        }
        let mut hints = 0;
        while timeout(5 * GATHER, fixture.hint.notified()).await.is_ok() {
            hints += 1;
        }
        assert!(hints < 100, "{hints} hints");
    }

    #[test]
    fn reading_is_no_reason_to_read_again() {
        let fixture = Fixture::new();
        git2::Repository::init(&fixture.root).unwrap();
        fixture.write("mapping.yaml", "old");
        let path = fixture.at("mapping.yaml");
        let places = Places::of(&Inspection::of(std::slice::from_ref(&path)));
        let directories: Vec<_> = places.directories().map(Path::to_owned).collect();
        assert!(directories.contains(&fixture.at(".git/refs/heads")));

        let (sender, concerning) = channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let event = event.unwrap();
            if places.concern(&event) {
                sender.send(event).unwrap();
            }
        })
        .unwrap();
        for directory in directories {
            (watcher.watch(&directory, RecursiveMode::NonRecursive)).unwrap();
        }
        let source = FileSource::new(vec![path], 1 << 20);
        for _ in 0..20 {
            source.read_once().unwrap();
        }
        // Events come in order: an event caused by reading would be first.
        fixture.write("mapping.yaml", "new");
        let first = concerning.recv_timeout(DEADLINE).unwrap();
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert_eq!(first.kind, written, "{first:?}");
    }

    #[test]
    fn carries_on_when_the_system_has_no_watches_to_give() {
        let fixture = Fixture::new();
        let mut watch = fixture.watch("mapping.yaml");
        watch.watcher = None;
        watch.rearm(&fixture.seen("mapping.yaml"));
        let limit = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        watch.report(&limit, &fixture.root);
        watch.report(&limit, &fixture.root);
        assert!(watch.reported);
    }

    #[test]
    fn rearming_changes_nothing_when_nothing_changed() {
        let fixture = Fixture::new();
        fixture.write("links/a.yaml", "");
        let mut watch = fixture.watch("links");
        assert!(!watch.update(&fixture.seen("links")));
        fs::rename(fixture.at("links"), fixture.at("previous")).unwrap();
        fs::create_dir(fixture.at("links")).unwrap();
        assert!(watch.update(&fixture.seen("links")));
        assert!(!watch.update(&fixture.seen("links")));
    }
}
