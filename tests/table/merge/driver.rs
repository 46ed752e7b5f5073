//! The driver in real repositories, called by the `git` program.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

const WAYPOST: &str = env!("CARGO_BIN_EXE_waypost");

const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://framasoft.org/
- url: https://www.gnu.org/
  short-code: gnu-home
";

fn entry(code: &str) -> String {
    format!("- url: https://example.org/{code}\n  short-code: {code}\n")
}

/// A checkout whose tables are merged by this program, which is named `waypost` on the `PATH`.
struct Fixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
    path: String,
}

impl Fixture {
    fn new(table: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("checkout");
        let programs = dir.path().join("bin");
        for directory in [&root, &programs] {
            fs::create_dir(directory).unwrap();
        }
        symlink(WAYPOST, programs.join("waypost")).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let fixture = Self {
            _dir: dir,
            root,
            path,
        };
        fixture.git("init --quiet -b main");
        fixture.write("mapping.yaml", table);
        fixture
    }

    /// With the driver installed, and all committed.
    fn installed(table: &str) -> Self {
        let fixture = Self::new(table);
        assert!(
            fixture
                .waypost(&["merge-driver", "--install"])
                .status
                .success()
        );
        fixture.commit("table");
        fixture
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(program)
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", &self.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_EDITOR", "true")
            .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_COMMITTER_NAME", "C")])
            .envs([
                ("GIT_AUTHOR_EMAIL", "a@b.c"),
                ("GIT_COMMITTER_EMAIL", "c@b.c"),
            ])
            .output()
            .unwrap()
    }

    fn waypost(&self, arguments: &[&str]) -> Output {
        self.run(WAYPOST, arguments)
    }

    /// Runs git, with arguments that contain no spaces; returns whether it succeeded, and its output.
    fn try_git(&self, arguments: &str) -> (bool, String) {
        let output = self.run("git", &arguments.split(' ').collect::<Vec<_>>());
        let report = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(report).unwrap())
    }

    fn git(&self, arguments: &str) -> String {
        let (is_done, report) = self.try_git(arguments);
        assert!(is_done, "git {arguments}: {report}");
        report
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn commit(&self, message: &str) {
        self.git("add --all .");
        self.git(&format!("commit --quiet -m {message}"));
    }

    /// Commits a table on a branch that begins at `main`, and goes back to `main`.
    fn branch(&self, name: &str, path: &str, table: &str) {
        self.git(&format!("switch --quiet --create {name} main"));
        self.write(path, table);
        self.commit(name);
        self.git("switch --quiet main");
    }

    /// Changes a table on `main` and on the branch `topic`.
    fn diverge(&self, ours: &str, theirs: &str) {
        self.branch("topic", "mapping.yaml", theirs);
        self.write("mapping.yaml", ours);
        self.commit("ours");
    }

    fn checks(&self, path: &str) -> bool {
        self.waypost(&["check", path]).status.success()
    }
}

#[test]
fn two_branches_that_append_merge_clean() {
    for operation in ["merge --no-edit topic", "rebase topic", "cherry-pick topic"] {
        let fixture = Fixture::installed(TABLE);
        fixture.diverge(
            &(TABLE.to_owned() + &entry("z")),
            &(TABLE.to_owned() + &entry("y")),
        );
        fixture.git(operation);
        // In a rebase, the other branch is "ours".
        let [first, second] = if operation == "rebase topic" {
            ["y", "z"]
        } else {
            ["z", "y"]
        };
        let expected = TABLE.to_owned() + &entry(first) + &entry(second);
        assert_eq!(fixture.read("mapping.yaml"), expected, "{operation}");
        assert!(fixture.checks("mapping.yaml"));
    }
}

#[test]
fn without_the_driver_they_conflict() {
    let fixture = Fixture::new(TABLE);
    fixture.commit("table");
    fixture.diverge(
        &(TABLE.to_owned() + &entry("z")),
        &(TABLE.to_owned() + &entry("y")),
    );
    assert!(!fixture.try_git("merge --no-edit topic").0);
}

