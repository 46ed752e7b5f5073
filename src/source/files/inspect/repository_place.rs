//! Where the files of a table are in the repository to which people propose changes: its branch, and
//! the paths there.
//!
//! Inside Git these are the branch that is checked out, or followed. A table outside Git is a copy,
//! and only names are known: the branch is assumed to be `main`, and each file or directory that
//! names the table to be at the top of the repository.

use std::path::{Component, Path, PathBuf};

use git2::Repository;

use crate::git::work_tree::{self, WorkTreePath};
use crate::mapping::ISSUE_FORMS;

/// The assumed branch of an unknown repository.
const BRANCH: &str = "main";

/// Where the files of a table are in their repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPlace {
    branch: String,
    named: Vec<NamedPath>,
    /// The files of the repository by which it has an issue form.
    issue_forms: Vec<&'static str>,
}

/// A path that names a table, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedPath {
    /// As the table's files are named, without a final slash.
    given: String,
    /// In the repository; empty for its top.
    path: String,
}

impl Default for RepositoryPlace {
    fn default() -> Self {
        Self {
            branch: BRANCH.to_owned(),
            named: Vec::new(),
            issue_forms: Vec::new(),
        }
    }
}

impl RepositoryPlace {
    /// Locates the paths of a table in files. Reads the disk.
    pub(in crate::source::files) fn of_files(paths: &[PathBuf]) -> Self {
        let mut place = Self::default();
        for given in paths {
            let path = match committed(given) {
                None => alone(given),
                Some(committed) => {
                    place.branch = committed.branch.unwrap_or(place.branch);
                    place = place.with_files(|path| committed.top.join(path).is_file());
                    committed.path
                }
            };
            let given = given.to_string_lossy();
            place.named.push(NamedPath {
                given: given.trim_end_matches('/').to_owned(),
                path,
            });
        }
        place
    }

    /// Locates a table that is read from commits, and so is named by its path in the repository;
    /// `reference` is the full name that is followed.
    pub(crate) fn of_commits(path: &str, reference: Option<&str>) -> Self {
        let path = normal(Path::new(path));
        let branch = reference.and_then(|name| name.strip_prefix("refs/heads/"));
        Self {
            branch: branch.unwrap_or(BRANCH).to_owned(),
            named: vec![NamedPath {
                given: path.clone(),
                path,
            }],
            issue_forms: Vec::new(),
        }
    }

    /// Adds the properties that files of the repository imply; `has` returns whether it has a file.
    pub(crate) fn with_files(self, has: impl Fn(&str) -> bool) -> Self {
        let issue_forms = ISSUE_FORMS.into_iter().filter(|path| has(path));
        Self {
            issue_forms: issue_forms.collect(),
            ..self
        }
    }

    /// Returns whether the repository has an issue form at a path.
    pub fn has_issue_form(&self, path: &str) -> bool {
        self.issue_forms.contains(&path)
    }

    /// Returns the branch to which changes are proposed.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Returns the path in the repository of a file of the table, or of a new one next to them.
    pub fn path_of(&self, file: &str) -> String {
        let mut paths = self.named.iter().filter_map(|named| {
            let rest = match &*named.given {
                "" => file,
                given => file.strip_prefix(given)?,
            };
            match (&*named.path, rest.trim_start_matches('/')) {
                (path, "") => Some(path.to_owned()),
                // Another file, whose name begins with the same text.
                _ if !rest.starts_with('/') && !named.given.is_empty() => None,
                ("", rest) => Some(rest.to_owned()),
                (path, rest) => Some(format!("{path}/{rest}")),
            }
        });
        paths.next().unwrap_or_else(|| alone(Path::new(file)))
    }

    /// Returns the directory that holds the whole table, as its files are named, if there is one:
    /// each new entry becomes a file there. `is_file` returns whether a path is that of a file of
    /// the table.
    pub fn directory(&self, is_file: impl FnOnce(&str) -> bool) -> Option<&str> {
        match &self.named[..] {
            [only] if !is_file(&only.given) => Some(&only.given),
            _ => None,
        }
    }
}

/// A path in a checkout.
struct CommittedPath {
    path: String,
    top: PathBuf,
    /// The branch that is checked out.
    branch: Option<String>,
}

