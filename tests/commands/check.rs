//! What `waypost check` prints, in each of its formats, and from where it reads.
//!
//! Each format is a snapshot; `INSTA_UPDATE=always cargo test --test commands` writes them anew.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use insta::assert_snapshot;
use serde_json::Value;

use crate::git::program;

/// A table that compiles, with a failing test and everything that causes a warning.
const SOUND: &str = "\
base_url: https://short.code/
mapping:
- {url: https://framasoft.org/, short-code: frama}
- {url: https://例え.example/, short-code: 例}
- url: https://framasoft.org/
  short-code: \"frama.\"
tests:
- {from: /frama, to: https://framasoft.org/}
- {from: '/例?<&>\"', to: gone}
";

/// A table that cannot be parsed to the end, and contains characters that must not reach a terminal.
const TAB: &str = "\
mapping:
- url: https://www.gnu.org/
\tshort-code: gnu # \u{1b}[31m
";

/// A table with many problems, on lines with unusual characters.
const WRONG: &str = "\
base_url: https://short.code/
mapping:
- {\"漢字\": 1, shortcode: \"a,b:c%d\", url: https://a.example/}
- url: \"javascript:alert(1)\" # \u{202e}
  short-code: frama
- url: https://c.example/
  short-code: frama
- url: https://d.example/
  short-code: 50% off
- {url: https://e.example/, title: Cut around the place where something is wrong, forward: nothing, \
  owner: Somebody}
tests:
- {from: /frama, to: gone}
";

/// A directory with tables with hostile file names.
fn fixture() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let links = directory.path().join("50% off, <é>: all");
    fs::create_dir(&links).unwrap();
    fs::write(links.join("tab.yaml"), TAB).unwrap();
    fs::write(links.join("wrong \"1\".yaml"), WRONG).unwrap();
    fs::write(directory.path().join("sound.yaml"), SOUND).unwrap();
    directory
}

/// Runs `waypost check` in a directory, with only these variables.
pub(crate) fn check_with(directory: &Path, args: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_waypost"))
        .arg("check")
        .args(args)
        .env_clear()
        .envs(environment.iter().copied())
        .current_dir(directory)
        .output()
        .unwrap()
}

/// Returns the standard output.
fn check(directory: &Path, args: &[&str]) -> String {
    let output = check_with(directory, args, &[]);
    assert!(
        output.status.code().is_some_and(|status| status < 2),
        "{output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json(directory: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&check(directory, args)).unwrap()
}

/// Two tables, one with errors and one with warnings and tests, in a format.
fn both(format: &str) -> String {
    let fixture = fixture();
    let wrong = check(
        fixture.path(),
        &["--format", format, "./50% off, <é>: all/"],
    );
    let sound = check(fixture.path(), &["--format", format, "./sound.yaml"]);
    format!("{wrong}---\n{sound}").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn reports_to_people() {
    assert_snapshot!(both("human"));
}

#[test]
fn names_of_files_make_no_lines_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let head = "base_url: https://short.code/\nmapping:\n";
    let entry = "- {url: https://a.example/, short-code: a}\n";
    for name in ["a\n::error::x\u{202e}.yaml", "b.yaml"] {
        fs::write(directory.path().join(name), format!("{head}{entry}")).unwrap();
    }
    let printed = check(directory.path(), &["."]);
    assert!(
        printed.contains("a\\u{a}::error::x\\u{202e}.yaml:3"),
        "{printed}"
    );
    assert!(
        !printed.lines().any(|line| line.starts_with("::")),
        "{printed}"
    );
}

#[test]
fn reports_to_programs_in_json() {
    assert_snapshot!(both("json"));
}

#[test]
fn annotates_for_github() {
    assert_snapshot!(both("github"));
}

#[test]
fn reports_to_gitlab() {
    assert_snapshot!(both("gitlab"));
}

#[test]
fn writes_sarif() {
    assert_snapshot!(both("sarif"));
}

#[test]
fn writes_junit() {
    assert_snapshot!(both("junit"));
}

#[test]
fn is_in_colour_where_that_is_wanted() {
    let fixture = fixture();
    let reported = |environment: &[(&str, &str)]| {
        let output = check_with(fixture.path(), &["sound.yaml"], environment);
        String::from_utf8(output.stdout).unwrap()
    };
    let coloured = reported(&[("CLICOLOR_FORCE", "1")]);
    assert_snapshot!(coloured.replace('\u{1b}', "ESC"));
    let plain = reported(&[]);
    assert!(!plain.contains('\u{1b}'));
    // Only the colour differs.
    let mut uncoloured = String::new();
    for part in coloured.split('\u{1b}') {
        uncoloured += part
            .split_once('m')
            .filter(|_| part.starts_with('['))
            .map_or(part, |it| it.1);
    }
    assert_eq!(uncoloured, plain);
    assert_eq!(
        reported(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "0")]),
        plain
    );
}

/// Undoes the escapes of a workflow command as GitHub's runner does.
fn unescaped(text: &str, properties: bool) -> String {
    let text = text.replace("%0D", "\r").replace("%0A", "\n");
    let text = match properties {
        true => text.replace("%3A", ":").replace("%2C", ","),
        false => text,
    };
    text.replace("%25", "%")
}

#[test]
fn github_reads_back_what_is_written() {
    let fixture = fixture();
    let table = "50% off, <é>: all";
    let reported = json(fixture.path(), &["--format", "json", table]);
    let reported = reported["diagnostics"].as_array().unwrap();
    let annotations = check(fixture.path(), &["--format", "github", table]);
    assert_eq!(annotations.lines().count(), reported.len());
    for (annotation, reported) in annotations.lines().zip(reported) {
        // The runner looks for the first `::` after the properties, and splits these at commas.
        let (command, message) = annotation
            .strip_prefix("::")
            .unwrap()
            .split_once("::")
            .unwrap();
        let (kind, properties) = command.split_once(' ').unwrap();
        let properties: Vec<_> = properties
            .split(',')
            .map(|property| property.split_once('=').unwrap())
            .map(|(key, value)| (key, unescaped(value, true)))
            .collect();
        let [(_, file), (_, line), (_, column), _] = &properties[..] else {
            panic!("{annotation}")
        };
        let keys: Vec<_> = properties.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["file", "line", "col", "title"]);
        assert_eq!(kind, reported["severity"]);
        assert_eq!(*file, reported["file"]);
        assert_eq!(*line, reported["line"].to_string());
        assert_eq!(*column, reported["column"].to_string());
        let mut text = format!(
            "{file}:{line}:{column}: {}",
            reported["message"].as_str().unwrap()
        );
        if let Some(hint) = reported["hint"].as_str() {
            text += &format!("\nhint: {hint}");
        }
        assert_eq!(unescaped(message, false), text);
    }
}

#[test]
fn github_gets_a_summary_of_what_it_does_not_show() {
    let directory = tempfile::tempdir().unwrap();
    let many = "base_url: https://short.code/\nmapping:\n".to_owned() + &"- x: 1\n".repeat(12);
    fs::write(directory.path().join("mapping.yaml"), many).unwrap();
    let reported = check(directory.path(), &["--format", "github"]);
    let (errors, others): (Vec<_>, Vec<_>) = reported
        .lines()
        .partition(|line| line.starts_with("::error "));
    let [notice] = others[..] else {
        panic!("{others:?}")
    };
    let expected = format!(
        "::notice title=waypost check::GitHub shows 10 errors and 10 warnings of a step: \
         {} further problems are in its log",
        errors.len() - 10
    );
    assert_eq!(notice, expected);
}

#[test]
fn fingerprints_outlive_moved_lines() {
    let fixture = fixture();
    let fingerprints = || -> Vec<String> {
        let report = json(fixture.path(), &["--format", "gitlab", "sound.yaml"]);
        let issues = report.as_array().unwrap().iter();
        issues.map(|it| it["fingerprint"].to_string()).collect()
    };
    let before = fingerprints();
    assert!(before.iter().collect::<BTreeSet<_>>().len() > 2);
    fs::write(
        fixture.path().join("sound.yaml"),
        format!("# New.\n\n{SOUND}"),
    )
    .unwrap();
    assert_eq!(fingerprints(), before);
    fs::write(
        fixture.path().join("sound.yaml"),
        SOUND.replace("to: gone", "to: not-found"),
    )
    .unwrap();
    assert_ne!(fingerprints(), before);
}

#[test]
fn every_format_is_refused_alike() {
    let fixture = fixture();
    for format in ["human", "json", "github", "gitlab", "sarif", "junit"] {
        let status = |args: &[&str]| {
            let args = [&["--format", format], args].concat();
            check_with(fixture.path(), &args, &[]).status.code()
        };
        fs::write(
            fixture.path().join("warned.yaml"),
            SOUND.split("tests").next().unwrap(),
        )
        .unwrap();
        assert_eq!(status(&["sound.yaml"]), Some(1));
        assert_eq!(status(&["warned.yaml"]), Some(0));
        assert_eq!(status(&["--deny", "warnings", "warned.yaml"]), Some(1));
        assert_eq!(status(&["nowhere.yaml"]), Some(3));
    }
    let denied = ["--format", "junit", "--deny", "warnings", "warned.yaml"];
    assert!(check(fixture.path(), &denied).contains("failures=\"1\""));
    let format = [("WAYPOST_FORMAT", "github")];
    let reported = check_with(fixture.path(), &["sound.yaml"], &format);
    assert!(reported.stdout.starts_with(b"::"));
}

#[test]
fn what_is_not_listed_is_counted() {
    let fixture = fixture();
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..1203 {
        text += &format!("- url: https://e.org/{number}\n  short-code: same\n");
    }
    fs::write(fixture.path().join("many.yaml"), text).unwrap();
    for (limit, listed, unlisted) in [
        (&[][..], 1001, 202),
        (&["--max-problems", "3"], 4, 1199),
        (&["--max-problems", "all"], 1202, 0),
    ] {
        let args = [&["--format", "json"], limit, &["many.yaml"]].concat();
        let found = json(fixture.path(), &args);
        assert_eq!(found["diagnostics"].as_array().unwrap().len(), listed);
        assert_eq!(found["summary"]["unlisted"], unlisted);
        let args = [&["--format", "sarif"], limit, &["many.yaml"]].concat();
        let found = json(fixture.path(), &args);
        let counted = found["runs"][0]["properties"]["unlisted"].as_u64();
        assert_eq!(counted.unwrap_or(0), unlisted);
    }
    let args = ["--format", "junit", "--max-problems", "3", "many.yaml"];
    let property = r#"<property name="unlisted" value="1199"/>"#;
    assert!(check(fixture.path(), &args).contains(property));
    let none = ["--max-problems", "0", "many.yaml"];
    assert_eq!(
        check_with(fixture.path(), &none, &[]).status.code(),
        Some(2)
    );
}

/// Makes a repository of two commits in a fixture: its tables, then none.
fn commit(directory: &Path) {
    git(directory, &["init", "--quiet", "--initial-branch=main"]);
    git(directory, &["add", "."]);
    git(directory, &["commit", "--quiet", "-m", "fix: all {of} it"]);
    git(directory, &["rm", "--quiet", "-r", "."]);
    git(directory, &["commit", "--quiet", "-m", "none"]);
}

fn git(directory: &Path, args: &[&str]) {
    let status = program(directory).args(args).status().unwrap();
    assert!(status.success(), "{args:?}");
}

#[test]
fn reads_a_commit_and_touches_nothing() {
    let fixture = fixture();
    let table = "50% off, <é>: all";
    let [wrong, sound] = [table, "sound.yaml"].map(|table| check(fixture.path(), &[table]));
    commit(fixture.path());
    for (rev, expected) in [
        ("HEAD~1:sound.yaml", &sound),
        ("main^:./sound.yaml", &sound),
        ("HEAD^{/fix: all}:sound.yaml", &sound),
        (&format!("HEAD~1:{table}"), &wrong),
        (&format!("HEAD~1:./{table}/"), &wrong),
    ] {
        assert_eq!(check(fixture.path(), &["--rev", rev]), *expected, "{rev}");
    }
    // Paths are from the top, or from here if they say so.
    let below = fixture.path().join("below");
    fs::create_dir(&below).unwrap();
    for rev in ["HEAD~1:sound.yaml", "HEAD~1:../sound.yaml"] {
        assert_eq!(check(&below, &["--rev", rev]), sound, "{rev}");
    }
    assert_eq!(fs::read_dir(fixture.path()).unwrap().count(), 2);
}

#[test]
fn reports_why_a_commit_has_no_table() {
    let fixture = fixture();
    let reported = |args: &[&str]| {
        let output = check_with(fixture.path(), args, &[]);
        let status = output.status.code().unwrap();
        assert!(output.stdout.is_empty());
        let stderr = String::from_utf8(output.stderr).unwrap();
        let stderr = stderr.replace(fixture.path().to_str().unwrap(), "SCENE");
        format!("{status}: {stderr}")
    };
    // Nothing above the fixture is a repository.
    let outside = reported(&["--rev", "HEAD:sound.yaml"]);
    commit(fixture.path());
    let all = [
        outside,
        reported(&["--rev", "sound.yaml"]),
        reported(&["--rev", ":sound.yaml"]),
        reported(&["--rev", "nowhere:sound.yaml"]),
        reported(&["--rev", "HEAD^{tree}:sound.yaml"]),
        reported(&["--rev", "HEAD:sound.yaml"]),
        reported(&["--rev", "HEAD~1:../sound.yaml"]),
        reported(&["--rev", "HEAD~1:sound.yaml/x"]),
        reported(&["--rev", "HEAD~1:sound.yaml", "sound.yaml"]),
    ];
    assert_snapshot!(all.concat());
}

#[test]
fn a_hook_checks_what_is_pushed_before_it_is_taken() {
    let fixture = fixture();
    commit(fixture.path());
    let served = tempfile::tempdir().unwrap();
    git(served.path(), &["init", "--quiet", "--bare"]);
    let hook = served.path().join("hooks/pre-receive");
    let waypost = env!("CARGO_BIN_EXE_waypost");
    let script =
        format!("#!/bin/sh\nread old new name\nexec '{waypost}' check --rev $new:sound.yaml\n");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, executable).unwrap();
    let push = || {
        let remote = served.path().to_str().unwrap();
        let output = program(fixture.path())
            .args(["push", "--quiet", remote, "HEAD:refs/heads/main"])
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    fs::write(fixture.path().join("sound.yaml"), SOUND).unwrap();
    git(fixture.path(), &["add", "."]);
    git(
        fixture.path(),
        &["commit", "--quiet", "-m", "a test that fails"],
    );
    let (taken, reported) = push();
    assert!(!taken && reported.contains("sound.yaml:9:"), "{reported}");
    fs::write(
        fixture.path().join("sound.yaml"),
        SOUND.split("tests").next().unwrap(),
    )
    .unwrap();
    git(
        fixture.path(),
        &["commit", "--quiet", "-a", "-m", "without it"],
    );
    let (taken, reported) = push();
    assert!(taken, "{reported}");
}

#[test]
fn a_size_that_no_table_can_have_is_refused_as_a_limit() {
    let directory = fixture();
    // The table fails its own tests.
    for (size, status) in [("900000000", 1), ("900000001", 2), ("1GiB", 2)] {
        let args = ["--max-table-bytes", size, "sound.yaml"];
        let output = check_with(directory.path(), &args, &[]);
        assert_eq!(output.status.code(), Some(status), "{size}");
        let reported = String::from_utf8(output.stderr).unwrap();
        let names_both = ["--max-table-bytes", "at most 900000000 bytes"];
        assert_eq!(
            names_both.iter().all(|it| reported.contains(it)),
            status == 2
        );
    }
}

#[test]
fn a_table_that_is_too_large_names_the_flag() {
    let directory = fixture();
    let output = check_with(
        directory.path(),
        &["--max-table-bytes", "10", "sound.yaml"],
        &[],
    );
    assert_eq!(output.status.code(), Some(3));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(reported.contains("--max-table-bytes"), "{reported}");
    assert!(
        reported.contains(&format!("it has {}", SOUND.len())),
        "{reported}"
    );
}
