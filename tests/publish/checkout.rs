//! In a person's checkout, by the program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::fixture::{Fixture, names};
use crate::git::git;
use crate::program::{Ended, TABLE, add, run};

const URL: &str = "https://git-scm.com/";

/// The checkout `work`, and its state.
struct Work(Fixture);

impl Work {
    fn new() -> Self {
        Self(Fixture::with_table(TABLE))
    }

    fn git(&self, arguments: &str) -> String {
        git(&self.0.at("work"), arguments)
    }

    fn add(&self, flags: &[&str]) -> Ended {
        let mut command = add(&self.0, &self.0.at("work"));
        run(command.args([URL, "--code", "git"]).args(flags))
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.at("work").join(name), text).unwrap();
    }

    fn hook(&self, name: &str, script: &str) {
        let path = self.0.at("work/.git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Pushes a file from another user's checkout.
    fn others_push(&self, name: &str) {
        let other = self.0.at("other");
        git(&self.0.root, "clone --quiet remote.git other");
        fs::write(other.join(name), "x\n").unwrap();
        git(&other, "add --all .");
        git(&other, "commit --quiet -m others");
        git(&other, "push --quiet");
    }

    /// The state that a refused command must not change.
    fn state(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let work = self.0.at("work");
        let text = |name: &String| fs::read(work.join(name)).ok();
        let files = names(&work);
        (
            files.iter().map(text).collect::<Vec<_>>(),
            files,
            self.git("status --porcelain"),
            self.git("for-each-ref"),
            self.git("ls-files --stage"),
            self.0.remote("for-each-ref"),
            names(&self.0.at("work/.git")),
        )
    }

    /// Checks that it is refused, and that nothing has changed.
    #[track_caller]
    fn refuses(&self, flags: &[&str], status: i32, words: &str) {
        let before = self.state();
        self.add(flags).says(status, words);
        assert_eq!(self.state(), before);
    }
}

#[test]
fn commits_one_file_whatever_else_is_staged() {
    let work = Work::new();
    work.write("notes.md", "staged");
    work.git("add notes.md");
    let ended = work.add(&["--commit"]);
    ended.says(0, "added at mapping.yaml:4:3\ncommitted as ");
    assert_eq!(ended.out, "https://short.code/git\n");
    assert_eq!(
        work.git("show --name-only --format=%an|%B HEAD"),
        "P|Add git\n\nShort-Link: https://short.code/git\n\n\nmapping.yaml"
    );
    assert_eq!(work.git("status --porcelain"), "A  notes.md");
}

#[test]
fn commits_a_new_file() {
    let work = Work::new();
    let ended = work.add(&["--commit", "--fragment", "--table", "."]);
    ended.says(0, "committed as ");
    assert_eq!(work.git("show --name-only --format= HEAD"), "git.yaml");
    assert_eq!(work.git("status --porcelain"), "");
}

#[test]
fn runs_the_hooks_of_a_commit_and_takes_back_what_they_refuse() {
    let work = Work::new();
    work.hook("pre-commit", "echo not today; exit 1");
    work.refuses(&["--commit"], 1, "the commit was refused: not today");
    work.refuses(&["--commit", "--fragment", "--table", "."], 1, "not today");
    work.hook("pre-commit", "exit 0");
    work.git("config commit.gpgSign true");
    work.git("config gpg.program false");
    work.refuses(&["--commit"], 3, "git commit failed");
    work.git("config --unset commit.gpgSign");
    work.hook("pre-commit", "exit 0");
    work.add(&["--commit"]).says(0, "committed");
}

#[test]
fn takes_back_what_an_interrupt_keeps_from_being_committed() {
    let work = Work::new();
    // A terminal interrupts all of them: Git, its hook and waypost.
    work.hook(
        "pre-commit",
        "kill -INT $(cut -d' ' -f4 /proc/$PPID/stat) $PPID",
    );
    let before = work.state();
    let ended = work.add(&["--commit"]);
    assert_ne!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.out, "");
    fs::remove_file(work.0.at("work/.git/index.lock")).ok();
    assert_eq!(work.state(), before);
}

