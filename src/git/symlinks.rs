//! Following symbolic links by hand, to know every link on the way.
//!
//! `canonicalize` returns only where a path ends. A watcher of a table must also notice a swapped
//! link on the way (`current → releases/42`, `mapping.yaml → ..data/mapping.yaml`), and a
//! comparison with a commit must check whether the links themselves are what was committed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum number of links followed, as on Linux (`path_resolution(7)`).
pub(crate) const MAX_LINKS: usize = 40;

/// The way from a path to the file that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trail {
    /// Where the path ends: absolute, without links. If something is missing, the first such path.
    pub(crate) end: PathBuf,
    /// The links on the way, in order.
    pub(crate) links: Vec<Symlink>,
    /// Whether nothing exists at `end`.
    pub(crate) missing: bool,
}

/// A symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symlink {
    /// Where the link itself is: absolute, and its directory without links.
    pub(crate) path: PathBuf,
    /// Its target, as written.
    pub(crate) target: PathBuf,
}

/// Follows a path to its end.
///
/// # Errors
///
/// If a directory on the way may not be entered, or links form a loop.
pub(crate) fn follow(path: &Path) -> io::Result<Trail> {
    let mut pending = parts(&std::path::absolute(path)?);
    let mut end = PathBuf::from("/");
    let mut links = Vec::new();

    while let Some(part) = pending.pop() {
        if part == ".." {
            end.pop();
            continue;
        }
        let next = end.join(part);
        match read_link(&next) {
            Ok(None) => end = next,
            Ok(Some(_)) if links.len() == MAX_LINKS => {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            Ok(Some(target)) => {
                if target.is_absolute() {
                    end = PathBuf::from("/");
                }
                pending.extend(parts(&target));
                links.push(Symlink { path: next, target });
            }
            Err(error) if is_missing(&error) => {
                return Ok(Trail {
                    end: next,
                    links,
                    missing: true,
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Trail {
        end,
        links,
        missing: false,
    })
}

/// Returns the parts of a path from last to first.
pub(crate) fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// Returns the target of a link as written, or `None` if something else is there.
pub(crate) fn read_link(path: &Path) -> io::Result<Option<PathBuf>> {
    if fs::symlink_metadata(path)?.is_symlink() {
        fs::read_link(path).map(Some)
    } else {
        Ok(None)
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn real_tempdir() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn names_every_link_on_the_way_to_a_configmap_file() {
        let (_guard, dir) = real_tempdir();
        fs::create_dir(dir.join("..2026")).unwrap();
        fs::write(dir.join("..2026/mapping.yaml"), "").unwrap();
        symlink("..2026", dir.join("..data")).unwrap();
        symlink("..data/mapping.yaml", dir.join("mapping.yaml")).unwrap();

        let trail = follow(&dir.join("mapping.yaml")).unwrap();
        assert_eq!(trail.end, dir.join("..2026/mapping.yaml"));
        assert!(!trail.missing);
        let links: Vec<_> = trail.links.into_iter().map(|link| link.path).collect();
        assert_eq!(links, [dir.join("mapping.yaml"), dir.join("..data")]);
    }

    #[test]
    fn agrees_with_canonicalize_on_dots_and_absolute_links() {
        let (_guard, dir) = real_tempdir();
        fs::create_dir_all(dir.join("a/b")).unwrap();
        fs::write(dir.join("a/x"), "").unwrap();
        symlink(dir.join("a/b"), dir.join("abs")).unwrap();
        for path in ["abs/../x", "./a/./b/../x", "abs/../../a/x"] {
            let path = dir.join(path);
            assert_eq!(follow(&path).unwrap().end, path.canonicalize().unwrap());
        }
    }

    #[test]
    fn stops_at_what_is_missing() {
        let (_guard, dir) = real_tempdir();
        symlink("gone/deep", dir.join("link")).unwrap();
        fs::write(dir.join("file"), "").unwrap();

        let trail = follow(&dir.join("link/x")).unwrap();
        assert!(trail.missing);
        assert_eq!(trail.end, dir.join("gone"));
        let trail = follow(&dir.join("file/x")).unwrap();
        assert!(trail.missing);
        assert_eq!(trail.end, dir.join("file/x"));
    }

    #[test]
    fn gives_up_on_a_circle() {
        let (_guard, dir) = real_tempdir();
        symlink("b", dir.join("a")).unwrap();
        symlink("a", dir.join("b")).unwrap();
        let error = follow(&dir.join("a")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }
}
