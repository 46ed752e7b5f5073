//! A directory with a table, in which commands run.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::transcript::transcript;

/// A directory with the table `mapping.yaml`.
pub(crate) struct Workspace(tempfile::TempDir);

impl Workspace {
    pub(crate) fn new(table: &str) -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        workspace.write("mapping.yaml", table);
        workspace
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// Returns the text of the table.
    pub(crate) fn text(&self) -> String {
        self.read("mapping.yaml")
    }

    /// Returns the bytes of every file.
    pub(crate) fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut directories = vec![self.0.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for path in fs::read_dir(directory)
                .unwrap()
                .map(|it| it.unwrap().path())
            {
                match path.is_dir() {
                    true => directories.push(path),
                    false => files.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        files.sort();
        files
    }

    /// Returns `waypost` with pipes, to be run here.
    fn waypost(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        command
            .current_dir(self.0.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns `waypost add`, to be run here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.waypost();
        command.arg("add").args(args);
        command
    }

    /// Returns the output of `waypost`.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let mut command = self.waypost();
        transcript(command.args(args).stdin(Stdio::null()).output().unwrap())
    }

    pub(crate) fn add_from(&self, input: &[u8], args: &[&str]) -> String {
        let mut child = self.command(args).spawn().unwrap();
        // A program that does not read its input may be gone before it is written.
        let _ = child.stdin.take().unwrap().write_all(input);
        transcript(child.wait_with_output().unwrap())
    }

    pub(crate) fn add(&self, args: &[&str]) -> String {
        self.add_from(b"", args)
    }

    /// Returns the output of `waypost add`, which must not change a single byte.
    pub(crate) fn refuses(&self, args: &[&str]) -> String {
        self.refuses_from(b"", args)
    }

    pub(crate) fn refuses_from(&self, input: &[u8], args: &[&str]) -> String {
        let before = self.bytes();
        let report = self.add_from(input, args);
        assert!(self.bytes() == before, "{args:?} {report}");
        assert!(!report.starts_with("status 0"), "{args:?} {report}");
        report
    }

    /// Returns the output of a command that succeeds and changes the table in one place.
    #[track_caller]
    pub(crate) fn changes(&self, args: &[&str], from: &str, to: &str) -> String {
        let before = self.text();
        assert_eq!(before.matches(from).count(), 1, "{from}");
        let report = self.run(args);
        assert!(report.starts_with("status 0\n"), "{args:?} {report}");
        assert_eq!(self.text(), before.replacen(from, to, 1), "{args:?}");
        report
    }

    /// Returns the output of a command that changes nothing.
    #[track_caller]
    pub(crate) fn keeps(&self, status: u8, args: &[&str]) -> String {
        let before = self.text();
        let report = self.run(args);
        let expected = format!("status {status}\n");
        assert!(report.starts_with(&expected), "{args:?} {report}");
        assert_eq!(self.text(), before, "{args:?}");
        report
    }
}
