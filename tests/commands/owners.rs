//! `waypost check --base REV --author NAME` on real Git repositories: who may change which entries, and
//! which version of the owners file decides.

#![allow(clippy::unwrap_used)]

use insta::assert_snapshot;

use crate::fixture::Fixture;

const OWNERS: &str = "\
admins: [root]
owners:
  library: [alice]
  it: [bob]
";

const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://a.example/
  short-code: a
  owner: library
- url: https://b.example/
  short-code: b
  owner: it
";

/// A repository with a table and its owners, on a branch of its own.
fn fixture(table: &str, owners: &str) -> Fixture {
    let fixture = Fixture::empty();
    fixture.write(owners, OWNERS);
    fixture.write(table, TABLE);
    fixture.commit_all();
    fixture.git("switch --quiet --create topic");
    fixture
}

/// Checks the work tree for an author; returns the rules, with file and line.
fn refused(fixture: &Fixture, arguments: &str, author: &str) -> Vec<String> {
    let arguments = format!("check {arguments}--base main --author {author} --format json");
    let report = fixture.waypost(".", &arguments);
    let (_, rest) = report.split_once("--- stdout\n").unwrap();
    let (stdout, _) = rest.split_once("--- stderr\n").unwrap();
    let document: serde_json::Value = serde_json::from_str(stdout).expect(&report);
    let diagnostics = document["diagnostics"].as_array().unwrap().iter();
    let shown = diagnostics.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap();
        format!("{} {}:{}", text("rule"), text("file"), it["line"])
    });
    shown.collect()
}

#[test]
fn entries_are_changed_by_the_people_of_their_owner() {
    let fixture = fixture("mapping.yaml", "owners.yaml");
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let changed = ["owner-entry-changed mapping.yaml:6"];
    for (author, expected) in [
        ("alice", &changed[..]),
        ("bob", &[]),
        ("BOB", &[]),
        ("root", &[]),
    ] {
        assert_eq!(refused(&fixture, "", author), expected, "{author}");
    }
    // The same in a commit, from another directory.
    fixture.commit_all();
    let report = fixture.waypost(
        ".git",
        "check --rev topic:mapping.yaml --base main --author alice",
    );
    assert_snapshot!("rev", report);
    // Without an author, owners are not checked.
    let report = fixture.waypost(".", "check --base main");
    assert!(report.starts_with("status 0\n"), "{report}");
}

#[test]
fn an_author_that_is_not_known_changes_nothing() {
    let fixture = fixture("mapping.yaml", "owners.yaml");
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let report = fixture.waypost(".", "check --base main --author ");
    assert!(report.starts_with("status 1\n"), "{report}");
    assert!(
        report.contains("an unknown author may not change it"),
        "{report}"
    );
    // An empty variable of this flag is not ignored: that would turn the check off.
    let empty = [("WAYPOST_AUTHOR", "")];
    let unknown = fixture.waypost_with(".", "check --base main", &empty);
    assert_eq!(unknown, report);
    // Without a base, there is nothing to check.
    let report = fixture.waypost_with(".", "check", &empty);
    assert!(report.starts_with("status 0\n"), "{report}");
    let report = fixture.waypost_with(".", "check --base main", &[("WAYPOST_AUTHOR", "alice")]);
    assert!(report.starts_with("status 1\n"), "{report}");
}

#[test]
fn no_proposal_permits_itself() {
    let fixture = fixture("mapping.yaml", "owners.yaml");
    fixture.write("owners.yaml", &OWNERS.replace("[bob]", "[bob, alice]"));
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let expected = [
        "owner-file-changed owners.yaml:1",
        "owner-entry-changed mapping.yaml:6",
    ];
    assert_eq!(refused(&fixture, "", "alice"), expected);
    assert_eq!(refused(&fixture, "", "bob"), expected[..1]);
    assert_eq!(refused(&fixture, "", "root"), [""; 0]);
    fixture.git("rm --quiet --force owners.yaml");
    assert_eq!(refused(&fixture, "", "alice"), expected);
    fixture.commit_all();
    // A branch from before there were owners.
    fixture.git("switch --quiet --orphan early");
    fixture.write("mapping.yaml", TABLE);
    fixture.commit_all();
    fixture.git("switch --quiet --force-create main");
    fixture.write("owners.yaml", OWNERS);
    fixture.commit_all();
    fixture.git("switch --quiet --create late main~");
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    assert_eq!(refused(&fixture, "", "alice"), expected[1..]);
    fixture.write("owners.yaml", OWNERS);
    assert_eq!(refused(&fixture, "", "bob"), [""; 0]);
}

#[test]
fn changes_merged_since_are_not_checked() {
    let fixture = fixture("mapping.yaml", "owners.yaml");
    fixture.git("switch --quiet main");
    fixture.write("owners.yaml", &OWNERS.replace("[bob]", "[carol]"));
    fixture.commit(&TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"));
    fixture.git("switch --quiet topic");
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: library\n", "  title: A\n  owner: library\n"),
    );
    assert_eq!(refused(&fixture, "", "alice"), [""; 0]);
    // The accounts of an owner now, not when the branch began.
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  tags: [b]\n  owner: it\n"),
    );
    assert_eq!(
        refused(&fixture, "", "bob"),
        ["owner-entry-changed mapping.yaml:6"]
    );
    assert_eq!(refused(&fixture, "", "carol"), [""; 0]);
}

