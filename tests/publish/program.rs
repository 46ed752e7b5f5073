//! The program, run with a Git configuration of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::Fixture;

/// A table of one link.
pub(crate) const TABLE: &str = "\
# Links
base_url: https://short.code/
mapping:
- url: https://www.gnu.org/
  short-code: gnu-home
";

/// The result of the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Checks its exit status, and that standard error contains this text.
    #[track_caller]
    pub(crate) fn says(&self, status: i32, words: &str) {
        let well = self.status == status && self.err.contains(words);
        assert!(well, "not {status}, {words:?}: {self:#?}");
        assert!(status == 0 || self.out.is_empty(), "{self:#?}");
    }
}

/// Returns the command `waypost add` in a directory, for a user with a Git identity.
pub(crate) fn add(fixture: &Fixture, directory: &Path) -> Command {
    program("add", fixture, directory)
}

/// Returns a command in a directory, for a user with a Git identity.
pub(crate) fn program(verb: &str, fixture: &Fixture, directory: &Path) -> Command {
    let configuration = fixture.at(".gitconfig");
    if !configuration.exists() {
        let text = "[user]\nname = P\nemail = p@example.org\n[init]\ndefaultBranch = main\n";
        fs::write(&configuration, text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .arg(verb)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &fixture.root)
        .env("TMPDIR", &fixture.root)
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
