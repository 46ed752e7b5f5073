//! Making Git merge a table with a program: the repository's configuration, and `.gitattributes`.
//!
//! Both are only added to: their other content stays, and existing lines are not written again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{ConfigLevel, ErrorCode, Repository};

use super::files::replace;

/// The name of the driver, in both files.
const DRIVER: &str = "waypost";

/// The checkout in which tables are to be merged by a driver.
pub struct MergeSetup {
    repository: Repository,
    /// Its top directory, without links.
    work_dir: PathBuf,
}

/// Why the merge driver cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeSetupError {
    /// There is no repository.
    #[error("there is no Git repository around {}: run this in a clone, or create one with git init", path.display())]
    NoRepository {
        /// Where it was searched for.
        path: PathBuf,
    },
    /// Git cannot or will not use a repository.
    #[error("cannot use the Git repository around {}", path.display())]
    Unusable {
        /// Where it was searched for.
        path: PathBuf,
        /// The error from Git.
        #[source]
        source: git2::Error,
    },
    /// The repository has no work tree.
    #[error("{} has no work tree, so nothing is merged in it", path.display())]
    Bare {
        /// The repository.
        path: PathBuf,
    },
    /// The table is not in the checkout.
    #[error("{} is not in the checkout at {}", path.display(), work_dir.display())]
    Outside {
        /// The table.
        path: PathBuf,
        /// The top directory of the checkout.
        work_dir: PathBuf,
    },
    /// Git cannot write its configuration.
    #[error("cannot write the repository's configuration")]
    Config(#[source] git2::Error),
    /// A file or directory cannot be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error from the system.
        #[source]
        source: io::Error,
    },
}

impl MergeSetup {
    /// Finds the checkout around a directory.
    ///
    /// # Errors
    ///
    /// If there is none, or Git cannot or will not use it.
    pub fn around(directory: &Path) -> Result<Self, MergeSetupError> {
        let repository = Repository::discover(directory).map_err(|source| {
            let path = directory.to_owned();
            match source.code() {
                ErrorCode::NotFound => MergeSetupError::NoRepository { path },
                _ => MergeSetupError::Unusable { path, source },
            }
        })?;
        let Some(work_dir) = repository.workdir() else {
            let path = repository.path().to_owned();
            return Err(MergeSetupError::Bare { path });
        };
        let work_dir = work_dir.canonicalize().map_err(|e| io_at(work_dir, e))?;
        Ok(Self {
            repository,
            work_dir,
        })
    }

    /// Sets a command as the driver, in the configuration of this clone; returns whether it was not
    /// there yet.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be written.
    pub fn set_driver(&self, command: &str) -> Result<bool, MergeSetupError> {
        let set = || {
            let config = self.repository.config()?;
            let mut config = config.open_level(ConfigLevel::Local)?;
            let mut changes = false;
            for (key, value) in [
                ("name", "merge of short links by meaning"),
                ("driver", command),
            ] {
                let key = format!("merge.{DRIVER}.{key}");
                let before = match config.get_string(&key) {
                    Ok(before) => Some(before),
                    Err(error) if error.code() == ErrorCode::NotFound => None,
                    Err(error) => return Err(error),
                };
                if before.as_deref() != Some(value) {
                    config.set_str(&key, value)?;
                    changes = true;
                }
            }
            Ok(changes)
        };
        set().map_err(MergeSetupError::Config)
    }

