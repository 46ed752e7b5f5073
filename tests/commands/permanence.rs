//! `waypost check --base` and `--history` on real Git repositories: which promises they check,
//! where they report those that a table breaks, and what repairs them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use waypost::mapping::Timestamp;

use crate::fixture::Fixture;

const HEAD: &str = "base_url: https://short.code/\nmapping:\n";

/// An entry in each state.
const BEFORE: &str = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: a, aliases: [aa]}
- {url: https://b.example/, short-code: b}
- {url: https://c.example/, short-code: c}
- {url: https://d.example/, short-code: d, retired: true}
- {short-code: e, retired: true}
- {url: https://f.example/, short-code: f}
";

/// All promises broken except one.
const AFTER: &str = "\
base_url: https://short.code/
mapping:
- {url: https://other.example/, short-code: d}
- {url: https://b.example/, short-code: bb}
- {url: https://e.example/, short-code: e}
- {url: https://other.example/a, short-code: a, aliases: [aa]}
- {url: https://f.example/, short-code: f}
";

impl Fixture {
    fn check(&self, arguments: &str) -> String {
        self.waypost(".", &format!("check {arguments}"))
    }

    /// Returns the position and message of every problem that a check reports in human format.
    fn errors(&self, arguments: &str) -> Vec<String> {
        let report = self.check(arguments);
        let (status, rest) = report.split_once("\n--- stdout\n").unwrap();
        let (stdout, _) = rest.split_once("--- stderr\n").unwrap();
        let lines = stdout.lines().filter(|line| !line.starts_with(' '));
        let errors: Vec<_> = lines.map(|line| line.replace(" error:", "")).collect();
        let expected = if errors.is_empty() {
            "status 0"
        } else {
            "status 1"
        };
        assert_eq!(status, expected, "{report}");
        errors
    }

    #[track_caller]
    fn holds(&self, arguments: &str) {
        assert_eq!(self.errors(arguments), [""; 0], "{arguments}");
    }
}

/// A table of entries, each a line.
fn table(entries: &[&str]) -> String {
    let entries = entries.iter().map(|entry| format!("- {entry}\n"));
    HEAD.to_owned() + &entries.collect::<String>()
}

const A: &str = "{url: https://a.example/, short-code: a}";
const A_AT_B: &str = "{url: https://b.example/, short-code: a}";
const A_AT_C: &str = "{url: https://c.example/, short-code: a}";
const A_RETIRED: &str = "{url: https://a.example/, short-code: a, retired: true}";
const A_DROPPED: &str = "{short-code: a, retired: true}";
const X: &str = "{url: https://x.example/, short-code: x}";
const Y: &str = "{url: https://y.example/, short-code: y}";

const STATED: &str = "links\n\nWaypost-Allow: retarget a\n";
const GONE: &str = "mapping.yaml:3:3: the published code \"a\" is gone";
const ELSEWHERE: &str = "mapping.yaml:3:3: the published code \"a\" leads elsewhere";
const REGIVEN: &str = "mapping.yaml:3:3: the retired code \"a\" gets another target";

#[test]
fn reports_every_broken_promise_in_every_format() {
    let fixture = Fixture::committed(BEFORE);
    fixture.write("mapping.yaml", AFTER);
    assert_snapshot!("human", fixture.check("--base main"));
    assert_snapshot!("github", fixture.check("--base main --format github"));
    for format in ["json", "gitlab", "sarif", "junit"] {
        let report = fixture.check(&format!("--base main --format {format}"));
        assert!(report.starts_with("status 1\n"), "{report}");
        for code in ["a", "aa", "b", "c", "d", "e"] {
            let quote = match format {
                "junit" => "&quot;",
                _ => "\\\"",
            };
            assert!(
                report.contains(&format!("code {quote}{code}{quote}")),
                "{report}"
            );
        }
    }
}

#[test]
fn dates_are_questioned_in_the_change_that_sets_them_alone() {
    let in_ten_days = SystemTime::now() + Duration::from_secs(10 * 86_400);
    let near = Timestamp::from(in_ten_days);
    let dated = |code: &str, date: &str| {
        format!("{{url: 'https://{code}.example/', short-code: {code}, expires: '{date}'}}")
    };
    let (old, near, far) = (
        dated("old", "2020-01-01"),
        dated("near", &near.to_string()),
        dated("far", "2199-12-31"),
    );
    let fixture = Fixture::committed(&table(&[A, &old]));
    fixture.write("mapping.yaml", &table(&[A, &old, &near, &far]));
    let report = fixture.check("--base main --deny warnings");
    assert!(report.starts_with("status 1\n"), "{report}");
    assert!(
        report.contains("mapping.yaml:5:3: warning: the code \"near\" expires soon"),
        "{report}"
    );
    assert!(
        report.contains("4 entries: 1 warning (1 denied)"),
        "{report}"
    );
    fixture.holds("--deny warnings");
    fixture.holds("--history --deny warnings");
    fixture.git("commit --quiet --all --message near");
    fixture.holds("--base main --deny warnings");
}

#[test]
fn links_merged_elsewhere_since_are_not_missed() {
    let fixture = Fixture::committed(&table(&[A]));
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[A, X]));
    fixture.git("switch --quiet main");
    fixture.commit(&table(&[A, Y]));
    fixture.git("switch --quiet topic");
    fixture.holds("--base main");
    fixture.write("mapping.yaml", &table(&[X]));
    // None of its neighbours remains.
    let gone = "mapping.yaml:1:1: the published code \"a\" is gone";
    assert_eq!(fixture.errors("--base main"), [gone]);
    // The topic may remove what it added itself.
    fixture.write("mapping.yaml", &table(&[A]));
    fixture.holds("--base main");
    assert_eq!(
        fixture.errors("--base HEAD"),
        ["mapping.yaml:3:3: the published code \"x\" is gone"]
    );
}

#[test]
fn what_is_intended_is_stated_on_the_command_line() {
    let fixture = Fixture::committed(&table(&[A, X]));
    let other = "{url: https://other.example/, short-code: x}";
    fixture.write("mapping.yaml", &table(&[A_AT_B, other]));
    let [a, x] = [
        ELSEWHERE,
        "mapping.yaml:4:3: the published code \"x\" leads elsewhere",
    ];
    assert_eq!(fixture.errors("--base main"), [a, x]);
    assert_eq!(fixture.errors("--base main --allow-retarget a"), [x]);
    assert_eq!(fixture.errors("--history --allow-retarget a"), [x]);
    for arguments in ["--base main", "--history", "--base main --history"] {
        fixture.holds(&format!(
            "{arguments} --allow-retarget a --allow-retarget x"
        ));
        fixture.holds(&format!(
            "{arguments} --allow-retarget https://short.code/a,x"
        ));
    }
    let stated = [("WAYPOST_ALLOW_RETARGET", "x,a"), ("WAYPOST_BASE", "main")];
    let report = fixture.waypost_with(".", "check", &stated);
    assert!(report.starts_with("status 0\n"), "{report}");
}

#[test]
fn what_is_intended_is_stated_in_commits() {
    for stated in [
        "Waypost-Allow: retarget a x",
        "waypost-allow: retarget a,x",
        "Waypost-Allow: retarget x\nSigned-off-by: A <a@example.org>\nWaypost-Allow: retarget a",
        "Waypost-Allow: retarget https://short.code/a, https://short.code/x",
    ] {
        let fixture = Fixture::committed(&table(&[A, X]));
        fixture.git("switch --quiet --create topic");
        fixture.commit_saying(&table(&[A, X, Y]), &format!("links\n\n{stated}\n"));
        fixture.write(
            "mapping.yaml",
            &table(&[A_AT_B, X.replace("x.e", "z.e").as_str(), Y]),
        );
        fixture.commit_all();
        for arguments in [
            "--base main",
            "--history",
            "--rev topic:mapping.yaml --base main",
        ] {
            fixture.holds(arguments);
        }
        // A declaration before the base does not apply to changes after it.
        assert_eq!(fixture.errors("--base HEAD"), [""; 0]);
        fixture.write(
            "mapping.yaml",
            &table(&[A_AT_C, X.replace("x.e", "z.e").as_str(), Y]),
        );
        assert_eq!(fixture.errors("--base HEAD"), [ELSEWHERE]);
        assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
    }
}

#[test]
fn a_trailer_that_states_nothing_is_noted() {
    let fixture = Fixture::committed(&table(&[A]));
    let message = "links\n\nWaypost-Allow: remove a\n";
    fixture.commit_saying(&table(&[A_AT_B]), message);
    assert_snapshot!("no_statement", fixture.check("--base HEAD~1"));
    // A line elsewhere in a message is not a trailer.
    fixture.commit_saying(&table(&[A_AT_B]), "Waypost-Allow: retarget a\n\nNot so.\n");
    assert_eq!(fixture.errors("--base HEAD~2"), [ELSEWHERE]);
}

#[test]
fn a_squashed_change_needs_a_new_declaration() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.git("switch --quiet --create topic");
    fixture.commit_saying(&table(&[A_AT_B, X]), STATED);
    fixture.holds("--base main");
    fixture.git("switch --quiet main");
    fixture.git("merge --quiet --squash topic");
    fixture.commit_all();
    assert_eq!(fixture.errors("--base HEAD~1"), [ELSEWHERE]);
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
    // A later declaration still counts.
    fixture.commit_saying(&table(&[A_AT_B, X]), STATED);
    fixture.holds("--base HEAD~2");
    fixture.holds("--history");
}

#[test]
fn a_base_without_a_table_promises_nothing() {
    let fixture = Fixture::empty();
    fixture.write("README", "Links.\n");
    fixture.commit_all();
    fixture.write("mapping.yaml", &table(&[A]));
    assert_snapshot!("nothing_published", fixture.check("--base main"));
    fixture.holds("--history");
}

#[test]
fn an_invalid_base_is_as_good_as_the_last_valid_one() {
    let unsound = "base_url: https://short.code/\nmapping:\n- url: nowhere\n";
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.commit(unsound);
    fixture.write("README", "Links.\n");
    fixture.commit_all();
    fixture.write("mapping.yaml", &table(&[X]));
    assert_snapshot!("unsound_base", fixture.check("--base main"));
    assert_eq!(fixture.errors("--history"), [GONE]);
    // Declared in a commit whose table was not served.
    fixture.commit_saying(unsound, STATED);
    fixture.write("mapping.yaml", &table(&[A_AT_B, X]));
    fixture.holds("--base main");
    fixture.holds("--history");

    let fixture = Fixture::committed(unsound);
    fixture.write("mapping.yaml", &table(&[A]));
    assert_snapshot!("never_sound", fixture.check("--base main"));
    fixture.holds("--history");
    fixture.write("mapping.yaml", unsound);
    assert!(
        fixture
            .check("--base main")
            .contains("mapping.yaml:3:8: error: ")
    );
}

#[test]
fn a_new_base_url_or_scheme_is_reported_by_its_effect_on_codes() {
    let fixture = Fixture::committed(&table(&[A, "url: https://auto.example/"]));
    let text = |from: &str, to: &str| {
        let text = table(&[A, "url: https://auto.example/"]);
        fixture.write("mapping.yaml", &text.replace(from, to));
    };
    text("short.code", "other.code");
    let gone = |line, code| format!("mapping.yaml:{line}: the published code {code:?} is gone");
    let all = [gone("1:1", "a"), gone("1:1", "AiHh9y7O")];
    assert_eq!(fixture.errors("--base main"), all);
    let mut ever = fixture.errors("--history");
    ever.sort_by_key(|report| !report.contains("\"a\""));
    assert_eq!(ever, all);
    text("mapping:", "code-scheme: crc64-xz\nmapping:");
    assert_eq!(fixture.errors("--base main"), [gone("5:3", "AiHh9y7O")]);
    // The scheme and the port are not part of what identifies a request.
    text("https://short.code/", "http://short.code:8080/");
    fixture.holds("--base main");
    fixture.holds("--history");
}

#[test]
fn codes_stay_found_in_any_case() {
    let folded = |entries: &[&str]| table(entries).replace("mapping:", "case: fold\nmapping:");
    let spelled = "{url: https://a.example/, short-code: a, aliases: [CODE]}";
    let fixture = Fixture::committed(&table(&[spelled, X]));
    fixture.commit(&folded(&[spelled, X]));
    // A code is there as long as another spelling of it leads to the same place.
    let respelled = spelled.replace("CODE", "Code");
    fixture.commit(&folded(&[&respelled, X]));
    for arguments in ["--base HEAD~1", "--base HEAD~2", "--history"] {
        fixture.holds(arguments);
    }
    fixture.write("mapping.yaml", &folded(&[A, X]));
    let gone = |code: &str| format!("mapping.yaml:4:3: the published code {code:?} is gone");
    assert_eq!(fixture.errors("--base main"), [gone("Code")]);
    // `CODE` was gone before, but was found as `Code`.
    let mut ever = fixture.errors("--history");
    ever.sort();
    assert_eq!(ever, [gone("CODE"), gone("Code")]);

    let exact = "mapping.yaml:1:1: codes of the site are no longer found in any case";
    fixture.write("mapping.yaml", &table(&[&respelled, X]));
    assert_eq!(fixture.errors("--base main"), [exact]);
    let gone = "mapping.yaml:3:3: the published code \"CODE\" is gone";
    let ever = fixture.errors("--history");
    assert_eq!(ever, [exact, gone], "{ever:?}");
    // It is a broken promise in later commits, too, until it is kept again.
    fixture.commit_all();
    fixture.commit(&table(&[&respelled, X, Y]));
    fixture.holds("--base HEAD~1");
    assert_eq!(fixture.errors("--history"), [exact, gone]);
    fixture.commit(&folded(&[&respelled, X, Y]));
    fixture.holds("--history");
}

#[test]
fn entries_may_move_between_files_and_files_may_go() {
    let fixture = Fixture::empty();
    let entry = |code: &str| format!("{{url: https://{code}.example/, short-code: {code}}}");
    fixture.write(
        "links/a.yaml",
        &table(&[&entry("a"), &entry("b"), &entry("c")]),
    );
    fixture.write("links/b.yaml", &table(&[&entry("d")]));
    fixture.commit_all();
    fixture.write("links/b.yaml", &table(&[&entry("c"), &entry("d")]));
    fixture.write("links/a.yaml", &table(&[&entry("b"), &entry("a")]));
    fixture.holds("--base main links");
    fixture.holds("--history links/a.yaml links/b.yaml");
    fixture.write("links/a.yaml", &table(&[&entry("a")]));
    let gone = "links/b.yaml:3:3: the published code \"b\" is gone";
    assert_eq!(fixture.errors("--base main links"), [gone]);
    fs::remove_file(fixture.root.join("links/a.yaml")).unwrap();
    let both = [gone, &gone.replace("\"b\"", "\"a\"")];
    let mut report = fixture.errors("--base main links");
    report.sort_by_key(|report| report.contains("\"a\""));
    assert_eq!(report, both);
    assert_eq!(fixture.errors("--history links").len(), 2);
}

#[test]
fn a_table_may_move_if_its_old_place_is_named() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fs::remove_file(fixture.root.join("mapping.yaml")).unwrap();
    fixture.write("links/a.yaml", &table(&[A]));
    fixture.write("links/b.yaml", &table(&[X]));
    for arguments in ["--base main", "--history"] {
        fixture.holds(&format!("{arguments} mapping.yaml links"));
        let report = fixture.check(&format!("{arguments} links mapping.yaml"));
        let note = "waypost: no table is at mapping.yaml now: checking what was published there\n";
        assert!(report.contains(note), "{report}");
        // On its own, it no longer exists.
        assert!(fixture.check(arguments).starts_with("status 3\n"));
    }
    fixture.write("links/b.yaml", &table(&[Y]));
    let gone = "links/a.yaml:3:3: the published code \"x\" is gone";
    for arguments in ["--base main", "--history"] {
        assert_eq!(
            fixture.errors(&format!("{arguments} mapping.yaml links")),
            [gone]
        );
    }
    // This also holds afterwards.
    fixture.commit_all();
    assert_eq!(fixture.errors("--history mapping.yaml links"), [gone]);
    fixture.write("links/b.yaml", &table(&[X, Y]));
    fixture.holds("--history mapping.yaml links");
}

#[test]
fn a_bare_repository_is_checked_by_revisions() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[A_AT_B]));
    fixture.git("clone --quiet --bare . bare.git");
    let report = fixture.waypost("bare.git", "check --rev topic:mapping.yaml --base main");
    assert_eq!(
        report,
        fixture.check("--rev topic:mapping.yaml --base main")
    );
    assert_eq!(report, fixture.check("--base main"));
    assert!(
        report.contains(ELSEWHERE.rsplit(": ").next().unwrap()),
        "{report}"
    );
    let ever = fixture.waypost("bare.git", "check --rev topic:mapping.yaml --history");
    assert_eq!(ever, report);
}

#[test]
fn a_hook_refuses_what_breaks_a_promise() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.git("clone --quiet --bare . served.git");
    let hook = fixture.root.join("served.git/hooks/pre-receive");
    let script = format!(
        "#!/bin/sh\nread old new name\nexec '{}' check --rev $new:mapping.yaml --base $old --history\n",
        env!("CARGO_BIN_EXE_waypost")
    );
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let served = || fixture.git("-C served.git rev-parse main");
    let push = || {
        let push = "git push --quiet served.git HEAD:refs/heads/main";
        let output = std::process::Command::new("sh")
            .args(["-c", push])
            .current_dir(&fixture.root)
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let before = served();
    fixture.commit(&table(&[A_AT_B, X]));
    let report = push();
    assert!(
        report.contains("the published code \"a\" leads elsewhere"),
        "{report}"
    );
    assert_eq!(served(), before);
    fixture.commit_saying(&table(&[A_AT_B, X]), STATED);
    let report = push();
    assert_eq!(served(), fixture.git("rev-parse HEAD"), "{report}");
}

#[test]
fn what_cannot_be_looked_back_at_is_refused() {
    let fixture = Fixture::committed(&table(&[A]));
    for arguments in ["- --base main", "- --history"] {
        let report = fixture.check(arguments);
        assert_eq!(
            report,
            "status 2\n--- stdout\n--- stderr\nwaypost: standard input has no history: name the \
             file instead\n"
        );
    }
    assert!(
        fixture
            .check("--allow-retarget a")
            .starts_with("status 2\n")
    );
    let unknown = fixture.check("--base nowhere");
    assert!(unknown.starts_with("status 3\n") && unknown.contains("\"nowhere\" names no commit"));
    fixture.commit(&table(&[A, X]));
    let origin = format!("file://{}", fixture.root.display());
    fixture.git(&format!("clone --quiet --depth 1 {origin} shallow"));
    let shallow = fixture.waypost("shallow", "check --history");
    assert!(
        shallow.starts_with("status 3\n") && shallow.contains("git fetch --unshallow"),
        "{shallow}"
    );
    let sound = fixture.waypost("shallow", "check --base HEAD");
    assert!(sound.starts_with("status 0\n"), "{sound}");
    // The last valid table before an invalid base is beyond the shallow boundary.
    fixture.commit("mapping: []\n");
    fixture.git("-C shallow fetch --quiet --depth 1");
    fixture.git("-C shallow reset --quiet --hard origin/main");
    fixture.write("shallow/mapping.yaml", &table(&[X]));
    let cut_off = fixture.waypost("shallow", "check --base HEAD");
    assert!(
        cut_off.starts_with("status 3\n") && cut_off.contains("git fetch --unshallow"),
        "{cut_off}"
    );
}

#[test]
fn a_committed_link_is_not_followed() {
    let fixture = Fixture::committed(&table(&[A, X]));
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.yaml");
    fs::write(&secret, "SECRET\n").unwrap();
    let path = fixture.root.join("mapping.yaml");
    fs::remove_file(&path).unwrap();
    symlink(&secret, &path).unwrap();
    fixture.commit_all();
    let report =
        "1:1: \"mapping.yaml\" is a symbolic link, which is not followed in the repository";
    let report = format!("mapping.yaml:{report}");
    for arguments in ["--base HEAD~1", "--history", "--base HEAD"] {
        assert_eq!(fixture.errors(arguments), [report.as_str()]);
    }
    for format in ["human", "json", "github", "gitlab", "sarif", "junit"] {
        let report = fixture.check(&format!("--base HEAD~1 --format {format}"));
        assert!(
            report.starts_with("status 1\n") && report.contains("is a symbolic link"),
            "{report}"
        );
        assert!(!report.contains("SECRET"), "{report}");
    }
    let report = fixture.waypost(".", "diff HEAD~1");
    assert!(
        report.starts_with("status 1\n") && report.contains("is a symbolic link"),
        "{report}"
    );
    // A link elsewhere in the path is no different, nor is one to a committed file.
    fs::remove_file(&path).unwrap();
    fixture.write("tables/mapping.yaml", &table(&[X]));
    symlink("tables", fixture.root.join("links")).unwrap();
    let report = fixture.errors("--base HEAD~1 links/mapping.yaml");
    assert_eq!(report.len(), 1);
    assert!(report[0].starts_with("links/mapping.yaml:1:1: \"links\" is"));
    symlink("mapping.yaml", fixture.root.join("tables/more.yaml")).unwrap();
    let report = fixture.errors("--base HEAD~1 tables");
    assert_eq!(report.len(), 1);
    assert!(report[0].starts_with("tables/more.yaml:1:1: \"tables/more.yaml\" is"));
}

#[test]
fn a_committed_repository_is_no_past() {
    let fixture = Fixture::empty();
    fixture.write("links/a.yaml", &table(&[A, X]));
    fixture.commit_all();
    // Its own history begins with the change.
    fixture.write("inner/a.yaml", &table(&[X]));
    fixture.git("-C inner init --quiet");
    fixture.git("-C inner add .");
    fixture.git("-C inner commit --quiet --message links");
    for part in ["HEAD", "objects", "refs", "config"] {
        let from = fixture.root.join("inner/.git").join(part);
        fs::rename(from, fixture.root.join("links").join(part)).unwrap();
    }
    fs::remove_dir_all(fixture.root.join("inner")).unwrap();
    fixture.write("links/a.yaml", &table(&[X]));
    fixture.commit_all();
    let gone = GONE.replace("mapping", "links/a");
    assert_eq!(fixture.errors("--base HEAD~1 links"), [gone.as_str()]);
    assert_eq!(fixture.errors("--history links"), [gone.as_str()]);
}

#[test]
fn a_link_to_a_work_tree_is_followed() {
    let fixture = Fixture::committed(&table(&[A, X]));
    let outside = tempfile::tempdir().unwrap();
    let way = outside.path().join("way");
    symlink(&fixture.root, &way).unwrap();
    fixture.write("mapping.yaml", &table(&[X]));
    let report = fixture.errors(&format!("--base HEAD {}/mapping.yaml", way.display()));
    assert_eq!(report.len(), 1);
    assert!(
        report[0].ends_with(GONE.split_once(' ').unwrap().1),
        "{report:?}"
    );
}

#[test]
fn what_is_gone_from_a_history_is_missed_until_it_is_back_or_retired() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.commit(&table(&[A, X, Y]));
    let held = fixture.git("rev-parse --short=12 HEAD");
    fixture.commit(&table(&[X, Y]));
    fixture.write("README", "Links.\n");
    fixture.commit_all();
    // A base that had already broken the promise does not show it.
    fixture.holds("--base HEAD~1");
    assert_eq!(fixture.errors("--history"), [GONE]);
    let report = fixture.check("--history");
    let was = format!("it led to https://a.example/ ({held}:mapping.yaml:3, 2023-11-14)");
    assert!(report.contains(&was), "{report}");
    for clears in [A, A_RETIRED, A_DROPPED] {
        fixture.write("mapping.yaml", &table(&[X, clears, Y]));
        fixture.holds("--history");
    }
    fixture.write("mapping.yaml", &table(&[A_AT_B, X, Y]));
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
    fixture.commit(&table(&[X, Y, A]));
    fixture.holds("--history");
    // Found by both, it is reported once.
    fixture.write("mapping.yaml", &table(&[X, Y]));
    assert_eq!(fixture.errors("--history --base HEAD").len(), 1);
}

#[test]
fn a_commit_with_a_submodule_at_the_path_of_the_table_publishes_nothing() {
    let fixture = Fixture::committed(&table(&[A, X]));
    fixture.git("rm --quiet --cached mapping.yaml");
    let commit = fixture.git("rev-parse HEAD").replace('a', "b");
    fixture.git(&format!(
        "update-index --add --cacheinfo 160000,{commit},mapping.yaml"
    ));
    fixture.git("commit --quiet -m submodule");
    fixture.git("rm --quiet --cached mapping.yaml");
    fixture.commit(&table(&[X]));
    assert_eq!(fixture.errors("--history"), [GONE]);
    fixture.commit(&table(&[A, X]));
    fixture.holds("--history");
}

#[test]
fn an_unstated_target_is_reported_until_it_is_stated_or_undone() {
    let fixture = Fixture::committed(&table(&[A]));
    fixture.commit(&table(&[A_AT_B]));
    fixture.commit(&table(&[A_AT_B, X]));
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
    fixture.write("mapping.yaml", &table(&[A, X]));
    fixture.holds("--history");
    fixture.write("mapping.yaml", &table(&[A_RETIRED, X]));
    fixture.holds("--history");
    fixture.commit_saying(&table(&[A_AT_B, X]), STATED);
    fixture.holds("--history");
    // It was declared once.
    fixture.commit(&table(&[A_AT_C, X]));
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
}

#[test]
fn a_statement_may_come_before_the_change() {
    let fixture = Fixture::committed(&table(&[A]));
    fixture.write("README", "Soon.\n");
    fixture.commit_all_saying(STATED);
    fixture.commit(&table(&[A_AT_B]));
    fixture.holds("--history");
    fixture.commit(&table(&[A_AT_C]));
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
}

#[test]
fn a_retired_code_is_not_reused() {
    let fixture = Fixture::committed(&table(&[A]));
    fixture.commit(&table(&[A_RETIRED]));
    fixture.commit_saying(&table(&[A_AT_B]), STATED);
    assert_eq!(fixture.errors("--history --allow-retarget a"), [REGIVEN]);
    assert_eq!(fixture.errors("--base HEAD~1"), [REGIVEN]);
    fixture.commit(&table(&[A]));
    fixture.holds("--history");
    // The history knows the target that was dropped.
    fixture.commit(&table(&[A_DROPPED]));
    fixture.commit_saying(&table(&[A_AT_B]), STATED);
    fixture.holds("--base HEAD~1");
    assert_eq!(fixture.errors("--history --allow-retarget a"), [REGIVEN]);
    // It does not show that target.
    let report = fixture.check("--history");
    assert!(report.contains("it has been taken down ("), "{report}");
    assert!(!report.contains("https://a.example/"), "{report}");
    fixture.write("mapping.yaml", &table(&[A]));
    fixture.holds("--history");
}

#[test]
fn lines_of_work_meet() {
    let fixture = Fixture::committed(&table(&[A]));
    // Both sides add the same code; the merge declares its target.
    let x = X.replace("x.example", "other.example");
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[A, &x, Y]));
    fixture.git("switch --quiet main");
    fixture.commit(&table(&[A, X]));
    fixture.git("merge --quiet --no-commit --strategy ours topic");
    fixture.commit(&table(&[A, X, Y]));
    let elsewhere = "mapping.yaml:4:3: the published code \"x\" leads elsewhere";
    assert_eq!(fixture.errors("--history"), [elsewhere]);
    fixture.write("mapping.yaml", &table(&[A, &x, Y]));
    assert_eq!(fixture.errors("--history"), [elsewhere]);
    fixture.holds("--history --allow-retarget x");
    fixture.commit_saying(&table(&[A, X, Y]), "links\n\nWaypost-Allow: retarget x\n");
    fixture.holds("--history");
    fixture.write("mapping.yaml", &table(&[A, &x, Y]));
    assert_eq!(fixture.errors("--history"), [elsewhere]);
    // A link that a merge loses is reported.
    fixture.git("switch --quiet --force-create topic");
    fixture.git("restore .");
    let z = "{url: https://z.example/, short-code: z}";
    fixture.commit(&table(&[A, X, Y, z]));
    fixture.git("switch --quiet main");
    fixture.write("README", "Links.\n");
    fixture.commit_all();
    fixture.git("merge --quiet --no-commit --strategy ours topic");
    fixture.commit(&table(&[A, X, Y]));
    let lost = ["mapping.yaml:5:3: the published code \"z\" is gone"];
    assert_eq!(fixture.errors("--history"), lost);
}

