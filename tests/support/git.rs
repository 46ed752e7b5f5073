//! The `git` program as tests run it: without anybody's configuration, and so that the same commits
//! always have the same ids.

use std::path::Path;
use std::process::Command;

/// Runs git in a directory, with arguments that hold no spaces; returns what it says.
pub(crate) fn git(directory: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments.split(' '))
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_COMMITTER_NAME", "C")])
        .envs([
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_EMAIL", "c@example.org"),
        ])
        .envs([
            ("GIT_AUTHOR_DATE", "@1700000000 +0000"),
            ("GIT_COMMITTER_DATE", "@1700000001 +0000"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
