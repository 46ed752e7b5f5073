//! The commands that edit links, as their users see them: status, both outputs, and the text.
//!
//! Each case is a snapshot; `INSTA_UPDATE=always cargo test --test commands` writes them anew.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;

use crate::workspace::Workspace;

pub(super) const TABLE: &str = "\
base_url: https://short.code/
mapping:
# Kept.
- url: https://www.gnu.org/
  short-code: gnu-home   # the first
- url: https://framasoft.org/
- {url: https://b.example/, short-code: b, aliases: [bb, -x]}
- url: https://example.org/old
  short-code: old
  retired: 2020-01-01
- short-code: taken-down
  retired: 2025-01-01
- url: https://e.example/
  short-code: ended
  expires: 2025-01-01
  retired: 2024-01-01";

#[test]
fn each_url_that_cannot_be_forwarded_to_is_named() {
    let workspace = Workspace::new(
        "base_url: https://short.code/\nmapping:\n- url: https://e.org/\n  short-code: a\n  variants:\n  \
         - {accept: a/b, url: \"https://e.org/b\"}\n  - {accept: [a/c, a/d], url: \"https://e.org/c\"}\n",
    );
    let forward = ["set", "a", "--forward", "path"];
    assert_snapshot!("forward_and_variants", workspace.keeps(1, &forward));
}

/// Returns the date of today in UTC.
fn today() -> String {
    let now = waypost::mapping::Timestamp::from(std::time::SystemTime::now());
    now.to_string()[..10].to_owned()
}

#[test]
fn only_what_is_named_is_set() {
    let workspace = Workspace::new(TABLE);
    let args = [
        "set",
        "gnu-home",
        "--title",
        "GNU: a system",
        "--tag",
        "no",
        "--tag",
        "x",
    ];
    let new = "# the first\n  title: \"GNU: a system\"\n  tags: [\"no\", x]\n";
    assert_snapshot!("set", workspace.changes(&args, "# the first\n", new));
    assert_snapshot!("set_again", workspace.keeps(0, &args));
    workspace.changes(
        &["set", "bb", "--alias=-y", "--alias", "bb"],
        "[bb, -x]",
        "[bb, -x, \"-y\"]",
    );
    workspace.changes(&["set", "-x", "--tag", "t"], "-y\"]}", "-y\"], tags: [t]}");
    let below = ["set", "-x", "--below", "https://Docs.example"];
    workspace.changes(
        &below,
        ", short-code: b,",
        ", below: \"https://docs.example/\", short-code: b,",
    );
    let both = ["set", "b", "--forward", "all"];
    assert_snapshot!("below_and_forward", workspace.keeps(1, &both));
    workspace.changes(
        &["set", "b", "--unset", "below"],
        ", below: \"https://docs.example/\"",
        "",
    );
    workspace.changes(&["set", "b", "--unset", "tag"], ", tags: [t]}", "}");
    let many = [
        "set",
        "https://short.code/old",
        "--owner",
        "o",
        "--status",
        "301",
        "--forward",
        "query",
        "--cache-max-age",
        "0",
        "--expires",
        "2031-12-31",
        "--archive",
        "https://a.example",
    ];
    let new = "short-code: old\n  owner: o\n  status: 301\n  forward: query\n  cache-max-age: 0\n  \
               expires: 2031-12-31\n  retired: 2020-01-01\n  archive: https://a.example/\n";
    workspace.changes(&many, "short-code: old\n  retired: 2020-01-01\n", new);
    let unset = "owner status forward cache-max-age expires archive title";
    let unset = unset.split(' ').flat_map(|key| ["--unset", key]);
    let unset: Vec<_> = ["set", "old"].into_iter().chain(unset).collect();
    workspace.changes(&unset, new, "short-code: old\n  retired: 2020-01-01\n");
}

#[test]
fn a_link_that_would_no_longer_work_is_noted() {
    let workspace = Workspace::new(TABLE);
    let args = ["set", "b", "--expires", "2020-01-01"];
    let report = workspace.changes(&args, "-x]}", "-x], expires: 2020-01-01}");
    let note = "it expired at 2020-01-02T00:00:00Z, so the link no longer works\n";
    assert!(report.ends_with(note), "{report}");
    let args = ["set", "b", "--expires", "9999-12-31"];
    let report = workspace.changes(&args, "2020-01-01}", "9999-12-31}");
    assert!(!report.contains("expired"), "{report}");
}

#[test]
fn a_test_that_would_fail_is_to_be_changed_first() {
    let test = "tests:\n- from: /b\n  to: https://b.example/\n";
    let entry = "- url: https://b.example/\n  short-code: b\n";
    let table = format!("base_url: https://short.code/\nmapping:\n{entry}{test}");
    let workspace = Workspace::new(&table);
    let report = workspace.keeps(1, &["retarget", "b", "https://c.example/"]);
    let hint = "\n  hint: if the change is intended, first change the test in the table\n";
    assert!(report.ends_with(hint), "{report}");
}

#[test]
fn what_is_the_default_is_written_if_it_is_named() {
    let workspace = Workspace::new(TABLE);
    let args = ["set", "b", "--status", "302", "--dry-run"];
    assert_snapshot!("text_alone", workspace.keeps(0, &args));
    workspace.changes(&args[..4], "-x]}", "-x], status: 302}");
    workspace.keeps(0, &args[..4]);
}

#[test]
fn aliases_are_removed_only_if_that_is_allowed() {
    let workspace = Workspace::new(TABLE);
    let args = [
        "set",
        "b",
        "--unset",
        "aliases",
        "--alias",
        "bb",
        "--allow-alias-loss",
    ];
    assert_snapshot!("alias_loss", workspace.keeps(1, &args[..6]));
    workspace.changes(&args, "[bb, -x]", "[bb]");
    workspace.changes(
        &["set", "b", "--unset", "alias", "--allow-alias-loss"],
        ", aliases: [bb]",
        "",
    );
}

#[test]
fn a_link_leads_elsewhere_under_the_same_code() {
    let workspace = Workspace::new(TABLE);
    let args = ["retarget", "t0P0JMya", "https://framasoft.org/en"];
    let dry = [&args[..], &["--dry-run"]].concat();
    assert_snapshot!("retarget_dry", workspace.keeps(0, &dry));
    let (old, new) = (
        "framasoft.org/\n",
        "framasoft.org/en\n  short-code: t0P0JMya\n",
    );
    assert_snapshot!("retarget", workspace.changes(&args, old, new));
    workspace.keeps(0, &args);
    // A URL has one link, unless that is allowed.
    let shared = ["retarget", "b", "https://www.gnu.org/"];
    assert_snapshot!("retarget_shared", workspace.keeps(1, &shared));
    let allowed = [&shared[..], &["--allow-shared-target"]].concat();
    let report = workspace.changes(
        &allowed,
        "url: https://b.example/",
        "url: \"https://www.gnu.org/\"",
    );
    assert!(report.contains("warning: "), "{report}");
    // A link that was taken down stays down.
    let filled = ["retarget", "taken-down", "https://new.example"];
    assert_snapshot!("refill", workspace.keeps(1, &filled));
}

#[test]
fn a_link_is_retired_today() {
    let workspace = Workspace::new(TABLE);
    let before = today();
    let report = workspace.run(&["retire", "t0P0JMya"]);
    assert_snapshot!("retire", report);
    let dates = [before, today()];
    let retired = |date: &String| {
        let new = format!("framasoft.org/\n  retired: {date}\n");
        workspace.text() == TABLE.replace("framasoft.org/\n", &new)
    };
    assert!(dates.iter().any(retired), "{}", workspace.text());
    workspace.keeps(0, &["retire", "t0P0JMya"]);
    // The date on which it was retired stays.
    workspace.keeps(0, &["retire", "old"]);
    workspace.changes(
        &["retire", "old", "--on", "2030-01-01"],
        "2020-01-01",
        "2030-01-01",
    );
    workspace.changes(&["restore", "old"], "old\n  retired: 2030-01-01\n", "old\n");
}

#[test]
fn a_takedown_drops_the_url_and_keeps_the_code() {
    let workspace = Workspace::new(TABLE);
    let args = ["retire", "t0P0JMya", "--drop-url", "--on", "2026-01-01"];
    let new = "- short-code: t0P0JMya\n  retired: 2026-01-01\n";
    workspace.changes(&args, "- url: https://framasoft.org/\n", new);
    workspace.changes(
        &["retire", "old", "--drop-url"],
        "url: https://example.org/old\n  short",
        "short",
    );
    let copy = ["set", "old", "--archive", "https://a.example/"];
    assert_snapshot!("archive_of_nothing", workspace.keeps(1, &copy));
    let all = "- url: https://f.example/ # f\n  short-code: f # the code\n  # about f\n  \
               title: F # f.example\n  owner: o\n  archive: https://a.example/f # a\n";
    workspace.write("mapping.yaml", &TABLE.replace("# Kept.\n", all));
    let args = ["retire", "f", "--drop-url", "--on", "2026-01-01"];
    let dry_run = [&args[..], &["--dry-run"]].concat();
    assert_snapshot!("drop_url", workspace.keeps(0, &dry_run));
    let bare = "- short-code: f # the code\n  # about f\n  owner: o\n  retired: 2026-01-01\n";
    workspace.changes(&args, all, bare);
    let to_come = ["retire", "b", "--drop-url", "--on", "2999-01-01"];
    assert_snapshot!("drop_too_early", workspace.keeps(1, &to_come));
}

#[test]
fn only_a_link_that_works_again_is_restored() {
    let workspace = Workspace::new(TABLE);
    workspace.changes(
        &["restore", "old"],
        "short-code: old\n  retired: 2020-01-01\n",
        "short-code: old\n",
    );
    assert_snapshot!("restore_again", workspace.keeps(0, &["restore", "old"]));
    assert_snapshot!("restore_expired", workspace.keeps(1, &["restore", "ended"]));
    assert_snapshot!(
        "restore_dropped",
        workspace.keeps(1, &["restore", "taken-down"])
    );
    workspace.changes(
        &["set", "ended", "--unset", "expires"],
        "  expires: 2025-01-01\n",
        "",
    );
    workspace.changes(&["restore", "ended"], "  retired: 2024-01-01", "");
}

#[test]
fn what_is_refused_changes_nothing() {
    let workspace = Workspace::new(TABLE);
    for (name, args) in [
        ("similar", &["retire", "gnu-hom"][..]),
        ("unknown", &["retire", "nowhere"]),
        ("repaired", &["retire", "gnu-home."]),
        ("target", &["retire", "https://www.gnu.org/"]),
        (
            "elsewhere",
            &["retire", "https://elsewhere.example/gnu-home"],
        ),
        (
            "no_site",
            &["retire", "b", "--site", "https://other.example/"],
        ),
        ("retired", &["retarget", "old", "https://new.example/"]),
        ("own_link", &["retarget", "b", "https://short.code/old"]),
        ("taken", &["set", "b", "--alias", "old"]),
        ("control", &["set", "b", "--title", "a\u{1b}[2J"]),
    ] {
        assert_snapshot!(name, workspace.keeps(1, args));
    }
    workspace.changes(
        &["set", "gnu-home", "--forward", "path"],
        "# the first\n",
        "# the first\n  forward: path\n",
    );
    assert_snapshot!(
        "shadows",
        workspace.keeps(1, &["set", "b", "--alias", "gnu-home/x"])
    );
    let allowed = ["set", "b", "--alias", "gnu-home/x", "--allow-shadowing"];
    assert_snapshot!(
        "shadows_allowed",
        workspace.changes(&allowed, "-x]", "-x, gnu-home/x]")
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let workspace = Workspace::new(TABLE);
    for args in [
        &["set", "b"][..],
        &["set"],
        &["set", "b", "--title", "x", "--unset", "title"],
        &["set", "b", "--title", ""],
        &["set", "b", "--unset", "url"],
        &["set", "b", "--status", "200"],
        &["set", "b", "--expires", "tomorrow"],
        &["set", "b", "--alias", "a//b"],
        &["set", "b", "--archive", "b.example"],
        &["set", "b", "--allow-alias-loss", "--title", "x"],
        &["retarget", "b"],
        &["retarget", "b", "new.example"],
        &["retire"],
        &["retire", "b", "--on", "true"],
        &["retire", "b", "--table", "-"],
        &["retire", "b", "--repo", "x", "--table", "y"],
        &["restore", "b", "--branch", "x", "--push"],
    ] {
        workspace.keeps(2, args);
    }
    assert_snapshot!("nothing_named", workspace.keeps(2, &["set", "b"]));
    assert_snapshot!(
        "no_table",
        workspace.keeps(3, &["retire", "b", "--table", "nowhere.yaml"])
    );
}

#[test]
fn variables_for_one_link_are_not_read() {
    let workspace = Workspace::new(TABLE);
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .args(["set", "b", "--owner", "o"])
        .current_dir(workspace.at(""))
        .env_clear();
    command.envs([
        ("WAYPOST_TITLE", "t"),
        ("WAYPOST_OWNER", "p"),
        ("WAYPOST_TAG", "u"),
    ]);
    assert!(command.output().unwrap().status.success());
    assert_eq!(workspace.text(), TABLE.replace("-x]}", "-x], owner: o}"));
}

#[test]
fn a_code_of_several_sites_needs_one_of_them() {
    let workspace = Workspace::new(TABLE);
    workspace.write(
        "other.yaml",
        "base_url: https://other.code/\nmapping:\n- url: https://o.example/\n  short-code: b\n",
    );
    let table = ["--table", "mapping.yaml", "--table", "other.yaml"];
    let retarget = |link| [&["retarget", link, "https://new.example/"][..], &table].concat();
    assert_snapshot!("several_sites", workspace.keeps(1, &retarget("b")));
    let site = [&retarget("b")[..], &["--site", "https://other.code/"]].concat();
    assert_snapshot!("one_site", workspace.keeps(0, &site));
    let other = fs::read_to_string(workspace.at("other.yaml")).unwrap();
    assert!(
        other.contains("- url: https://new.example/\n  short-code: b\n"),
        "{other}"
    );
    workspace.changes(
        &retarget("short.code/bb"),
        "https://b.example/",
        "\"https://new.example/\"",
    );
}

#[test]
fn a_table_with_errors_or_in_a_form_that_cannot_be_edited_stays() {
    let workspace = Workspace::new(TABLE);
    workspace.write("mapping.yaml", &format!("{TABLE}\n- url: nowhere\n"));
    assert_snapshot!("errors", workspace.keeps(1, &["retire", "b"]));
    workspace.write(
        "mapping.yaml",
        "base_url: https://short.code/\nmapping:\n- ? url\n  : https://a.example/\n  short-code: a\n",
    );
    assert_snapshot!("form", workspace.keeps(1, &["retire", "a"]));
}

#[test]
fn a_blank_value_is_refused() {
    let workspace = Workspace::new(TABLE);
    for flag in ["--title", "--owner", "--tag"] {
        for blank in ["", " ", "\u{a0}"] {
            let text = workspace.keeps(2, &["set", "gnu-home", flag, blank]);
            assert!(text.contains("it is blank; remove a key"), "{text}");
        }
    }
}
