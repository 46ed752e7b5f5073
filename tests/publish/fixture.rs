//! A bare repository on this machine, and writers to its branch.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use waypost::git::{Credentials, RemoteBranch};
use waypost::mapping::SourceFile;
use waypost::registry::{
    CloneBranch, CommitIdentity, Edit, NewBranch, PublishError, Published, TablePath, publish,
};

use crate::bare_remote;
use crate::git::git;

/// Longer than anything takes, on the slowest machine.
pub(crate) const FOREVER: Duration = Duration::from_secs(60);

/// Why an edit was not published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotPublished {
    #[error("it is there")]
    IsThere,
    #[error(transparent)]
    Failed(#[from] PublishError),
}

/// Returns why the remote refused an edit.
#[track_caller]
pub(crate) fn refusal<T: std::fmt::Debug>(published: Result<T, NotPublished>) -> String {
    match published {
        Err(NotPublished::Failed(PublishError::Refused { reason })) => reason,
        other => panic!("{other:?}"),
    }
}

/// The remote `remote.git`, whose branch `main` holds `mapping.yaml` with the text `one`, and the
/// checkout `work` of somebody else.
pub(crate) struct Fixture {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with_table("one\n")
    }

    pub(crate) fn with_table(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let fixture = Self { _dir: dir, root };
        bare_remote::create(&fixture.root);
        fixture.push("mapping.yaml", text);
        fixture
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn remote(&self, arguments: &str) -> String {
        git(&self.at("remote.git"), arguments)
    }

    /// Has somebody else push a file.
    pub(crate) fn push(&self, file: &str, text: &str) {
        bare_remote::push(&self.root, &[(file, text)]);
    }

    /// Lets the remote run a script as a hook.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        bare_remote::hook(&self.root, name, script);
    }

    /// Lets somebody else push another table while the first push is on its way.
    pub(crate) fn overtake(&self, table: &str) {
        let other = self.at("other");
        git(&self.root, "clone --quiet remote.git other");
        fs::write(other.join("mapping.yaml"), table).unwrap();
        git(&other, "commit --quiet --all -m other");
        git(&other, "push --quiet origin HEAD:refs/heads/waiting");
        self.hook(
            "pre-receive",
            "mv hooks/pre-receive hooks/done\nunset GIT_QUARANTINE_PATH\n\
             git update-ref refs/heads/main refs/heads/waiting",
        );
    }

    pub(crate) fn branch(&self, reference: Option<&str>) -> RemoteBranch {
        let (remote, transfer) = (
            bare_remote::url(&self.root),
            bare_remote::transfer(&self.root),
        );
        RemoteBranch::new(remote, reference, transfer, Credentials::default()).unwrap()
    }

    pub(crate) fn writer(&self, review: Option<&str>) -> Writer {
        Writer {
            branch: self.branch(None),
            review: review.map(|name| name.parse().unwrap()),
        }
    }

    /// Publishes what `compute` makes of the table's text.
    pub(crate) fn publish(
        &self,
        writer: &Writer,
        mut compute: impl FnMut(&str) -> Result<Edit, NotPublished>,
    ) -> Result<Published, NotPublished> {
        let table = TablePath::new("mapping.yaml", 1 << 20);
        publish(&mut writer.changing(), &table, FOREVER, |tip| {
            let whole = tip.files[0].whole().unwrap();
            compute(std::str::from_utf8(&whole.bytes).unwrap())
        })
    }

    /// Returns `mapping.yaml` as the remote has it.
    pub(crate) fn table(&self) -> String {
        self.remote("show main:mapping.yaml")
    }

    /// Returns how many commits the remote's branch has, each of which has one parent at most.
    pub(crate) fn commits(&self) -> usize {
        let parents = self.remote("log --format=%P main");
        let lines = parents
            .lines()
            .inspect(|line| assert!(!line.contains(' '), "a merge"));
        // The first commit has no parent, and git's last line break is cut off.
        lines.filter(|line| !line.is_empty()).count() + 1
    }
}

/// A clone of the remote, to write from.
pub(crate) struct Writer {
    branch: RemoteBranch,
    review: Option<NewBranch>,
}

impl Writer {
    pub(crate) fn to(branch: RemoteBranch) -> Self {
        Self {
            branch,
            review: None,
        }
    }

    pub(crate) fn changing(&self) -> CloneBranch<'_> {
        let author = CommitIdentity {
            name: "W".to_owned(),
            email: "w@example.org".to_owned(),
        };
        CloneBranch::new(&self.branch, Some(author), self.review.clone())
    }
}

/// Puts a line at the end of the table.
pub(crate) fn add_line(text: &str, line: &str) -> Edit {
    Edit {
        files: vec![
            SourceFile::new(
                "mapping.yaml".into(),
                format!("{text}{line}\n").into_bytes(),
            )
            .into(),
        ],
        message: format!("Add {line}\n\nShort-Link: https://short.code/{line}\n"),
    }
}

/// Lists a directory without what git keeps.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = (fs::read_dir(directory).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".git")
        .collect();
    names.sort();
    names
}
