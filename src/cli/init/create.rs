//! Creating many files, or none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::starter::StarterFile;
use crate::cli::terminal::Error;
use crate::source::create;

/// Files and directories that were created, in order.
#[derive(Default)]
struct Created {
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

/// Creates files in a directory, with the directories on the way; returns their paths.
///
/// # Errors
///
/// If one of them exists, or cannot be created; then none is.
pub(super) fn create_all(dir: &Path, files: &[StarterFile]) -> Result<Vec<PathBuf>, Error> {
    let paths = files.iter().map(|file| place(dir, file.path));
    let paths: Vec<_> = paths.collect();
    let there = paths.iter().filter(|path| path.symlink_metadata().is_ok());
    let there: Vec<_> = there.map(|path| path.display().to_string()).collect();
    if !there.is_empty() {
        return Err(Error::refused(format_args!(
            "nothing was created, because these files already exist: {}",
            there.join(", ")
        )));
    }
    let mut created = Created::default();
    for (path, file) in paths.iter().zip(files) {
        if let Err(error) = created.add(path, &file.text) {
            created.remove();
            let context = format!("nothing was created: cannot write {}", path.display());
            return Err(anyhow::Error::from(error).context(context).into());
        }
    }
    Ok(paths)
}

fn place(dir: &Path, path: &str) -> PathBuf {
    match dir == Path::new(".") {
        true => path.into(),
        false => dir.join(path),
    }
}

impl Created {
    fn add(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let parents: Vec<_> = path.ancestors().skip(1).collect();
        for parent in parents.into_iter().rev() {
            if parent.as_os_str().is_empty() || parent.is_dir() {
                continue;
            }
            fs::create_dir(parent)?;
            self.directories.push(parent.to_owned());
        }
        create(path, text.as_bytes())?;
        self.files.push(path.to_owned());
        Ok(())
    }

    fn remove(&self) {
        // Failures to remove are ignored; a directory with files of others stays.
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for directory in self.directories.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn files() -> Vec<StarterFile> {
        let file = |path| StarterFile {
            path,
            text: path.to_owned(),
        };
        ["a", "b/c/d", "b/e"].map(file).into()
    }

    fn tree(dir: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            found.push(path.display().to_string());
            if path.is_dir() {
                found.extend(tree(&path));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn creates_all_with_their_directories() {
        let work = tempfile::tempdir().unwrap();
        let dir = work.path().join("x/y");
        let created = create_all(&dir, &files()).unwrap();
        assert_eq!(created, ["a", "b/c/d", "b/e"].map(|path| dir.join(path)));
        assert_eq!(fs::read_to_string(dir.join("b/c/d")).unwrap(), "b/c/d");
    }

    #[test]
    fn names_all_that_exist_and_creates_nothing() {
        let work = tempfile::tempdir().unwrap();
        let dir = work.path();
        fs::write(dir.join("a"), "mine").unwrap();
        fs::create_dir(dir.join("b")).unwrap();
        symlink("nowhere", dir.join("b/e")).unwrap();
        let before = tree(dir);
        let error = create_all(dir, &files()).unwrap_err();
        let message = format!("{error:?}");
        assert_eq!(error.status(), 1, "{message}");
        assert!(
            message.contains("/a, ") && message.contains("/b/e"),
            "{message}"
        );
        assert!(!message.contains("/b/c/d"), "{message}");
        assert_eq!(tree(dir), before);
    }

    #[test]
    fn takes_back_what_it_created_if_one_cannot_be() {
        let work = tempfile::tempdir().unwrap();
        let dir = work.path();
        fs::create_dir(dir.join("b")).unwrap();
        // In the place of a directory.
        fs::write(dir.join("b/c"), "mine").unwrap();
        let before = tree(dir);
        let mut all = files();
        all.swap(1, 2);
        let error = create_all(dir, &all).unwrap_err();
        assert_eq!(error.status(), 3, "{error:?}");
        assert_eq!(tree(dir), before);
    }
}