    /// Lets the driver merge tables, which are files or directories; returns the lines of
    /// `.gitattributes` that were not there yet.
    ///
    /// # Errors
    ///
    /// If a table does not exist, or is not in the checkout, or the file cannot be written.
    pub fn assign(&self, tables: &[PathBuf]) -> Result<Vec<String>, MergeSetupError> {
        let mut wanted = Vec::new();
        for table in tables {
            wanted.extend(self.lines(table)?);
        }
        let path = self.work_dir.join(".gitattributes");
        let before = match fs::read(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_at(&path, error)),
        };
        let mut text = before.clone().unwrap_or_default();
        let mut added = Vec::new();
        for line in wanted {
            let mut lines = text.split(|&byte| byte == b'\n');
            if lines.any(|it| it.trim_ascii() == line.as_bytes()) {
                continue;
            }
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
            added.push(line);
        }
        if !added.is_empty() {
            let written = match before {
                Some(_) => replace(&path, &text),
                None => fs::write(&path, &text),
            };
            written.map_err(|error| io_at(&path, error))?;
        }
        Ok(added)
    }

    /// Returns the lines for a table.
    fn lines(&self, table: &Path) -> Result<Vec<String>, MergeSetupError> {
        let real = table.canonicalize().map_err(|error| io_at(table, error))?;
        let Ok(inside) = real.strip_prefix(&self.work_dir) else {
            return Err(MergeSetupError::Outside {
                path: table.to_owned(),
                work_dir: self.work_dir.clone(),
            });
        };
        // Without the slash before it, a name would match files of that name in any directory.
        let mut path = String::new();
        for part in inside {
            path += "/";
            path += &part.to_string_lossy();
        }
        let patterns = if real.is_dir() {
            vec![literal(&path) + "/*.yaml", literal(&path) + "/*.yml"]
        } else {
            vec![literal(&path)]
        };
        let lines = patterns
            .iter()
            .map(|pattern| format!("{} merge={DRIVER}", quoted(pattern)));
        Ok(lines.collect())
    }
}

fn io_at(path: &Path, source: io::Error) -> MergeSetupError {
    MergeSetupError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Returns a pattern that matches exactly one path (gitignore(5)).
fn literal(path: &str) -> String {
    let mut pattern = String::new();
    for c in path.chars() {
        if "*?[]\\".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Returns a pattern in the form of gitattributes(5): in C quotes if it contains white space.
fn quoted(pattern: &str) -> String {
    let is_plain = |c: char| c != '"' && !c.is_whitespace() && !c.is_control();
    if pattern.chars().all(is_plain) {
        return pattern.to_owned();
    }
    let mut text = String::from("\"");
    for c in pattern.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text += "\\n",
            '\t' => text += "\\t",
            '\r' => text += "\\r",
            _ => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> (tempfile::TempDir, MergeSetup) {
        let dir = tempfile::tempdir().unwrap();
        Repository::init(dir.path()).unwrap();
        let setup = MergeSetup::around(dir.path()).unwrap();
        (dir, setup)
    }

    #[test]
    fn attributes_mean_just_the_tables() {
        let (_dir, setup) = setup();
        let top = setup.work_dir.clone();
        fs::create_dir(top.join("links [old] *")).unwrap();
        fs::write(top.join("a \"b\".yaml"), "").unwrap();
        fs::write(top.join(".gitattributes"), "# mine\n*.png binary").unwrap();
        let tables = [top.join("links [old] *"), top.join("a \"b\".yaml")];

        assert_eq!(setup.assign(&tables).unwrap().len(), 3);
        assert!(setup.assign(&tables).unwrap().is_empty());

        let text = fs::read_to_string(top.join(".gitattributes")).unwrap();
        assert!(text.starts_with("# mine\n*.png binary\n"), "{text}");
        // As the git program reads them: libgit2 does not support quotes in patterns.
        let is_ours = |path: &str| {
            let mut git = std::process::Command::new("git");
            git.current_dir(&top).args(["check-attr", "merge", path]);
            git.output().unwrap().stdout.ends_with(b": waypost\n")
        };
        assert!(is_ours("a \"b\".yaml"));
        assert!(is_ours("links [old] */x.yml"));
        assert!(!is_ours("sub/a \"b\".yaml"));
        assert!(!is_ours("links o x/x.yml"));
    }

    #[test]
    fn what_is_not_in_the_checkout_is_refused() {
        let (_dir, setup) = setup();
        let elsewhere = tempfile::tempdir().unwrap();
        let error = setup.assign(&[elsewhere.path().to_owned()]).unwrap_err();
        assert!(matches!(error, MergeSetupError::Outside { .. }), "{error}");
        let error = setup
            .assign(&[setup.work_dir.join("none.yaml")])
            .unwrap_err();
        assert!(matches!(error, MergeSetupError::Io { .. }), "{error}");
        assert!(!setup.work_dir.join(".gitattributes").exists());
    }

    #[test]
    fn a_driver_is_set_once() {
        let (_dir, setup) = setup();
        assert!(setup.set_driver("one; two # three").unwrap());
        assert!(!setup.set_driver("one; two # three").unwrap());
        assert!(setup.set_driver("another").unwrap());
    }
}
