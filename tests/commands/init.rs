//! `waypost init`: what it creates is a repository in which every other command works.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::fixture::Fixture;

const FLAGS: &str = "--base-url https://short.code/";

/// Returns the files below a directory, without those of Git.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != ".git" {
            found.extend(files(&path));
        } else if !path.is_dir() {
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[track_caller]
fn passes(report: &str) {
    assert!(report.starts_with("status 0\n"), "{report}");
}

#[test]
fn creates_a_table_that_every_command_takes() {
    let fixture = Fixture::empty();
    assert_snapshot!(
        "file",
        fixture.waypost(".", &format!("init {FLAGS} --name Links --forge github"))
    );
    passes(&fixture.waypost(".", "check --deny warnings"));
    passes(&fixture.waypost(".", "fmt --check mapping.yaml"));
    fixture.commit_all();
    fixture.git("switch --quiet --create topic");
    passes(&fixture.waypost(".", "add https://www.gnu.org/ --code gnu-home"));
    passes(&fixture.waypost(".", "resolve gnu-home"));
    passes(&fixture.waypost(".", "merge-driver --install"));
    passes(&fixture.waypost(".", "check --base main --author mallory"));
    assert!(fixture.git("status --short").ends_with("M mapping.yaml"));
    let table = fs::read_to_string(fixture.root.join("mapping.yaml")).unwrap();
    assert_snapshot!("table", table);
}

#[test]
fn creates_a_directory_of_files() {
    let fixture = Fixture::empty();
    assert_snapshot!(
        "directory",
        fixture.waypost(
            ".",
            &format!("init new/table {FLAGS} --directory --forge none")
        )
    );
    let place = "new/table";
    passes(&fixture.waypost(place, "check links --deny warnings"));
    passes(&fixture.waypost(place, "fmt --check links"));
    passes(&fixture.waypost(
        place,
        "add https://www.gnu.org/ --code gnu-home --table links --fragment",
    ));
    let readme = fs::read_to_string(fixture.root.join(place).join("README.md")).unwrap();
    assert_snapshot!("readme", readme);
    // The entry that the README shows.
    let (_, example) = readme.split_once("```yaml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let made = fs::read_to_string(fixture.root.join(place).join("links/gnu-home.yaml")).unwrap();
    assert_eq!(made, example);
}

#[test]
fn existing_files_are_named_and_nothing_is_created() {
    let fixture = Fixture::empty();
    fixture.write("README.md", "mine\n");
    fixture.write("owners.yaml", "mine\n");
    let before = files(&fixture.root);
    let report = fixture.waypost(".", &format!("init {FLAGS}"));
    assert_snapshot!("existing", report);
    assert_eq!(files(&fixture.root), before);
    assert_eq!(
        fs::read_to_string(fixture.root.join("README.md")).unwrap(),
        "mine\n"
    );
}

#[test]
fn the_origin_names_the_repository_and_its_forge() {
    for (origin, repository, check) in [
        (
            "https://me:secret@github.com/o/links.git",
            "https://github.com/o/links",
            ".github/workflows/links.yaml",
        ),
        (
            "git@gitlab.example.org:group/links.git",
            "https://gitlab.example.org/group/links",
            ".gitlab-ci.yml",
        ),
        (
            "ssh://git@codeberg.org:2222/o/links",
            "https://codeberg.org/o/links",
            ".forgejo/workflows/links.yaml",
        ),
    ] {
        let fixture = Fixture::empty();
        fixture.git(&format!("remote add origin {origin}"));
        let report = fixture.waypost(".", &format!("init {FLAGS}"));
        passes(&report);
        assert!(report.contains(&format!("{check}\n")), "{report}");
        let table = fs::read_to_string(fixture.root.join("mapping.yaml")).unwrap();
        assert!(
            table.contains(&format!("repository: {repository}\n")),
            "{table}"
        );
        passes(&fixture.waypost(".", "check --deny warnings"));
    }
    // A forge other than the host's name suggests, and an unknown one.
    let fixture = Fixture::empty();
    fixture.git("remote add origin https://git.example.org/o/links");
    let report = fixture.waypost(".", &format!("init {FLAGS} --forge woodpecker"));
    assert!(report.contains(".woodpecker/links.yaml\n"), "{report}");
    let table = fs::read_to_string(fixture.root.join("mapping.yaml")).unwrap();
    assert!(!table.contains("repository"), "{table}");
}

#[test]
fn checks_belong_at_the_top() {
    let fixture = Fixture::empty();
    fixture.git("remote add origin https://github.com/o/links");
    let report = fixture.waypost(".", &format!("init below {FLAGS} --forge github"));
    assert_snapshot!("below", report);
    assert!(!fixture.root.join("below").exists());
    let report = fixture.waypost(".", &format!("init below {FLAGS}"));
    passes(&report);
    assert!(!report.contains(".github"), "{report}");
}

#[test]
fn without_a_terminal_there_is_no_prompt() {
    let fixture = Fixture::empty();
    assert_snapshot!("unasked", fixture.waypost(".", "init"));
    for flags in [
        "--base-url short.code",
        "--base-url https://short.code/?x",
        "--base-url https://short.code/ --name ",
        "--base-url https://short.code/ --forge sourcehut",
    ] {
        let report = fixture.waypost(".", &format!("init {flags}"));
        assert!(report.starts_with("status 2\n"), "{flags}: {report}");
    }
    assert_eq!(files(&fixture.root), [""; 0]);
}

#[test]
fn a_command_without_a_table_suggests_it() {
    let fixture = Fixture::empty();
    fixture.write("links.csv", "url,code\nhttps://a.example/,a\n");
    fixture.git("commit --quiet --allow-empty -m empty");
    for command in [
        "check",
        "check --base HEAD",
        "fmt mapping.yaml",
        "resolve x",
        "add https://a.example/",
        "add https://a.example/ --commit",
        "import links.csv --format csv",
        "export --format csv",
        "linkcheck",
        "list",
        "set x --title t",
        "retarget x https://a.example/",
        "retire x --commit",
        "restore x",
        "diff HEAD",
        "merge-driver --install",
        "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0",
    ] {
        let report = fixture.waypost(".", command);
        assert!(report.starts_with("status 3\n"), "{command}: {report}");
        let hint = "hint: create one here with `waypost init`\n";
        assert!(report.ends_with(hint), "{command}: {report}");
    }
    // Not for a table that the command line names.
    let report = fixture.waypost(".", "check other.yaml");
    assert!(!report.contains("init"), "{report}");
}

#[test]
fn the_page_on_checks_shows_what_happens() {
    let page = fs::read_to_string("docs/ci.md").unwrap();
    let (_, example) = page.split_once("```console\n$ ").unwrap();
    let (command, output) = example
        .split_once("```")
        .unwrap()
        .0
        .split_once('\n')
        .unwrap();
    let fixture = Fixture::empty();
    let arguments = command.strip_prefix("waypost ").unwrap();
    let arguments = arguments.replace("'Links of Example'", "Links");
    let report = fixture.waypost(".", &arguments);
    let (_, printed) = report.split_once("--- stdout\n").unwrap();
    assert_eq!(printed.replace("--- stderr\n", ""), output);
}