#[test]
fn the_same_addition_becomes_one() {
    let fixture = Fixture::installed(TABLE);
    let added = TABLE.to_owned() + &entry("x");
    let titled = TABLE.to_owned() + &entry("x") + "  title: X\n";
    fixture.diverge(&added, &titled);
    fixture.git("merge --no-edit topic");
    assert_eq!(fixture.read("mapping.yaml"), titled);
}

#[test]
fn a_clash_is_marked_explained_and_settled() {
    for (operation, go_on) in [
        ("merge --no-edit topic", "commit --no-edit"),
        ("rebase topic", "rebase --continue"),
        ("cherry-pick topic", "cherry-pick --continue"),
    ] {
        let fixture = Fixture::installed(TABLE);
        let (one, two) = (
            "- url: https://one.example/\n  short-code: x\n",
            "- url: https://two.example/\n  short-code: x\n",
        );
        fixture.diverge(
            &(TABLE.to_owned() + one + &entry("a")),
            &(TABLE.to_owned() + two + &entry("b")),
        );

        let (is_done, report) = fixture.try_git(operation);
        assert!(!is_done, "{report}");
        assert!(
            report.contains("mapping.yaml:6: the code \"x\" leads to two targets"),
            "{report}"
        );
        let status = fixture.git("status --porcelain");
        assert!(status.contains("UU mapping.yaml"), "{status}");
        let table = fixture.read("mapping.yaml");
        let clash = table
            .split_once("<<<<<<< ours")
            .unwrap()
            .1
            .split_once(">>>>>>> theirs\n")
            .unwrap();
        assert!(clash.0.contains(one) && clash.0.contains(two), "{table}");
        assert!(
            clash.1.contains(&entry("a")) && clash.1.contains(&entry("b")),
            "{table}"
        );
        let check = fixture.waypost(&["check", "mapping.yaml"]);
        let report = String::from_utf8([check.stdout, check.stderr].concat()).unwrap();
        assert!(
            report.contains("mapping.yaml:6:1: error: unresolved merge conflict"),
            "{report}"
        );

        let lines = table.lines().filter(|line| {
            !["<<<<<<<", "=======", ">>>>>>>"]
                .iter()
                .any(|it| line.starts_with(it))
        });
        let settled: String = lines.map(|line| format!("{line}\n")).collect();
        fixture.write("mapping.yaml", &settled.replace(one, ""));
        assert!(fixture.checks("mapping.yaml"));
        fixture.git("add mapping.yaml");
        fixture.git(go_on);
        assert_eq!(fixture.git("status --porcelain"), "", "{operation}");
    }
}

#[test]
fn what_one_side_removed_and_the_other_changed_is_a_conflict() {
    let fixture = Fixture::installed(TABLE);
    let removed = TABLE.split_once("- url: https://www").unwrap().0;
    fixture.diverge(removed, &(TABLE.to_owned() + "  retired: true\n"));
    let (is_done, report) = fixture.try_git("merge --no-edit topic");
    assert!(!is_done);
    assert!(
        report.contains("the entry \"gnu-home\" was removed by ours and changed by theirs"),
        "{report}"
    );
    let expected = "=======\n- url: https://www.gnu.org/\n  short-code: gnu-home\n  retired: true\n>>>>>>> theirs\n";
    assert!(fixture.read("mapping.yaml").ends_with(expected));
}

#[test]
fn documents_of_a_directory_are_merged_too() {
    let fixture = Fixture::new("");
    fs::remove_file(fixture.root.join("mapping.yaml")).unwrap();
    fixture.write("links/fairs.yml", TABLE);
    assert!(
        fixture
            .waypost(&["merge-driver", "--install", "--table", "links"])
            .status
            .success()
    );
    fixture.commit("table");
    fixture.branch(
        "topic",
        "links/fairs.yml",
        &(TABLE.to_owned() + &entry("y")),
    );
    fixture.write("links/fairs.yml", &(TABLE.to_owned() + &entry("z")));
    fixture.commit("ours");
    fixture.git("merge --no-edit topic");
    let expected = TABLE.to_owned() + &entry("z") + &entry("y");
    assert_eq!(fixture.read("links/fairs.yml"), expected);
}