#[test]
fn a_statement_on_a_branch_holds_for_the_merge() {
    let fixture = Fixture::committed(&table(&[A]));
    fixture.git("switch --quiet --create topic");
    fixture.commit_saying(&table(&[A_AT_B]), STATED);
    fixture.git("switch --quiet main");
    fixture.commit(&table(&[A, X]));
    fixture.git("merge --quiet --no-commit --strategy ours topic");
    fixture.commit(&table(&[A_AT_B, X]));
    fixture.holds("--history");
    fixture.holds("--base HEAD~1");
    // If the merge undoes it, the promise is broken.
    fixture.write("mapping.yaml", &table(&[A, X]));
    assert_eq!(fixture.errors("--history"), [ELSEWHERE]);
}

#[test]
fn lines_of_work_that_took_each_other_in_state_for_themselves() {
    let fixture = Fixture::committed(&table(&[A, Y]));
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[A, X, Y]));
    fixture.git("switch --quiet main");
    fixture.commit_saying(&table(&[A_AT_B, Y]), STATED);
    fixture.git("tag stated");
    // Each branch merges the other, so that there are two merge bases.
    fixture.git("merge --quiet --no-commit --strategy ours topic");
    fixture.commit(&table(&[A_AT_B, X, Y]));
    fixture.git("switch --quiet topic");
    fixture.git("merge --quiet --no-commit --strategy ours stated");
    fixture.commit(&table(&[A_AT_B, X, Y]));
    for (tip, base) in [("topic", "main"), ("main", "topic")] {
        fixture.git(&format!("switch --quiet --force-create try-{tip} {tip}"));
        fixture.holds(&format!("--base {base}"));
        fixture.commit(&table(&[A_AT_C, X, Y]));
        assert_eq!(fixture.errors(&format!("--base {base}")), [ELSEWHERE]);
        fixture.commit_saying(&table(&[A_AT_C, X, Y]), STATED);
        fixture.holds(&format!("--base {base}"));
        fixture.commit(&table(&[X, Y]));
        let gone = fixture.errors(&format!("--base {base}"));
        assert!(
            gone.len() == 1 && gone[0].ends_with("\"a\" is gone"),
            "{gone:?}"
        );
    }
}

