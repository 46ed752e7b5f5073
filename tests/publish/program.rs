//! The program, run with a Git configuration of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::scene::Scene;

/// A table of one link.
pub(crate) const TABLE: &str = "\
# Links
base_url: https://short.code/
mapping:
- url: https://www.gnu.org/
  short-code: gnu-home
";

/// What the program did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Makes sure that it ended so, with these words on standard error.
    #[track_caller]
    pub(crate) fn says(&self, status: i32, words: &str) {
        let well = self.status == status && self.err.contains(words);
        assert!(well, "not {status}, {words:?}: {self:#?}");
        assert!(status == 0 || self.out.is_empty(), "{self:#?}");
    }
}

/// Returns the command `waypost add` in a directory, for somebody whom Git knows.
pub(crate) fn add(scene: &Scene, directory: &Path) -> Command {
    program("add", scene, directory)
}

/// Returns a command in a directory, for somebody whom Git knows.
pub(crate) fn program(verb: &str, scene: &Scene, directory: &Path) -> Command {
    let configuration = scene.at(".gitconfig");
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
        .env("HOME", &scene.root)
        .env("TMPDIR", &scene.root)
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
