//! The directories that affect what a table's paths name, and the events in them that matter.
//!
//! They are those of the files, of every link on the way to them, and of the Git checkout around
//! them. Watching them is in `watch.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind};

use crate::git::Trail;
use crate::mapping::is_table_name;
use crate::source::files::inspect::Inspection;

/// The directories to watch, without links, and the names in them that concern the table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(BTreeMap<PathBuf, Names>);

/// Some names in a directory.
#[derive(Debug, PartialEq, Eq)]
enum Names {
    /// The names of table files, in a directory that is a table.
    Tables,
    /// All names, where Git keeps its state.
    All,
    Only(BTreeSet<OsString>),
}

impl Places {
    /// Returns the places that determine what a table's paths name.
    pub(crate) fn of(seen: &Inspection) -> Self {
        let mut places = Self::default();
        for trail in seen.trails.named.iter().flatten() {
            if trail.end.is_dir() {
                places.0.insert(trail.end.clone(), Names::Tables);
            }
            places.add(trail);
        }
        // The targets of links in a directory: a mounted ConfigMap holds nothing else.
        for trail in seen.trails.of_links() {
            places.add(trail);
        }
        if let Some(checkout) = &seen.checkout {
            let directories = checkout.directories().into_iter();
            places.0.extend(directories.map(|it| (it, Names::All)));
        }
        places
    }

    /// Returns the directories to watch: absolute, without links.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Adds each link on a way, and its end.
    fn add(&mut self, trail: &Trail) {
        let links = trail.links.iter().map(|link| &link.path);
        for path in links.chain([&trail.end]) {
            let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let names = (self.0.entry(directory.to_owned()))
                .or_insert_with(|| Names::Only(BTreeSet::new()));
            if let Names::Only(names) = names {
                names.insert(name.to_owned());
            }
        }
    }

    /// Returns whether an event may mean a change of the table.
    pub(crate) fn concern(&self, event: &Event) -> bool {
        let written = AccessKind::Close(AccessMode::Write);
        match event.kind {
            // Otherwise each look at the table would be a reason for the next.
            EventKind::Access(access) if access != written => false,
            // Without a path, events were lost.
            _ => event.paths.is_empty() || event.paths.iter().any(|path| self.hold(path)),
        }
    }

    fn hold(&self, path: &Path) -> bool {
        let named = |directory, name: &OsStr| match self.0.get(directory) {
            Some(Names::All | Names::Tables) => true,
            Some(Names::Only(names)) => names.contains(name),
            None => false,
        };
        self.0.contains_key(path)
            || matches!((path.parent(), path.file_name()), (Some(dir), Some(name)) if named(dir, name))
    }

    /// Returns whether a path is that of a table file, or of a directory or link on the way to one.
    pub(crate) fn lead_through(&self, path: &Path) -> bool {
        let named = |directory, name: &OsStr| match self.0.get(directory) {
            Some(Names::Tables) => is_table_name(name),
            Some(Names::Only(names)) => names.contains(name),
            Some(Names::All) | None => false,
        };
        matches!(self.0.get(path), Some(Names::Tables | Names::Only(_)))
            || matches!((path.parent(), path.file_name()), (Some(dir), Some(name)) if named(dir, name))
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{Flag, MetadataKind, ModifyKind};

    use super::*;

    #[test]
    fn only_events_about_the_table_concern_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let places = Places::of(&Inspection::of(&[root.join("mapping.yaml")]));
        let concerns = |kind, name| places.concern(&Event::new(kind).add_path(root.join(name)));

        let touched = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        assert!(concerns(touched, "mapping.yaml"));
        assert!(concerns(touched, ""));
        assert!(!concerns(touched, "server.log"));
        let open = |kind| EventKind::Access(AccessKind::Open(kind));
        assert!(!concerns(open(AccessMode::Any), "mapping.yaml"));
        let close = |kind| EventKind::Access(AccessKind::Close(kind));
        assert!(!concerns(close(AccessMode::Read), "mapping.yaml"));
        assert!(concerns(close(AccessMode::Write), "mapping.yaml"));
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(places.concern(&overflow));
    }
}