#[test]
fn a_name_may_look_like_an_option() {
    let fixture = Fixture::new("");
    fs::remove_file(fixture.root.join("mapping.yaml")).unwrap();
    fixture.write("-a.yaml", TABLE);
    assert!(
        fixture
            .waypost(&["merge-driver", "--install", "--table=-a.yaml"])
            .status
            .success()
    );
    fixture.commit("table");
    fixture.branch("topic", "-a.yaml", &(TABLE.to_owned() + &entry("y")));
    fixture.write("-a.yaml", &(TABLE.to_owned() + &entry("z")));
    fixture.commit("ours");
    fixture.git("merge --no-edit topic");
    let expected = TABLE.to_owned() + &entry("z") + &entry("y");
    assert_eq!(fixture.read("-a.yaml"), expected);
}

#[test]
fn lines_keep_their_ends() {
    let crlf = |text: String| text.replace('\n', "\r\n");
    let fixture = Fixture::installed(&crlf(TABLE.to_owned()));
    fixture.diverge(
        &crlf(TABLE.to_owned() + &entry("z")),
        &crlf(TABLE.to_owned() + &entry("y")),
    );
    fixture.git("merge --no-edit topic");
    let expected = TABLE.to_owned() + &entry("z") + &entry("y");
    assert_eq!(fixture.read("mapping.yaml"), crlf(expected));
}

#[test]
fn branches_that_merged_each_other_merge() {
    // Both clash at one entry and settle it in the same way, so that the common ancestor that Git
    // makes up holds a conflict.
    let fixture = Fixture::installed(TABLE);
    let table = |target: &str, more: &str| {
        format!("{TABLE}- url: https://{target}.example/\n  short-code: x\n{more}")
    };
    fixture.diverge(&table("one", ""), &table("two", ""));
    fixture.git("branch crossed main");
    for (from, with) in [("main", "topic"), ("topic", "crossed")] {
        fixture.git(&format!("switch --quiet {from}"));
        assert!(!fixture.try_git(&format!("merge --no-edit {with}")).0);
        fixture.write("mapping.yaml", &table("one", &entry(from)));
        fixture.commit("settled");
    }
    fixture.git("switch --quiet main");
    let (is_done, report) = fixture.try_git("merge --no-edit topic");
    let result = fixture.read("mapping.yaml");
    assert!(report.contains("merged line by line"), "{report}");
    assert!(
        result.contains(&entry("main")) && result.contains(&entry("topic")),
        "{result}"
    );
    assert_eq!(is_done, !result.contains("<<<<<<<"), "{report}{result}");
}

#[test]
fn branches_that_added_to_each_other_merge_clean() {
    let fixture = Fixture::installed(TABLE);
    let table = |codes: &str| {
        codes.chars().fold(TABLE.to_owned(), |table, code| {
            table + &entry(&code.to_string())
        })
    };
    fixture.diverge(&table("a"), &table("b"));
    fixture.git("branch crossed main");
    for (from, with) in [("main", "topic"), ("topic", "crossed")] {
        fixture.git(&format!("switch --quiet {from}"));
        fixture.git(&format!("merge --no-edit {with}"));
        let table = fixture.read("mapping.yaml") + &entry(from);
        fixture.write("mapping.yaml", &table);
        fixture.commit("more");
    }
    fixture.git("switch --quiet main");
    fixture.git("merge --no-edit topic");
    let result = fixture.read("mapping.yaml");
    for code in ["a", "b", "main", "topic"] {
        assert_eq!(result.matches(&entry(code)).count(), 1, "{result}");
    }
}

#[test]
fn what_cannot_be_split_is_merged_by_lines() {
    let fixture = Fixture::installed(&TABLE.replace(
        "- url: https://framasoft.org/",
        "- {url: https://framasoft.org/}",
    ));
    let base = fixture.read("mapping.yaml");
    fixture.diverge(&format!("# ours\n{base}"), &(base.clone() + &entry("y")));
    let report = fixture.git("merge --no-edit topic");
    assert!(
        report.contains("mapping.yaml: merged line by line: line 3"),
        "{report}"
    );
    assert_eq!(
        fixture.read("mapping.yaml"),
        format!("# ours\n{base}{}", entry("y"))
    );
}