/// What the page on reviewing shows: the change of its first example, compared with what was published.
#[test]
fn the_page_on_reviewing_shows_what_happens() {
    let page = fs::read_to_string("docs/reviewing.md").unwrap();
    let shows = |fixture: &Fixture, command: &str| {
        let report = fixture.check(command);
        let (_, report) = report.split_once("--- stdout\n").unwrap();
        let shown = format!(
            "```console\n$ waypost check {command}\n{}```\n",
            report.replace("--- stderr\n", "")
        );
        assert!(page.contains(&shown), "the page lacks this:\n{shown}");
    };
    let fixture = Fixture::committed(&table(&[
        "url: https://framasoft.org/",
        "url: https://www.gnu.org/\n  short-code: gnu-home",
    ]));
    let after = table(&[
        "url: https://www.gnu.org/home.html\n  short-code: gnu-home",
        "url: https://joinpeertube.org/\n  title: PeerTube",
    ]);
    fixture.write("mapping.yaml", &after);
    shows(&fixture, "--base main");
    let message = "Link to where GNU begins\n\nWaypost-Allow: retarget gnu-home\n";
    assert!(page.contains(&format!("```text\n{message}```\n")));
    fixture.commit_saying(&after, message);
    shows(&fixture, "--history");
}

const BANK: &str = "{url: https://bank.example/, short-code: bank, forward: path}";
const LOGIN: &str = "{url: https://login.example/, short-code: bank/login}";
const TAKEN: &str = "the code \"bank/login\" changes where the published path \"bank/login\" leads";

