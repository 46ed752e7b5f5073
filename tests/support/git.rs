//! The `git` program as tests run it: without any user's configuration.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::Path;
use std::process::Command;

/// Returns the program, to be run in a directory.
pub(crate) fn program(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"])
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_COMMITTER_NAME", "C")])
        .envs([
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_EMAIL", "c@example.org"),
        ]);
    git
}

/// Runs git in a directory, with arguments that hold no spaces; returns what it says.
///
/// The same commits always have the same ids.
pub(crate) fn git(directory: &Path, arguments: &str) -> String {
    let output = program(directory)
        .args(arguments.split(' '))
        .envs([
            ("GIT_AUTHOR_DATE", "@1700000000 +0000"),
            ("GIT_COMMITTER_DATE", "@1700000001 +0000"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