/// Returns the path in the checkout around a path, if there is one.
fn committed(given: &Path) -> Option<CommittedPath> {
    let path = WorkTreePath::of(given).ok()?.path;
    let top = work_tree::top(&path)?;
    let inside = normal(path.strip_prefix(top).ok()?);
    // A repository that Git does not trust has no branch here.
    let repository = Repository::open(top).ok();
    let branch = repository.and_then(|it| {
        let head = it.find_reference("HEAD").ok()?;
        let name = head.symbolic_target().ok()??;
        Some(name.strip_prefix("refs/heads/")?.to_owned())
    });
    Some(CommittedPath {
        path: inside,
        top: top.to_owned(),
        branch,
    })
}

/// Returns the name of a file or directory.
fn alone(path: &Path) -> String {
    let named = path.file_name().map(PathBuf::from);
    let name = named.or_else(|| Some(path.canonicalize().ok()?.file_name()?.into()));
    name.map_or_else(String::new, |name| name.to_string_lossy().into())
}

/// Returns the named parts of a relative path.
fn normal(path: &Path) -> String {
    let parts = path.components();
    let names: PathBuf = parts
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    names.to_string_lossy().into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_followed_table_is_where_its_commits_have_it() {
        let place = RepositoryPlace::of_commits("./data/links/", Some("refs/heads/links/live"));
        assert_eq!(place.branch(), "links/live");
        assert_eq!(place.path_of("data/links/a.yaml"), "data/links/a.yaml");
        let directory = place.directory(|path| path == "data/links/a.yaml");
        assert_eq!(directory, Some("data/links"));

        let place = RepositoryPlace::of_commits("mapping.yaml", Some("refs/tags/v1"));
        assert_eq!(place.branch(), "main");
        assert_eq!(place.path_of("mapping.yaml"), "mapping.yaml");
        assert_eq!(place.directory(|path| path == "mapping.yaml"), None);

        let top = RepositoryPlace::of_commits(".", None);
        assert_eq!(top.path_of("a.yaml"), "a.yaml");
        assert_eq!(top.directory(|path| path == "a.yaml"), Some(""));
    }

    #[test]
    fn a_table_in_a_checkout_is_below_its_top() {
        let directory = tempfile::tempdir().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("live");
        Repository::init_opts(directory.path(), &options).unwrap();
        let links = directory.path().join("data/links");
        fs::create_dir_all(&links).unwrap();
        fs::write(links.join("a.yaml"), "").unwrap();
        let named = |path: &Path| RepositoryPlace::of_files(&[path.to_owned()]);
        let shown = |path: PathBuf| path.to_str().unwrap().to_owned();

        let place = named(&links);
        assert_eq!(place.branch(), "live");
        let new = shown(links.join("new.yaml"));
        assert_eq!(place.path_of(&new), "data/links/new.yaml");
        let first = shown(links.join("a.yaml"));
        assert_eq!(place.directory(|path| path == first), links.to_str());

        let file = links.join("a.yaml");
        let place = named(&file);
        assert_eq!(place.path_of(&shown(file.clone())), "data/links/a.yaml");
        let only = shown(file.clone());
        assert_eq!(place.directory(|path| path == only), None);
        let form = ISSUE_FORMS[0];
        assert!(!place.has_issue_form(form));
        let form_path = directory.path().join(form);
        fs::create_dir_all(form_path.parent().unwrap()).unwrap();
        fs::write(form_path, "").unwrap();
        assert!(named(&file).has_issue_form(form));
        assert!(!named(&file).has_issue_form(ISSUE_FORMS[1]));
    }

    #[test]
    fn of_a_table_outside_git_only_names_are_known() {
        let directory = tempfile::tempdir().unwrap();
        let links = directory.path().join("links");
        fs::create_dir(&links).unwrap();
        let place = RepositoryPlace::of_files(std::slice::from_ref(&links));
        assert_eq!(place.branch(), "main");
        let new = links.join("new.yaml");
        assert_eq!(place.path_of(new.to_str().unwrap()), "links/new.yaml");
        assert_eq!(place.path_of("/elsewhere/x.yaml"), "x.yaml");
        // Not part of the table, although its name begins with the same text.
        let other = format!("{}-old/x.yaml", links.to_str().unwrap());
        assert_eq!(place.path_of(&other), "x.yaml");
    }
}
