//! `waypost diff` on real Git repositories: which versions it compares, and how it reports them.
//!
//! Each output is a snapshot; `INSTA_UPDATE=always cargo test --test commands` writes them anew.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;

use insta::assert_snapshot;

use crate::fixture::Fixture;

impl Fixture {
    /// Runs `waypost diff` in the checkout and returns its status and both outputs.
    fn diff(&self, arguments: &str) -> String {
        self.diff_in(".", arguments)
    }

    fn diff_in(&self, directory: &str, arguments: &str) -> String {
        self.waypost(directory, &format!("diff {arguments}"))
    }
}

const BEFORE: &str = "\
base_url: https://short.code/
mapping:
- url: https://framasoft.org/
- url: https://www.gnu.org/
  short-code: gnu-home
  aliases: [gnu]
- url: https://example.org/fair/2025
  short-code: fair
- url: https://example.org/old
  short-code: old
- url: https://example.org/back
  short-code: back
  retired: true
- url: https://example.org/plan
  short-code: plan
";

/// A change of each kind, on different lines.
const AFTER: &str = "\
base_url: https://short.code/
mapping:
- url: https://example.org/plan
  short-code: the-plan
- url: https://example.org/back
  short-code: back
- url: https://example.org/fair/2026
  short-code: fair
  status: 301
- url: https://example.org/new
  short-code: new
- url: https://www.gnu.org/
  short-code: gnu-home
  aliases: [g]
  title: \"<b> | `GNU` @everyone \\e[2J\"
";

const NO_CHANGE: &str = "status 0\n--- stdout\n--- stderr\nno changes\n";

#[test]
fn reports_what_the_work_tree_changes() {
    let fixture = Fixture::committed(BEFORE);
    assert_eq!(fixture.diff("HEAD"), NO_CHANGE);
    fixture.write("mapping.yaml", AFTER);
    assert_snapshot!("human", fixture.diff("HEAD"));
    assert_snapshot!("markdown", fixture.diff("HEAD --format markdown"));
    assert_snapshot!("json", fixture.diff("HEAD --format json"));
}

#[test]
fn reports_where_a_site_leads() {
    let fixture = Fixture::committed(BEFORE);
    let home = "https://short.code/\nhome: https://example.org/<b>";
    let with = BEFORE.replace("https://short.code/", home);
    fixture.commit(&with);
    let fallback = "https://short.code/\nfallback: https://old.example.org/";
    let without = BEFORE.replace("https://short.code/", fallback);
    fixture.write("mapping.yaml", &without.replace("/plan\n", "/plans\n"));
    assert_snapshot!("site_human", fixture.diff("HEAD"));
    assert_snapshot!("site_markdown", fixture.diff("HEAD --format markdown"));
    assert_snapshot!("site_json", fixture.diff("HEAD --format json"));
}

#[test]
fn links_merged_elsewhere_since_do_not_look_removed() {
    let fixture = Fixture::committed(BEFORE);
    fixture.git("switch --quiet --create topic");
    fixture.commit(&format!("{BEFORE}- url: https://example.org/topic\n"));
    fixture.git("switch --quiet main");
    fixture.commit(&format!("{BEFORE}- url: https://example.org/main\n"));
    let added = fixture.diff("main topic");
    assert_snapshot!("one_added", added);
    fixture.git("switch --quiet topic");
    assert_eq!(fixture.diff("main"), added);
    // The work tree of main has nothing that main lacks.
    fixture.git("switch --quiet main");
    assert_eq!(fixture.diff("main"), NO_CHANGE);
}

#[test]
fn moved_files_are_no_change() {
    let fixture = Fixture::committed("base_url: https://short.code/\nmapping: []\n");
    let text = |from: u32, to: u32| {
        let entries = (from..to).map(|n| format!("- url: https://example.org/{n}\n"));
        let entries: String = entries.collect();
        format!("base_url: https://short.code/\nmapping:\n{entries}")
    };
    fixture.write("links/a.yaml", &text(0, 10));
    fixture.commit_all();
    fs::remove_file(fixture.root.join("links/a.yaml")).unwrap();
    fixture.write("links/b.yaml", &text(5, 10));
    fixture.write("links/c.yml", &text(0, 5));
    assert_eq!(fixture.diff("HEAD --table links"), NO_CHANGE);
    // The table may be named from anywhere inside, as for any other command.
    assert_eq!(fixture.diff_in("links", "HEAD --table ."), NO_CHANGE);
    let missing = fixture.diff_in("links", "HEAD --table b.yaml");
    assert!(missing.ends_with("\n5 added\n"), "{missing}");
}

#[test]
fn a_table_that_was_not_there_or_is_none_any_more_counts_as_empty() {
    let fixture = Fixture::committed(BEFORE);
    fixture.write("new.yaml", AFTER);
    let added = fixture.diff("HEAD --table new.yaml");
    assert!(added.ends_with("--- stderr\n6 added\n"), "{added}");
    fs::remove_file(fixture.root.join("mapping.yaml")).unwrap();
    let removed = fixture.diff("HEAD");
    assert!(removed.ends_with("--- stderr\n7 removed\n"), "{removed}");
    assert_snapshot!("nowhere", fixture.diff("HEAD --table nowhere.yaml"));
}