#[test]
fn refuses_a_checkout_that_is_not_ready() {
    let work = Work::new();
    work.write("mapping.yaml", &format!("{TABLE}# mine\n"));
    work.refuses(&["--commit"], 3, "mapping.yaml has uncommitted changes");
    work.refuses(&["--push"], 3, "mapping.yaml has uncommitted changes");
    work.git("checkout --quiet mapping.yaml");

    work.git("checkout --quiet -b side");
    work.refuses(
        &["--push"],
        3,
        "side has no upstream branch\n  hint: set one with `git branch",
    );
    work.git("checkout --quiet --detach");
    work.refuses(
        &["--commit"],
        3,
        "no branch is checked out\n  hint: check out a branch",
    );
    work.refuses(
        &["--push"],
        3,
        "no branch is checked out\n  hint: check out a branch",
    );

    work.git("checkout --quiet main");
    work.git("commit --quiet --allow-empty -m mine");
    work.refuses(
        &["--push"],
        3,
        "main has commits that its upstream branch does not have\n  hint: push them first",
    );
    work.git("revert --no-commit HEAD");
    work.refuses(&["--commit"], 3, "in the middle of a revert");
}

#[test]
fn refuses_where_there_is_no_checkout() {
    let work = Work::new();
    let alone = work.0.at("alone");
    fs::create_dir(&alone).unwrap();
    fs::write(alone.join("mapping.yaml"), TABLE).unwrap();
    for flag in ["--commit", "--push", "--branch=x"] {
        let ended = run(add(&work.0, &alone).args([URL, flag]));
        ended.says(3, "is not in a Git checkout");
        assert!(
            ended
                .err
                .contains("hint: --commit, --push and --branch need"),
            "{ended:#?}"
        );
    }
    assert_eq!(
        fs::read_to_string(alone.join("mapping.yaml")).unwrap(),
        TABLE
    );
}

#[test]
fn reports_that_sha_256_is_not_supported() {
    let work = Work::new();
    let new = work.0.at("new");
    git(&work.0.root, "init --quiet --object-format=sha256 new");
    fs::write(new.join("mapping.yaml"), TABLE).unwrap();
    for flag in ["--commit", "--push", "--branch=x"] {
        let ended = run(add(&work.0, &new).args([URL, flag]));
        ended.says(
            3,
            "uses SHA-256, which is not supported\n  hint: omit --commit",
        );
    }
    assert_eq!(fs::read_to_string(new.join("mapping.yaml")).unwrap(), TABLE);
}

#[test]
fn explains_how_to_configure_a_committer() {
    let work = Work::new();
    let nobody = "[user]\nuseConfigOnly = true\n";
    fs::write(work.0.at(".gitconfig"), nobody).unwrap();
    for flag in ["--commit", "--push"] {
        work.refuses(&[flag], 2, "git config --global user.name");
    }
    let remote = work.0.at("remote.git");
    let mut command = add(&work.0, &work.0.root);
    let ended = run(command.args([URL, "--repo", remote.to_str().unwrap()]));
    ended.says(2, "git config --global user.name");
    let who = "--git-author=A. Name <a@example.org>";
    work.add(&["--commit", who]).says(0, "");
    assert_eq!(
        work.git("log -1 --format=%an%ae%cn"),
        "A. Namea@example.orgA. Name"
    );
}

#[test]
fn suggests_another_temporary_directory() {
    let work = Work::new();
    let remote = work.0.at("remote.git");
    let mut command = add(&work.0, &work.0.root);
    command.args([URL, "--repo", remote.to_str().unwrap()]);
    let ended = run(command.env("TMPDIR", "/nowhere"));
    ended.says(3, "name a directory with TMPDIR");
    assert!(!ended.err.contains("--state-dir"), "{ended:#?}");
}

