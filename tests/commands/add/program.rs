//! `waypost add` as its users see it: status, both outputs, and the bytes of files.
//!
//! Each case is a snapshot; `INSTA_UPDATE=always cargo test --test commands` writes them anew.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;

use crate::transcript::transcript;
use crate::workspace::Workspace;

const TABLE: &str = "\
base_url: https://short.code/
mapping:
# Kept sorted.
- url: https://www.gnu.org/
  short-code: gnu-home   # the first
- url: https://example.org/old
  short-code: old
  retired: true
- url: https://www.rust-lang.org/
  short-code: rust
";

#[test]
fn a_code_that_is_too_long_for_the_name_of_a_file_is_refused() {
    let workspace = Workspace::new(TABLE);
    let code = "é".repeat(120);
    let args = [
        "https://e.org/",
        "--code",
        &code,
        "--fragment",
        "--table",
        ".",
    ];
    let report = workspace.refuses(&args);
    assert!(report.starts_with("status 1\n"), "{report}");
    assert!(report.contains("hint: choose a shorter code"), "{report}");
}

#[test]
fn empty_values_are_not_written() {
    let workspace = Workspace::new(TABLE);
    let args = [
        "https://e.org/",
        "--title=",
        "--owner=",
        "--tag=",
        "--tag=a",
    ];
    let report = workspace.add(&args);
    assert!(report.starts_with("status 0\n"), "{report}");
    let text = workspace.read("mapping.yaml");
    assert!(!text.contains("title") && !text.contains("owner"), "{text}");
    assert!(text.contains("tags: [a]"), "{text}");
}

#[test]
fn a_table_that_is_named_twice_is_there_once() {
    let workspace = Workspace::new(TABLE);
    let table = ["--table", "mapping.yaml"];
    let report = workspace.add(&[&["https://e.org/"], &table[..], &table[..]].concat());
    assert!(report.starts_with("status 0\n"), "{report}");
}

#[test]
fn the_short_link_is_printed_alone() {
    let workspace = Workspace::new(TABLE);
    let args = [
        "https://git-scm.com",
        "--code",
        "git",
        "--tag",
        "vcs",
        "--tag",
        "no",
    ];
    assert_snapshot!("adds", workspace.add(&args));
    let new = "- url: https://git-scm.com/\n  short-code: git\n  tags: [vcs, \"no\"]\n";
    let comment = "# Kept sorted.\n";
    let expected = TABLE.replace(comment, &format!("{new}{comment}"));
    assert_eq!(workspace.read("mapping.yaml"), expected);
    // Only the table remains.
    assert_eq!(workspace.bytes().len(), 1);
}

#[test]
fn blank_texts_are_left_out() {
    let workspace = Workspace::new(TABLE);
    let blank = ["--title", "", "--owner", " ", "--tag", "  "];
    workspace.add(&[&["https://git-scm.com", "--code", "git"], &blank[..]].concat());
    let entry = "- url: https://git-scm.com/\n  short-code: git\n# Kept";
    assert!(workspace.read("mapping.yaml").contains(entry));
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let workspace = Workspace::new(TABLE);
    let before = workspace.bytes();
    let args = [
        "https://git-scm.com",
        "--code",
        "git",
        "--alias",
        "-g",
        "--dry-run",
    ];
    assert_snapshot!("dry_run", workspace.add(&args));
    assert!(workspace.bytes() == before);
    let taken = ["https://git-scm.com", "--code", "old", "--dry-run"];
    assert!(workspace.refuses(&taken).starts_with("status 1\n"));
}

#[test]
fn the_url_may_come_by_standard_input() {
    let workspace = Workspace::new(TABLE);
    let report = workspace.add_from(b"https://framasoft.org/\r\n", &[]);
    assert!(report.contains("https://short.code/t0P0JMya\n"), "{report}");
    assert!(
        workspace
            .read("mapping.yaml")
            .contains("- url: https://framasoft.org/\n")
    );
    assert_snapshot!(
        "two_lines",
        workspace.refuses_from(b"https://a.example/\nhttps://b.example/\n", &[])
    );
    assert_snapshot!("no_input", workspace.refuses_from(b"", &[]));
    assert_snapshot!(
        "no_text",
        workspace.refuses_from(b"https://a.example/\xff", &[])
    );
}

