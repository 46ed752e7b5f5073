//! What a server needs to register, and its messages if that is missing.

use std::fs;
use std::process::Command;

use crate::fixture::EMPTY;
use crate::git::git;

/// Returns the exit status of `waypost serve` and what it complains of, in a directory with the
/// repository `remote.git` and the file `tokens`.
fn serve(arguments: &str) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    git(root, "init --quiet --bare remote.git");
    git(root, "init --quiet work");
    fs::write(root.join("work/mapping.yaml"), EMPTY).unwrap();
    git(&root.join("work"), "add mapping.yaml");
    git(&root.join("work"), "commit --quiet -m one");
    git(&root.join("work"), "tag v1");
    git(&root.join("work"), "push --quiet ../remote.git main v1");
    fs::write(root.join("tokens"), format!("ada {:064}\n", 0)).unwrap();
    fs::write(root.join("bad"), "ada secret\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
        ])
        .args(arguments.split(' '))
        .current_dir(root)
        .env_clear()
        .env("HOME", root)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), complaint)
}

#[test]
fn what_cannot_work_is_reported_at_the_start() {
    const WITH_TOKENS: &str = "--registrations --registrations-tokens tokens";
    let author = format!("{WITH_TOKENS} --git-author A<a@example.org> --repo remote.git");
    for (arguments, report) in [
        (
            WITH_TOKENS.to_owned(),
            "name the repository to push to with --repo",
        ),
        (
            "--registrations --repo remote.git".to_owned(),
            "name who may register with --registrations-tokens",
        ),
        (
            format!("{author} --allowed-signers tokens"),
            "its commits are not signed",
        ),
        (
            author.replace("tokens tokens", "tokens nowhere"),
            "cannot read the tokens in nowhere",
        ),
        (
            author.replace("tokens tokens", "tokens bad"),
            "bad:1: what follows the owner is not 64 hexadecimal digits",
        ),
        (
            format!("{WITH_TOKENS} --repo remote.git"),
            "name who commits with --git-author",
        ),
        (
            format!("{author} --ref v1"),
            "the followed reference is not a branch: name one with --ref",
        ),
    ] {
        let (status, complaint) = serve(&arguments);
        let report = format!("--registrations: {report}");
        assert!(complaint.contains(&report), "{arguments}: {complaint}");
        assert_eq!(status, Some(2), "{arguments}");
        assert!(!complaint.contains("secret"), "{complaint}");
    }
}
