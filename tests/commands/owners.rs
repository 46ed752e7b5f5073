//! `waypost check --base REV --author NAME` on real Git repositories: who may change which entries, and
//! which version of the file of owners decides.

#![allow(clippy::unwrap_used)]

use insta::assert_snapshot;

use crate::scene::Scene;

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
fn scene(table: &str, owners: &str) -> Scene {
    let scene = Scene::empty();
    scene.write(owners, OWNERS);
    scene.write(table, TABLE);
    scene.commit_all();
    scene.git("switch --quiet --create topic");
    scene
}

/// Checks the work tree for an author; returns the rules, with file and line.
fn refused(scene: &Scene, arguments: &str, author: &str) -> Vec<String> {
    let arguments = format!("check {arguments}--base main --author {author} --format json");
    let report = scene.waypost(".", &arguments);
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
    let scene = scene("mapping.yaml", "owners.yaml");
    scene.write(
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
        assert_eq!(refused(&scene, "", author), expected, "{author}");
    }
    // The same in a commit, from another directory.
    scene.commit_all();
    let report = scene.waypost(
        ".git",
        "check --rev topic:mapping.yaml --base main --author alice",
    );
    assert_snapshot!("rev", report);
    // Without an author, owners do not count.
    let report = scene.waypost(".", "check --base main");
    assert!(report.starts_with("status 0\n"), "{report}");
}

#[test]
fn an_author_that_is_not_known_changes_nothing() {
    let scene = scene("mapping.yaml", "owners.yaml");
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let report = scene.waypost(".", "check --base main --author ");
    assert!(report.starts_with("status 1\n"), "{report}");
    assert!(
        report.contains("an unknown author may not change it"),
        "{report}"
    );
    // Of this flag, an empty variable is no missing one: it would turn the check off.
    let empty = [("WAYPOST_AUTHOR", "")];
    let unknown = scene.waypost_with(".", "check --base main", &empty);
    assert_eq!(unknown, report);
    // Without a base, there is nothing to check.
    let report = scene.waypost_with(".", "check", &empty);
    assert!(report.starts_with("status 0\n"), "{report}");
    let report = scene.waypost_with(".", "check --base main", &[("WAYPOST_AUTHOR", "alice")]);
    assert!(report.starts_with("status 1\n"), "{report}");
}

#[test]
fn no_proposal_permits_itself() {
    let scene = scene("mapping.yaml", "owners.yaml");
    scene.write("owners.yaml", &OWNERS.replace("[bob]", "[bob, alice]"));
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let expected = [
        "owner-file-changed owners.yaml:1",
        "owner-entry-changed mapping.yaml:6",
    ];
    assert_eq!(refused(&scene, "", "alice"), expected);
    assert_eq!(refused(&scene, "", "bob"), expected[..1]);
    assert_eq!(refused(&scene, "", "root"), [""; 0]);
    scene.git("rm --quiet --force owners.yaml");
    assert_eq!(refused(&scene, "", "alice"), expected);
    scene.commit_all();
    // A branch from before there were owners.
    scene.git("switch --quiet --orphan early");
    scene.write("mapping.yaml", TABLE);
    scene.commit_all();
    scene.git("switch --quiet --force-create main");
    scene.write("owners.yaml", OWNERS);
    scene.commit_all();
    scene.git("switch --quiet --create late main~");
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    assert_eq!(refused(&scene, "", "alice"), expected[1..]);
    scene.write("owners.yaml", OWNERS);
    assert_eq!(refused(&scene, "", "bob"), [""; 0]);
}

#[test]
fn what_was_merged_since_is_nobodys_change() {
    let scene = scene("mapping.yaml", "owners.yaml");
    scene.git("switch --quiet main");
    scene.write("owners.yaml", &OWNERS.replace("[bob]", "[carol]"));
    scene.commit(&TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"));
    scene.git("switch --quiet topic");
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: library\n", "  title: A\n  owner: library\n"),
    );
    assert_eq!(refused(&scene, "", "alice"), [""; 0]);
    // Those who act for an owner now, not when the branch began.
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  tags: [b]\n  owner: it\n"),
    );
    assert_eq!(
        refused(&scene, "", "bob"),
        ["owner-entry-changed mapping.yaml:6"]
    );
    assert_eq!(refused(&scene, "", "carol"), [""; 0]);
}

#[test]
fn without_owners_in_the_base_nothing_is_restricted() {
    let scene = Scene::committed(TABLE);
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    scene.write("owners.yaml", "admins: alice\n");
    let report = scene.waypost(".", "check --base main --author mallory");
    assert_snapshot!("none", report);
}