#[test]
fn what_is_registered_is_named() {
    let workspace = Workspace::new(TABLE);
    assert_snapshot!("registered", workspace.refuses(&["https://www.gnu.org"]));
    assert_snapshot!(
        "registered_retired",
        workspace.refuses(&["https://example.org/old"])
    );
    let before = workspace.bytes();
    assert_eq!(
        workspace.add(&["--get-or-create", "HTTPS://www.gnu.org"]),
        "status 0\n--- stdout\nhttps://short.code/gnu-home\n--- stderr\n"
    );
    assert!(workspace.bytes() == before);
    let report = workspace.refuses(&["--get-or-create", "https://example.org/old"]);
    assert!(report.starts_with("status 1\n"), "{report}");
    let report = workspace.add(&["--get-or-create", "https://framasoft.org/"]);
    assert!(
        report.contains("stdout\nhttps://short.code/t0P0JMya\n"),
        "{report}"
    );
}

#[test]
fn what_is_refused_changes_nothing() {
    let workspace = Workspace::new(TABLE);
    let url = "https://new.example/";
    for (name, args) in [
        ("no_url", &["example.org"][..]),
        ("script", &["javascript:alert(1)"]),
        ("user_info", &["https://a:b@new.example/"]),
        ("control", &["https://new.example/\u{7}"]),
        ("own_link", &["https://short.code/gnu-home"]),
        ("taken", &[url, "--code", "gnu-home"]),
        ("taken_retired", &[url, "--code", "old"]),
        ("taken_alias", &[url, "--alias", "rust"]),
        ("reserved", &[url, "--code", "healthz"]),
        ("trailing_plus", &[url, "--code", "gnu+"]),
        ("grammar", &[url, "--code", "a//b"]),
        ("twice", &[url, "--code", "x", "--alias", "x"]),
        ("title", &[url, "--title", "a\u{1b}[2J"]),
        ("expires", &[url, "--expires", "tomorrow"]),
        ("forward", &["https://new.example/a", "--forward", "path"]),
        ("no_site", &[url, "--site", "https://other.example/"]),
        ("no_file", &[url, "--file", "other.yaml"]),
        ("no_table", &[url, "--table", "nowhere.yaml"]),
    ] {
        assert_snapshot!(name, workspace.refuses(args));
    }
    let long = format!("https://new.example/{}", "a".repeat(100_000));
    assert_snapshot!("long", workspace.refuses(&[&long]));
    for args in [
        &[url, "--code", "a", "--number", "1"][..],
        &[url, "--number", "first"],
        &[url, "--status", "200"],
        &[url, "--fragment"],
        &[url, "--table", "-"],
    ] {
        let report = workspace.refuses(args);
        assert!(report.starts_with("status 2\n"), "{report}");
    }
}