impl Fixture {
    /// Returns the position and message of every error, for a table that also has warnings about its codes.
    fn taken_over(&self, arguments: &str) -> Vec<String> {
        let report = self.check(arguments);
        let errors = report.lines().filter(|line| line.contains(": error: "));
        let errors: Vec<_> = errors.map(|line| line.replace(" error:", "")).collect();
        assert_eq!(
            report.starts_with("status 0\n"),
            errors.is_empty(),
            "{report}"
        );
        errors
    }

    #[track_caller]
    fn takes_nothing_over(&self, arguments: &str) {
        assert_eq!(self.taken_over(arguments), [""; 0]);
    }
}

#[test]
fn a_new_code_takes_over_no_published_path_unless_that_is_stated() {
    let fixture = Fixture::committed(&table(&[BANK]));
    let both = table(&[BANK, LOGIN]);
    fixture.write("mapping.yaml", &both);
    let taken = format!("mapping.yaml:4:3: {TAKEN}");
    let report = fixture.check("--base main");
    assert!(
        report.contains("it was answered by \"bank\": it led to https://bank.example/ ("),
        "{report}"
    );
    assert!(
        report.contains(
            "declare the change in the commit message: Waypost-Allow: retarget bank/login"
        ),
        "{report}"
    );
    for past in ["--base main", "--history", "--base main --history"] {
        assert_eq!(fixture.taken_over(past), [&*taken], "{past}");
        fixture.takes_nothing_over(&format!("{past} --allow-retarget bank/login"));
    }
    // It is remembered; a declaration before, with or after the change permits it.
    fixture.commit(&both);
    fixture.commit(&table(&[BANK, LOGIN, X]));
    assert_eq!(fixture.taken_over("--history"), [&*taken]);
    fixture.commit_saying(
        &table(&[BANK, LOGIN, X]),
        "links\n\nWaypost-Allow: retarget bank/login\n",
    );
    fixture.takes_nothing_over("--history");
    fixture.takes_nothing_over("--base HEAD~2");
    // A prefix and an exception added together take nothing over.
    let fixture = Fixture::committed(&table(&[X]));
    fixture.commit(&table(&[X, BANK, LOGIN]));
    fixture.takes_nothing_over("--history");
    fixture.takes_nothing_over("--base HEAD~1");
}