#[test]
fn a_file_that_names_nobody_restricts_nothing() {
    let scene = Scene::empty();
    scene.write("mapping.yaml", TABLE);
    scene.write("owners.yaml", "admins: []\nowners: {}\n");
    scene.commit_all();
    scene.write("owners.yaml", OWNERS);
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let report = scene.waypost(".", "check --base main --author mallory");
    assert!(report.starts_with("status 0\n"), "{report}");
    assert!(
        report.contains("names nobody: anyone may change"),
        "{report}"
    );
    // One that is broken may have named somebody.
    scene.write("owners.yaml", "admin: [root]\n");
    scene.commit_all();
    scene.write("mapping.yaml", TABLE);
    let changed = [
        "key-unknown owners.yaml:1",
        "owner-entry-changed mapping.yaml:6",
    ];
    assert_eq!(refused(&scene, "", "root"), changed);
}

#[test]
fn of_broken_owners_only_what_can_be_read_counts() {
    let scene = Scene::empty();
    scene.write("mapping.yaml", TABLE);
    scene.write("owners.yaml", "admins: [root]\nowner: {library: [alice]}\n");
    scene.commit_all();
    scene.write(
        "mapping.yaml",
        &TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n"),
    );
    let broken = "key-unknown owners.yaml:2";
    let expected = [broken, "owner-entry-changed mapping.yaml:6"];
    assert_eq!(refused(&scene, "", "alice"), expected);
    assert_eq!(refused(&scene, "", "root"), expected[..1]);
    scene.write("owners.yaml", OWNERS);
    assert_eq!(refused(&scene, "", "root"), [""; 0]);
    let report = scene.waypost(".", "check --base main --author root");
    assert!(
        report.contains("has errors: only what can be read of it counts"),
        "{report}"
    );
}

#[test]
fn the_file_is_beside_the_table_or_named() {
    let scene = scene("links/a.yaml", "owners.yaml");
    let other = TABLE.replace("  owner: it\n", "  title: B\n  owner: it\n");
    scene.write("links/a.yaml", &other);
    let changed = ["owner-entry-changed links/a.yaml:6"];
    assert_eq!(refused(&scene, "links ", "alice"), changed);
    assert_eq!(refused(&scene, "links/ ", "bob"), [""; 0]);
    assert_eq!(
        refused(&scene, "links --owners ./owners.yaml ", "alice"),
        changed
    );
    assert_eq!(
        refused(&scene, "links --owners none.yaml ", "alice"),
        [""; 0]
    );
    let report = scene.waypost("links", "check . --base main --author alice");
    assert!(report.contains("\"b\" is an entry of \"it\""), "{report}");
    scene.commit_all();
    let report = scene.waypost("links", "check --rev HEAD:./ --base main --author alice");
    assert!(report.contains("\"b\" is an entry of \"it\""), "{report}");
    let report = scene.waypost(".", "check . --base main --author alice");
    assert_snapshot!("top", report);
}

#[test]
fn a_new_site_takes_no_paths_of_others() {
    let scene = scene("links/a.yaml", "owners.yaml");
    // `b` forwards everything below it.
    let table = TABLE.replace("  owner: it\n", "  owner: it\n  forward: path\n");
    scene.write("links/a.yaml", &table);
    scene.commit_all();
    scene.git("branch --force main topic");
    let site = "base_url: https://short.code/b/\nmapping:\n- url: https://evil.example/\n  short-code: x\n";
    scene.write("links/b.yaml", site);
    let taken = "published-path-shadowed links/a.yaml:6";
    let changed = "owner-entry-changed links/a.yaml:6";
    assert_eq!(
        refused(&scene, "links ", "alice"),
        [taken, changed, changed]
    );
    assert_eq!(refused(&scene, "links ", "bob"), [taken]);
}

#[test]
#[cfg(unix)]
fn a_link_is_not_followed() {
    let scene = scene("mapping.yaml", "owners.yaml");
    std::fs::remove_file(scene.root.join("owners.yaml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", scene.root.join("owners.yaml")).unwrap();
    assert_eq!(refused(&scene, "", "root"), ["file-symlink owners.yaml:1"]);
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
    let scene = Scene::empty();
    scene.write("owners.yaml", block("yaml"));
    scene.commit(table);
    let books = table
        .replace("/books", "/new-books")
        .replace("/press", "/news");
    scene.write(
        "mapping.yaml",
        &books.replace("  owner: library", "  title: Books\n  owner: library"),
    );
    let stated = "--allow-retarget press --allow-retarget books";
    let arguments = command.strip_prefix("$ waypost ").unwrap();
    let report = scene.waypost(".", &format!("{arguments} {stated}"));
    let (_, printed) = report.split_once("--- stdout\n").unwrap();
    assert_eq!(printed.replace("--- stderr\n", ""), output);
}
