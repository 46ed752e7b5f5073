//! Work trees: finding the one that a path lies in, and its position there.
//!
//! A work tree is recognized by its `.git`, which cannot be committed. The other parts of a
//! repository (`HEAD`, `objects`, `refs`) can be committed, so they count only if no directory
//! above has a `.git`.
//!
//! Links on the way to a work tree are followed. A link inside it is itself committed content: the
//! path continues below it by name, regardless of its target.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use git2::Repository;

use super::symlinks::{MAX_LINKS, parts, read_link};

/// The location of a path, whether or not it exists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WorkTreePath {
    /// The path: absolute, and without links that lie in no work tree.
    pub(crate) path: PathBuf,
    /// The first link on the way that lies in a work tree.
    pub(crate) link: Option<PathBuf>,
}

impl WorkTreePath {
    /// Resolves the location of a path.
    ///
    /// # Errors
    ///
    /// If links form a loop, or there is no current directory.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut pending = parts(&std::path::absolute(path)?);
        let mut path = PathBuf::from("/");
        let mut link = None;
        let mut followed = 0;
        while let Some(part) = pending.pop() {
            if part == ".." {
                path.pop();
                continue;
            }
            let is_outside = link.is_none() && top(&path).is_none();
            path.push(part);
            if link.is_some() {
                continue;
            }
            let Ok(Some(target)) = read_link(&path) else {
                continue;
            };
            if !is_outside {
                link = Some(path.clone());
                continue;
            }
            followed += 1;
            if followed > MAX_LINKS {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            path.pop();
            if target.is_absolute() {
                path = PathBuf::from("/");
            }
            pending.extend(parts(&target));
        }
        Ok(Self { path, link })
    }

    /// Returns the closest existing directory at or above a link, or the path itself.
    pub(crate) fn directory(&self) -> &Path {
        let start = match &self.link {
            Some(link) => link.parent().unwrap_or(link),
            None => &self.path,
        };
        let directory = start.ancestors().find(|it| it.is_dir());
        directory.unwrap_or(Path::new("/"))
    }
}

/// Returns the top of the work tree that contains a directory without links, if there is one.
pub(crate) fn top(directory: &Path) -> Option<&Path> {
    (directory.ancestors()).find(|it| it.join(".git").symlink_metadata().is_ok())
}

/// Returns the Git directory of the repository around a directory without links.
///
/// # Errors
///
/// If there is none.
pub(crate) fn git_dir(directory: &Path) -> Result<PathBuf, git2::Error> {
    let start = top(directory).unwrap_or(directory);
    Repository::discover_path(start, &[] as &[&OsStr])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn work_tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("tree/.git")).unwrap();
        fs::create_dir_all(root.join("tree/links")).unwrap();
        (dir, root)
    }

    #[test]
    fn links_above_a_work_tree_are_followed_and_those_in_it_are_not() {
        let (_guard, root) = work_tree();
        symlink("tree", root.join("way")).unwrap();
        symlink("way/here", root.join("to")).unwrap();
        symlink("links", root.join("tree/here")).unwrap();
        let located = |path: &str| WorkTreePath::of(&root.join(path)).unwrap();
        let at = |path: &str, link: Option<&str>| WorkTreePath {
            path: root.join(path),
            link: link.map(|link| root.join(link)),
        };
        assert_eq!(located("way/links/a"), at("tree/links/a", None));
        assert_eq!(located("way/links/../gone/a"), at("tree/gone/a", None));
        for path in ["tree/here/a", "way/here/a", "to/a"] {
            assert_eq!(
                located(path),
                at("tree/here/a", Some("tree/here")),
                "{path}"
            );
            assert_eq!(located(path).directory(), root.join("tree"));
        }
        assert_eq!(located("gone/a"), at("gone/a", None));
        assert_eq!(located("gone/a").directory(), root);
    }

    #[test]
    fn gives_up_on_a_circle() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        let error = WorkTreePath::of(&dir.path().join("a")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }

    #[test]
    fn what_is_committed_is_no_repository() {
        let (_guard, root) = work_tree();
        Repository::init(root.join("tree")).unwrap();
        let inner = root.join("tree/links");
        Repository::init_bare(&inner).unwrap();
        assert_eq!(git_dir(&inner).unwrap(), root.join("tree/.git"));
        // With no work tree above it, it is one.
        let bare = root.join("bare");
        Repository::init_bare(&bare).unwrap();
        assert_eq!(git_dir(&bare.join("objects")).unwrap(), bare);
        assert!(git_dir(&root).is_err());
    }
}