#[test]
fn a_table_that_cannot_take_it_is_left_alone() {
    let url = "https://new.example/";
    for (name, table) in [
        ("table_with_errors", format!("{TABLE}- url: nowhere\n")),
        ("table_in_conflict", format!("{TABLE}<<<<<<< HEAD\n")),
        (
            "table_without_list",
            "base_url: https://short.code/\nmapping:\n".to_owned(),
        ),
        (
            "table_in_flow_style",
            "base_url: https://short.code/\nmapping: [{url: https://www.gnu.org/}]\n".to_owned(),
        ),
        (
            "table_with_a_test",
            format!("{TABLE}tests: [{{from: /new, to: not-found}}]\n"),
        ),
    ] {
        let workspace = Workspace::new(TABLE);
        workspace.write("mapping.yaml", &table);
        assert_snapshot!(
            name,
            workspace.refuses(&[url, "--code", "new", "--title", "a: b"])
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_left_alone() {
    let workspace = Workspace::new(TABLE);
    let url = "https://new.example/";
    fs::set_permissions(
        workspace.at("mapping.yaml"),
        fs::Permissions::from_mode(0o444),
    )
    .unwrap();
    assert_snapshot!("read_only", workspace.refuses(&[url]));
    // No file next to it can have a name that begins with its name: even root cannot create one.
    let name = format!("{}.yaml", "a".repeat(250));
    workspace.write(&name, TABLE);
    let report = workspace
        .refuses(&[url, "--table", &name])
        .replace(&name, "LONG.yaml");
    assert_snapshot!("unwritable", report);
}

#[test]
fn a_link_is_written_through() {
    let workspace = Workspace::new(TABLE);
    std::os::unix::fs::symlink("mapping.yaml", workspace.at("link.yaml")).unwrap();
    let report = workspace.add(&["https://framasoft.org/", "--table", "link.yaml"]);
    assert!(report.starts_with("status 0\n"), "{report}");
    assert!(
        fs::symlink_metadata(workspace.at("link.yaml"))
            .unwrap()
            .is_symlink()
    );
    assert!(workspace.read("mapping.yaml").contains("framasoft"));
}

#[test]
fn a_directory_reports_the_file_of_the_entry() {
    let workspace = Workspace::new(TABLE);
    workspace.write("links/a.yaml", TABLE);
    workspace.write("links/b.yaml", "mapping: []\n");
    let url = "https://framasoft.org/";
    assert_snapshot!(
        "several_files",
        workspace.refuses(&[url, "--table", "links"])
    );
    let report = workspace.add(&[url, "--table", "links", "--file", "b.yaml"]);
    assert!(report.contains("added at links/b.yaml:2:3\n"), "{report}");
    assert_eq!(
        workspace.read("links/b.yaml"),
        format!("mapping:\n- url: {url}\n")
    );

    let args = [
        "https://git-scm.com/",
        "--table",
        "links",
        "--fragment",
        "--code",
        "-/x/é",
    ];
    assert_snapshot!("fragment_refused", workspace.refuses(&args));
    let args = [
        "https://git-scm.com/",
        "--table",
        "links",
        "--fragment",
        "--code",
        "x/é",
    ];
    assert_snapshot!("fragment", workspace.add(&args));
    let text = "mapping:\n- url: https://git-scm.com/\n  short-code: x/é\n";
    assert_eq!(workspace.read("links/x%2F%C3%A9.yaml"), text);
    // An existing file that is not part of the table is not replaced either.
    fs::create_dir(workspace.at("links/y.yaml")).unwrap();
    let args = [
        "https://y.example/",
        "--table",
        "links",
        "--fragment",
        "--code",
        "y",
    ];
    let before = workspace.bytes();
    let report = workspace.add(&args);
    assert!(report.starts_with("status 3\n"), "{report}");
    assert!(workspace.bytes() == before);
}

#[test]
fn numbers_go_on() {
    let workspace = Workspace::new(TABLE);
    for (host, code) in [("a", "1"), ("b", "2")] {
        let url = format!("https://{host}.example/");
        let report = workspace.add(&[&url, "--number", "next"]);
        let link = format!("https://short.code/{code}\n");
        assert!(report.contains(&link), "{report}");
    }
    let report = workspace.add(&["https://c.example/", "--number", "62"]);
    assert!(report.contains("https://short.code/10\n"), "{report}");
}

/// Runs many commands at once; returns the output of each.
fn at_once(workspace: &Workspace, commands: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let children: Vec<_> = commands
        .map(|args| {
            let args: Vec<_> = args.iter().map(String::as_str).collect();
            workspace.command(&args).spawn().unwrap()
        })
        .collect();
    let ended = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    ended.map(transcript).collect()
}

fn links(table: &Path) -> Vec<String> {
    let text = fs::read_to_string(table).unwrap();
    let urls = text.lines().filter_map(|line| line.split_once("url: "));
    let mut urls: Vec<_> = urls.map(|(_, url)| url.to_owned()).collect();
    urls.sort();
    urls
}

#[test]
fn who_adds_at_once_loses_nothing() {
    let workspace = Workspace::new(TABLE);
    let table = workspace.at("mapping.yaml");
    let before = links(&table);
    for round in 0..6 {
        // Each URL is requested twice.
        let url = |writer: i32| format!("https://e.example/{round}/{}", writer / 2);
        let report = at_once(
            &workspace,
            (0..8).map(|writer| vec![url(writer), "--number".to_owned(), "next".to_owned()]),
        );
        for pair in report.chunks(2) {
            let won = pair
                .iter()
                .filter(|it| it.starts_with("status 0\n"))
                .count();
            let lost = pair
                .iter()
                .filter(|it| it.contains("ERR-000-02-00"))
                .count();
            assert_eq!((won, lost), (1, 1), "{pair:?}");
        }
    }
    let mut expected = before;
    let all =
        (0..6).flat_map(|round| (0..4).map(move |n| format!("https://e.example/{round}/{n}")));
    expected.extend(all);
    expected.sort();
    assert_eq!(links(&table), expected);
    let text = workspace.read("mapping.yaml");
    let numbers = text
        .lines()
        .filter_map(|line| line.strip_prefix("  number: "));
    let mut numbers: Vec<u32> = numbers.map(|it| it.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=24).collect::<Vec<_>>());
    assert_eq!(workspace.bytes().len(), 1);
}

#[test]
fn a_table_may_be_as_large_as_is_allowed() {
    let workspace = Workspace::new(TABLE);
    let with_limit = |bytes: usize| {
        let limit = bytes.to_string();
        let args = ["https://e.org/", "--code=e", "--max-table-bytes", &limit];
        workspace.add(&args)
    };
    for limit in [TABLE.len() - 1, TABLE.len() + 1] {
        let report = with_limit(limit);
        assert!(report.contains("larger than"), "{report}");
        assert!(report.contains("--max-table-bytes"), "{report}");
        assert_eq!(workspace.read("mapping.yaml"), TABLE);
    }
    let report = with_limit(TABLE.len() + 100);
    assert!(report.starts_with("status 0\n"), "{report}");
}
