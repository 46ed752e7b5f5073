//! The trails of a table's paths and files: the symbolic links on the way to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::listing::{ListedFile, Listing};
use super::stamp::Stamp;
use crate::git::{Trail, symlinks};

/// The trails of a table's paths and files that can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source::files) struct Trails {
    /// Of the paths that name the table.
    pub(in crate::source::files) named: Vec<Option<Trail>>,
    /// Of those files in named directories that are links themselves or not regular files, by their
    /// number in the listing. The others are where the directory is.
    followed: BTreeMap<usize, Option<Trail>>,
}

impl Trails {
    /// Follows the paths that name a table, and those of its files, given the metadata of each that
    /// is a regular file in a named directory.
    pub(super) fn follow(named: &[PathBuf], files: &Listing, direct: &[Option<Stamp>]) -> Self {
        let follow = |path: &Path| symlinks::follow(path).ok();
        let others = (files.files().zip(direct).enumerate())
            .filter(|(_, (file, stamp))| file.name.is_some() && stamp.is_none());
        Self {
            named: named.iter().map(|path| follow(path)).collect(),
            followed: others
                .map(|(number, (file, _))| (number, follow(&file.path())))
                .collect(),
        }
    }

    /// Returns the trail of each file, in the order of the listing from which this was made.
    pub(in crate::source::files) fn of_files<'a>(
        &'a self,
        listing: &'a Listing,
    ) -> impl Iterator<Item = Option<Cow<'a, Trail>>> {
        let of_file = |(number, file): (usize, ListedFile<'a>)| {
            if let Some(trail) = self.followed.get(&number) {
                return trail.as_ref().map(Cow::Borrowed);
            }
            let named = self.named[file.part.number].as_ref()?;
            Some(match file.name {
                None => Cow::Borrowed(named),
                Some(name) => Cow::Owned(Trail {
                    end: named.end.join(name),
                    ..named.clone()
                }),
            })
        };
        listing.files().enumerate().map(of_file)
    }

    /// Returns the trails of the files in named directories that do not end there.
    pub(in crate::source::files) fn of_links(&self) -> impl Iterator<Item = &Trail> {
        self.followed.values().flatten()
    }

    /// Returns the real directories of a table: those that are named, and those of its files.
    pub(super) fn directories(&self) -> BTreeSet<&Path> {
        let named = self.named.iter().flatten();
        let named = named.filter_map(|trail| match trail.end.is_dir() {
            true => Some(trail.end.as_path()),
            false => trail.end.parent(),
        });
        let links = self.of_links().filter_map(|trail| trail.end.parent());
        named.chain(links).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_file_has_the_trail_that_its_own_path_has() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["real", "real/sub.yaml", "elsewhere"] {
            fs::create_dir(at(name)).unwrap();
        }
        for name in ["real/a.yaml", "real/b.yaml", "elsewhere/c.yaml", "one.txt"] {
            fs::write(at(name), "").unwrap();
        }
        symlink("real", at("named")).unwrap();
        symlink("../elsewhere/c.yaml", at("real/link.yaml")).unwrap();
        symlink("nowhere", at("real/none.yaml")).unwrap();
        symlink("loop.yaml", at("real/loop.yaml")).unwrap();
        symlink("one.txt", at("other")).unwrap();
        let paths = ["one.txt", "named", "missing", "one.txt", "other", "real"].map(at);

        let (listing, _) = Listing::found(&paths);
        let mut stamps = listing.direct_stamps();
        assert_eq!(stamps.iter().flatten().count(), 4);
        let trails = Trails::follow(&paths, &listing, &stamps);
        let of_files: Vec<_> = trails.of_files(&listing).collect();
        assert_eq!(of_files.len(), 14);
        for (file, trail) in listing.files().zip(&of_files) {
            let expected = symlinks::follow(&file.path()).ok();
            assert_eq!(trail.as_deref(), expected.as_ref(), "{:?}", file.path());
        }
        let directories = trails.directories();
        let expected = ["", "elsewhere", "real"].map(|name| at(name).canonicalize().unwrap());
        assert_eq!(directories, expected.iter().map(PathBuf::as_path).collect());

        listing.complete(&mut stamps);
        for (file, stamp) in listing.files().zip(stamps) {
            assert_eq!(stamp, Stamp::of(&file.path()).ok());
        }
    }
}