#[test]
fn a_driver_that_is_gone_stops_the_merge() {
    let fixture = Fixture::installed(TABLE);
    let ours = TABLE.to_owned() + &entry("z");
    fixture.diverge(&ours, &(TABLE.to_owned() + &entry("y")));
    fs::remove_file(fixture.root.join("../bin/waypost")).unwrap();
    let (is_done, report) = fixture.try_git("merge --no-edit topic");
    assert!(!is_done);
    // Older versions of Git take any failure for a conflict.
    if !report.contains("CONFLICT") {
        assert_eq!(fixture.git("status --porcelain"), "", "{report}");
        assert_eq!(fixture.read("mapping.yaml"), ours);
    }
}

#[test]
fn what_cannot_be_read_stops_the_merge() {
    let fixture = Fixture::new(TABLE);
    let output = fixture.waypost(&[
        "merge-driver",
        "nowhere",
        "mapping.yaml",
        "mapping.yaml",
        "links.yaml",
    ]);
    assert_eq!(output.status.code(), Some(129));
    let report = String::from_utf8(output.stderr).unwrap();
    assert!(
        report.starts_with("waypost: links.yaml: not merged: cannot read nowhere: "),
        "{report}"
    );
    assert_eq!(fixture.read("mapping.yaml"), TABLE);
}

#[test]
fn installing_twice_changes_nothing() {
    let fixture = Fixture::new(TABLE);
    let install = || {
        let output = fixture.waypost(&["merge-driver", "--install"]);
        assert!(output.status.success());
        let files = [".gitattributes", ".git/config"].map(|path| fixture.read(path));
        (String::from_utf8(output.stdout).unwrap(), files)
    };
    let (report, files) = install();
    assert!(
        report.contains("merge.waypost.driver = waypost merge-driver -- %O %A %B %P"),
        "{report}"
    );
    assert!(
        report.contains("added to .gitattributes: /mapping.yaml merge=waypost"),
        "{report}"
    );
    let (report, again) = install();
    assert!(!report.contains("added"), "{report}");
    assert_eq!(files, again);
}

#[test]
fn the_page_on_reviewing_shows_what_happens() {
    let page = fs::read_to_string("docs/reviewing.md").unwrap();
    let shows = |text: &str| assert!(page.contains(text), "{text}");
    let fixture = Fixture::new(TABLE);
    let installed = fixture.waypost(&["merge-driver", "--install"]).stdout;
    shows(&format!(
        "--install\n{}```",
        String::from_utf8(installed).unwrap()
    ));
    fixture.commit("table");
    let video = "- url: https://joinpeertube.org/\n  short-code: video\n";
    let mastodon = "- url: https://joinmastodon.org/\n";
    fixture.diverge(&(TABLE.to_owned() + mastodon), &(TABLE.to_owned() + video));
    fixture.git("merge --no-edit topic");
    let table = fixture.read("mapping.yaml");
    shows(&format!("```yaml\n{table}```"));

    fixture.branch(
        "retarget",
        "mapping.yaml",
        &table.replace("gnu.org/", "gnu.org/home.html"),
    );
    let retired = table
        .replace("gnu.org/", "gnu.org/gnu.html")
        .replace("gnu-home", "gnu-home\n  retired: true");
    fixture.write("mapping.yaml", &retired);
    fixture.commit("retire");
    let (_, report) = fixture.try_git("merge --no-edit retarget");
    let explained = report
        .lines()
        .find(|line| line.starts_with("mapping.yaml:4: "))
        .unwrap();
    shows(&format!("{explained}\n"));
    let table = fixture.read("mapping.yaml");
    let (_, conflict) = table.split_once("<<<<<<<").unwrap();
    let (conflict, _) = conflict.split_once(">>>>>>>").unwrap();
    shows(&format!("```yaml\n<<<<<<<{conflict}>>>>>>> theirs\n```"));
}