#[test]
fn several_sites_are_distinguished_by_short_links() {
    let fixture = Fixture::committed(BEFORE);
    fixture.write("mapping.yaml", AFTER);
    fixture.write("other.yaml", "base_url: https://other.code/\nmapping:\n- url: https://example.org/new\n  short-code: new\n");
    let report = fixture.diff("HEAD --table mapping.yaml --table other.yaml");
    for link in ["https://short.code/new", "https://other.code/new"] {
        assert!(
            report.contains(&format!("  {link}: https://example.org/new\n")),
            "{report}"
        );
    }
}

#[test]
fn errors_are_reported_for_either_side() {
    let broken = "base_url: https://short.code/\nmapping:\n- url: nowhere\n";
    let fixture = Fixture::committed(broken);
    fixture.write("mapping.yaml", BEFORE);
    assert_snapshot!("broken_before", fixture.diff("HEAD"));
    fixture.commit(BEFORE);
    fixture.write("mapping.yaml", broken);
    assert_snapshot!("broken_after", fixture.diff("HEAD"));
}

#[test]
fn reports_why_there_is_nothing_to_compare() {
    let fixture = Fixture::committed(BEFORE);
    assert_snapshot!("unknown_revision", fixture.diff("nowhere"));
    assert_snapshot!("a_path_is_no_revision", fixture.diff("mapping.yaml"));
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().canonicalize().unwrap().join("mapping.yaml");
    let report = fixture.diff(&format!("HEAD --table {}", path.display()));
    assert!(
        report.starts_with("status 3\n") && report.contains("is not in a Git repository"),
        "{report}"
    );
    fixture.git("switch --quiet --orphan other");
    fixture.commit(AFTER);
    assert_snapshot!("unrelated", fixture.diff("main"));
}

#[test]
fn a_shallow_clone_is_distinguished_from_unrelated_work() {
    let fixture = Fixture::committed(BEFORE);
    fixture.git("switch --quiet --create topic");
    fixture.commit(AFTER);
    fixture.git("switch --quiet main");
    fixture.commit(&format!("{BEFORE}- url: https://example.org/main\n"));
    let origin = format!("file://{}", fixture.root.display());
    fixture.git(&format!(
        "-c protocol.file.allow=always clone --quiet --depth 1 --no-single-branch {origin} shallow"
    ));
    let report = fixture.diff_in("shallow", "origin/topic");
    assert!(
        report.starts_with("status 3\n") && report.contains("git fetch --unshallow"),
        "{report}"
    );
}

#[test]
fn a_bare_repository_has_two_commits_to_compare() {
    let fixture = Fixture::committed(BEFORE);
    fixture.commit(AFTER);
    let outside = tempfile::tempdir().unwrap();
    let bare = outside.path().to_str().unwrap();
    fixture.git(&format!("clone --quiet --bare . {bare}"));
    let report = fixture.diff_in(bare, "HEAD~1 HEAD");
    assert_eq!(report, fixture.diff("HEAD~1 HEAD"));
    assert!(report.starts_with("status 0\n"), "{report}");
    assert!(fixture.diff_in(bare, "HEAD~1").starts_with("status 2\n"));
}

#[test]
fn what_is_too_long_for_a_comment_is_counted() {
    let fixture = Fixture::committed("base_url: https://short.code/\nmapping: []\n");
    let mut text = String::from("base_url: https://short.code/\nmapping:\n");
    for number in 0..2000 {
        let _ = writeln!(
            text,
            "- url: https://example.org/{number}/{}",
            "x".repeat(300)
        );
    }
    fixture.write("mapping.yaml", &text);
    let report = fixture.diff("HEAD --format markdown");
    assert!(
        report.chars().count() < 65_536,
        "{}",
        report.chars().count()
    );
    let shown = report
        .lines()
        .filter(|line| line.starts_with("| added |"))
        .count();
    let rest = format!("\n{} more changes are not shown here.\n", 2000 - shown);
    assert!(shown > 20 && report.contains(&rest), "{shown}");
    assert!(
        report.contains("<details><summary>Other changes</summary>\n\n| change |"),
        "{report}"
    );
    assert!(report.contains("\n</details>\n"), "{report}");
}

/// What the page on reviewing shows: a link retargeted, one added, one removed.
#[test]
fn the_page_on_reviewing_shows_what_happens() {
    let page = fs::read_to_string("docs/reviewing.md").unwrap();
    let fixture = Fixture::committed(
        "base_url: https://short.code/\nmapping:\n- url: https://framasoft.org/\n\
         - url: https://www.gnu.org/\n  short-code: gnu-home\n",
    );
    fixture.write(
        "mapping.yaml",
        "base_url: https://short.code/\nmapping:\n\
         - url: https://www.gnu.org/home.html\n  short-code: gnu-home\n\
         - url: https://joinpeertube.org/\n  title: PeerTube\n",
    );
    for (command, language) in [
        ("diff main", None),
        ("diff --format markdown main", Some("markdown")),
        ("diff --format json main", Some("json")),
    ] {
        let report = fixture.diff(command.strip_prefix("diff ").unwrap());
        let report = report.strip_prefix("status 0\n--- stdout\n").unwrap();
        let (stdout, stderr) = report.split_once("--- stderr\n").unwrap();
        let shown = match language {
            None => format!("```console\n$ waypost {command}\n{stdout}{stderr}```\n"),
            Some(language) => format!("```{language}\n{stdout}```\n"),
        };
        assert!(page.contains(&shown), "the page lacks this:\n{shown}");
    }
    // Every kind is explained.
    for kind in waypost::mapping::ChangeKind::ALL {
        assert!(page.contains(&format!("| `{kind}` |")), "{kind}");
    }
}
