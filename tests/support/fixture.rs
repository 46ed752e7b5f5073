//! A directory with a checkout, made by the `git` program, and the program run in it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::git::git;
use crate::transcript::transcript;

/// A checkout; its commits always have the same ids.
pub(crate) struct Fixture {
    _dir: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Fixture {
    /// A checkout without commits.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let fixture = Self { _dir: dir, root };
        fixture.git("init --quiet");
        fixture
    }

    /// A checkout with one commit, of a table.
    pub(crate) fn committed(table: &str) -> Self {
        let fixture = Self::empty();
        fixture.commit(table);
        fixture
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, table: &str) {
        self.commit_saying(table, "links");
    }

    pub(crate) fn commit_saying(&self, table: &str, message: &str) {
        self.write("mapping.yaml", table);
        self.commit_all_saying(message);
    }

    pub(crate) fn commit_all(&self) {
        self.commit_all_saying("links");
    }

    pub(crate) fn commit_all_saying(&self, message: &str) {
        self.write(".git/MESSAGE", message);
        self.git("add --all .");
        self.git("commit --quiet --allow-empty --file .git/MESSAGE");
    }

    /// Runs git in the checkout, with arguments that hold no spaces.
    pub(crate) fn git(&self, arguments: &str) -> String {
        git(&self.root, arguments)
    }

    /// Runs `waypost` in the checkout, or a directory in it, and returns its status and both outputs.
    pub(crate) fn waypost(&self, directory: &str, arguments: &str) -> String {
        self.waypost_with(directory, arguments, &[])
    }

    pub(crate) fn waypost_with(
        &self,
        directory: &str,
        arguments: &str,
        environment: &[(&str, &str)],
    ) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .args(arguments.split(' '))
            .current_dir(self.root.join(directory))
            .env_clear()
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        transcript(output).replace(self.root.to_str().unwrap(), "ROOT")
    }
}