#[test]
fn reports_that_there_is_no_git_program() {
    let work = Work::new();
    for flag in ["--commit", "--push", "--branch=x"] {
        let before = work.state();
        let mut command = add(&work.0, &work.0.at("work"));
        let ended = run(command.env("PATH", "/nowhere").args([URL, flag]));
        ended.says(3, "there is no git program");
        assert_eq!(work.state(), before);
    }
}

#[test]
fn pushes_on_what_others_have_pushed_and_follows() {
    let work = Work::new();
    work.others_push("theirs.md");
    work.write("mine.md", "not committed");
    let ended = work.add(&["--push"]);
    ended.says(0, "added at mapping.yaml:4:3\npushed to main as ");
    assert_eq!(ended.err.lines().count(), 2, "{}", ended.err);
    assert_eq!(ended.out, "https://short.code/git\n");
    assert_eq!(
        work.git("log --format=%s origin/main"),
        "Add git\nothers\nother"
    );
    assert_eq!(work.git("rev-parse main"), work.0.remote("rev-parse main"));
    assert_eq!(work.git("status --porcelain"), "?? mine.md");
    assert_eq!(
        names(&work.0.at("work")),
        ["mapping.yaml", "mine.md", "theirs.md"]
    );
}

#[test]
fn reports_a_checkout_that_cannot_be_updated() {
    let work = Work::new();
    work.others_push("theirs.md");
    work.write("theirs.md", "mine");
    let head = work.git("rev-parse HEAD");
    work.add(&["--push"])
        .says(0, "the checkout does not have it yet");
    assert_eq!(work.git("rev-parse HEAD"), head);
    assert_eq!(work.0.commits(), 3);
}

#[test]
fn a_push_that_the_remote_refuses_changes_nothing() {
    let work = Work::new();
    work.0.hook("pre-receive", "echo main is protected; exit 1");
    work.refuses(&["--push"], 1, "main is protected");
}

#[test]
fn heeds_the_hook_of_a_push() {
    let work = Work::new();
    work.hook("pre-push", "echo not on Sundays >&2; exit 1");
    work.refuses(&["--push"], 3, "not on Sundays");
}

#[test]
fn pushes_a_branch_for_review_from_wherever_head_is() {
    let work = Work::new();
    work.0
        .hook("post-receive", "echo Review: https://git.example.org/new/x");
    work.git("checkout --quiet --detach");
    let refs = work.git("for-each-ref refs/heads");
    work.add(&["--branch=links/git"])
        .says(0, "open a pull request: https://git.example.org/new/x");
    assert_eq!(work.git("for-each-ref refs/heads"), refs);
    assert_eq!(work.git("status --porcelain"), "");
    assert_eq!(work.0.remote("log --format=%s links/git"), "Add git\nother");
    work.refuses(
        &["--branch=links/git"],
        1,
        "the branch links/git already exists",
    );
}

#[test]
fn intended_shadowing_is_stated_in_the_commit() {
    let fixture = Fixture::with_table(TABLE);
    let work = fixture.at("work");
    let forwarding = [
        "https://bank.example/",
        "--code",
        "bank",
        "--forward",
        "path",
        "--commit",
    ];
    run(add(&fixture, &work).args(forwarding)).says(0, "committed as");
    let login = ["https://login.example/", "--code", "bank/login", "--commit"];
    let ended = run(add(&fixture, &work).args(login));
    ended.says(
        1,
        "the code \"bank/login\" would change where \"bank/login\" leads",
    );
    ended.says(
        1,
        "hint: choose another code, or allow it with --allow-shadowing",
    );
    let check = |past: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_waypost"));
        let output = command
            .arg("check")
            .args(past)
            .current_dir(&work)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    run(add(&fixture, &work).args(login).arg("--allow-shadowing")).says(0, "committed as");
    let message = git(&work, "log -1 --format=%B");
    assert_eq!(
        message,
        "Add bank/login\n\nShort-Link: https://short.code/bank/login\n\
         Waypost-Allow: retarget bank/login"
    );
    check(&["--base", "HEAD~1"]);
    check(&["--history"]);
}