#[test]
fn a_code_that_begins_to_forward_must_keep_the_links_below_it() {
    let plain = BANK.replace(", forward: path", "");
    let fixture = Fixture::committed(&table(&[&plain, LOGIN]));
    fixture.write("mapping.yaml", &table(&[BANK, LOGIN]));
    let taken = "mapping.yaml:3:3: the code \"bank\" changes where the published path \
                 \"bank/login)\" leads";
    for past in ["--base main", "--history"] {
        assert_eq!(fixture.taken_over(past), [taken], "{past}");
        fixture.takes_nothing_over(&format!("{past} --allow-retarget bank"));
    }
}

#[test]
fn what_two_branches_take_from_each_other_is_reported_after_the_merge() {
    let fixture = Fixture::committed(&table(&[X]));
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[LOGIN, X]));
    fixture.git("switch --quiet main");
    fixture.commit(&table(&[X, BANK]));
    fixture.git("merge --quiet --no-commit --strategy=ours topic");
    fixture.commit(&table(&[LOGIN, X, BANK]));
    assert_eq!(
        fixture.taken_over("--base main~1"),
        [format!("mapping.yaml:3:3: {TAKEN}")]
    );
    assert_eq!(
        fixture.taken_over("--history"),
        [
            &format!("mapping.yaml:3:3: {TAKEN}"),
            "mapping.yaml:5:3: the code \"bank\" changes where the published path \
             \"bank/login)\" leads"
        ]
    );
    fixture.commit_saying(
        &table(&[LOGIN, X, BANK]),
        "links\n\nWaypost-Allow: retarget bank bank/login\n",
    );
    fixture.takes_nothing_over("--history");
}

#[test]
fn what_one_line_of_work_has_stated_holds_after_a_merge() {
    let fixture = Fixture::committed(&table(&[BANK]));
    fixture.git("switch --quiet --create topic");
    fixture.commit(&table(&[X, BANK]));
    fixture.git("switch --quiet main");
    fixture.commit_saying(
        &table(&[BANK, LOGIN]),
        "links\n\nWaypost-Allow: retarget bank/login\n",
    );
    fixture.git("merge --quiet --no-commit --strategy=ours topic");
    fixture.commit(&table(&[X, BANK, LOGIN]));
    fixture.takes_nothing_over("--history");
    fixture.git("switch --quiet topic");
    fixture.git("merge --quiet --no-commit --strategy=ours main");
    fixture.commit(&table(&[X, BANK, LOGIN]));
    fixture.takes_nothing_over("--history");
}