#[test]
fn without_owners_in_the_base_nothing_is_restricted() {
    let fixture = Fixture::committed(TABLE);
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    fixture.write("owners.yaml", "admins: alice\n");
    let report = fixture.waypost(".", "check --base main --author mallory");
    assert_snapshot!("none", report);
}

#[test]
fn a_file_without_owners_restricts_nothing() {
    let fixture = Fixture::empty();
    fixture.write("mapping.yaml", TABLE);
    fixture.write("owners.yaml", "admins: []\nowners: {}\n");
    fixture.commit_all();
    fixture.write("owners.yaml", OWNERS);
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let report = fixture.waypost(".", "check --base main --author mallory");
    assert!(report.starts_with("status 0\n"), "{report}");
    assert!(
        report.contains("names no account: anyone may change"),
        "{report}"
    );
    // An invalid file may have named accounts.
    fixture.write("owners.yaml", "admin: [root]\n");
    fixture.commit_all();
    fixture.write("mapping.yaml", TABLE);
    let changed = [
        "key-unknown owners.yaml:1",
        "owner-entry-changed mapping.yaml:6",
    ];
    assert_eq!(refused(&fixture, "", "root"), changed);
}

#[test]
fn of_broken_owners_only_what_can_be_read_counts() {
    let fixture = Fixture::empty();
    fixture.write("mapping.yaml", TABLE);
    fixture.write("owners.yaml", "admins: [root]\nowner: {library: [alice]}\n");
    fixture.commit_all();
    fixture.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let broken = "key-unknown owners.yaml:2";
    let expected = [broken, "owner-entry-changed mapping.yaml:6"];
    assert_eq!(refused(&fixture, "", "alice"), expected);
    assert_eq!(refused(&fixture, "", "root"), expected[..1]);
    fixture.write("owners.yaml", OWNERS);
    assert_eq!(refused(&fixture, "", "root"), [""; 0]);
    let report = fixture.waypost(".", "check --base main --author root");
    assert!(
        report.contains("has errors: only its readable parts count"),
        "{report}"
    );
}

#[test]
fn the_file_is_beside_the_table_or_named() {
    let fixture = fixture("links/a.yaml", "owners.yaml");
    let other = TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n");
    fixture.write("links/a.yaml", &other);
    let changed = ["owner-entry-changed links/a.yaml:6"];
    assert_eq!(refused(&fixture, "links ", "alice"), changed);
    assert_eq!(refused(&fixture, "links/ ", "bob"), [""; 0]);
    assert_eq!(
        refused(&fixture, "links --owners ./owners.yaml ", "alice"),
        changed
    );
    assert_eq!(
        refused(&fixture, "links --owners none.yaml ", "alice"),
        [""; 0]
    );
    let report = fixture.waypost("links", "check . --base main --author alice");
    assert!(report.contains("\"b\" is an entry of \"it\""), "{report}");
    fixture.commit_all();
    let report = fixture.waypost("links", "check --rev HEAD:./ --base main --author alice");
    assert!(report.contains("\"b\" is an entry of \"it\""), "{report}");
    let report = fixture.waypost(".", "check . --base main --author alice");
    assert_snapshot!("top", report);
}

#[test]
fn a_new_site_takes_no_paths_of_others() {
    let fixture = fixture("links/a.yaml", "owners.yaml");
    // `b` forwards everything below it.
    let table = TABLE.replace("  owner: it\n", "  owner: it\n  forward: path\n");
    fixture.write("links/a.yaml", &table);
    fixture.commit_all();
    fixture.git("branch --force main topic");
    let site = "base_url: https://short.code/b/\nmapping:\n- url: https://evil.example/\n  short-code: x\n";
    fixture.write("links/b.yaml", site);
    let taken = "published-path-shadowed links/a.yaml:6";
    let changed = "owner-entry-changed links/a.yaml:6";
    assert_eq!(
        refused(&fixture, "links ", "alice"),
        [taken, changed, changed]
    );
    assert_eq!(refused(&fixture, "links ", "bob"), [taken]);
}

#[test]
#[cfg(unix)]
fn a_link_is_not_followed() {
    let fixture = fixture("mapping.yaml", "owners.yaml");
    std::fs::remove_file(fixture.root.join("owners.yaml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", fixture.root.join("owners.yaml")).unwrap();
    assert_eq!(
        refused(&fixture, "", "root"),
        ["file-symlink owners.yaml:1"]
    );
}

#[test]
fn the_page_on_owners_shows_what_happens() {
    let page = std::fs::read_to_string("docs/owners.md").unwrap();
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let (command, output) = block("console").split_once('\n').unwrap();
    let table = "\
base_url: https://short.code/
mapping:
- url: https://example.org/press
  short-code: press
  owner: press office
- url: https://example.org/books
  short-code: books
  owner: library
";
    let fixture = Fixture::empty();
    fixture.write("owners.yaml", block("yaml"));
    fixture.commit(table);
    let books = table
        .replace("/books", "/new-books")
        .replace("/press", "/news");
    fixture.write(
        "mapping.yaml",
        &books.replace("  owner: library", "  title: Books\n  owner: library"),
    );
    let stated = "--allow-retarget press --allow-retarget books";
    let arguments = command.strip_prefix("$ waypost ").unwrap();
    let report = fixture.waypost(".", &format!("{arguments} {stated}"));
    let (_, printed) = report.split_once("--- stdout\n").unwrap();
    assert_eq!(printed.replace("--- stderr\n", ""), output);
}
