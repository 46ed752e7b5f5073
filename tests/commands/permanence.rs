//! `waypost check --base` and `--history` on real Git repositories: which promises they check,
//! where they report those that a table breaks, and what repairs them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use waypost::mapping::Timestamp;

use crate::scene::Scene;

const HEAD: &str = "base_url: https://short.code/\nmapping:\n";

/// An entry of each kind of life.
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

/// Every promise broken but one.
const AFTER: &str = "\
base_url: https://short.code/
mapping:
- {url: https://other.example/, short-code: d}
- {url: https://b.example/, short-code: bb}
- {url: https://e.example/, short-code: e}
- {url: https://other.example/a, short-code: a, aliases: [aa]}
- {url: https://f.example/, short-code: f}
";

impl Scene {
    fn check(&self, arguments: &str) -> String {
        self.waypost(".", &format!("check {arguments}"))
    }

    /// Returns the place and message of every problem that a check reports in the format for people.
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
const REGIVEN: &str = "mapping.yaml:3:3: the retired code \"a\" is given to another target";

#[test]
fn reports_every_broken_promise_in_every_format() {
    let scene = Scene::committed(BEFORE);
    scene.write("mapping.yaml", AFTER);
    assert_snapshot!("human", scene.check("--base main"));
    assert_snapshot!("github", scene.check("--base main --format github"));
    for format in ["json", "gitlab", "sarif", "junit"] {
        let report = scene.check(&format!("--base main --format {format}"));
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
    let scene = Scene::committed(&table(&[A, &old]));
    scene.write("mapping.yaml", &table(&[A, &old, &near, &far]));
    let report = scene.check("--base main --deny warnings");
    assert!(report.starts_with("status 1\n"), "{report}");
    assert!(
        report.contains("mapping.yaml:5:3: warning: the code \"near\" expires soon"),
        "{report}"
    );
    assert!(
        report.contains("4 entries: 1 warning (1 denied)"),
        "{report}"
    );
    scene.holds("--deny warnings");
    scene.holds("--history --deny warnings");
    scene.git("commit --quiet --all --message near");
    scene.holds("--base main --deny warnings");
}

#[test]
fn links_merged_elsewhere_since_are_not_missed() {
    let scene = Scene::committed(&table(&[A]));
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[A, X]));
    scene.git("switch --quiet main");
    scene.commit(&table(&[A, Y]));
    scene.git("switch --quiet topic");
    scene.holds("--base main");
    scene.write("mapping.yaml", &table(&[X]));
    // No neighbour of it is left.
    let gone = "mapping.yaml:1:1: the published code \"a\" is gone";
    assert_eq!(scene.errors("--base main"), [gone]);
    // What the topic added itself, it may take back.
    scene.write("mapping.yaml", &table(&[A]));
    scene.holds("--base main");
    assert_eq!(
        scene.errors("--base HEAD"),
        ["mapping.yaml:3:3: the published code \"x\" is gone"]
    );
}

#[test]
fn what_is_intended_is_stated_on_the_command_line() {
    let scene = Scene::committed(&table(&[A, X]));
    let other = "{url: https://other.example/, short-code: x}";
    scene.write("mapping.yaml", &table(&[A_AT_B, other]));
    let [a, x] = [
        ELSEWHERE,
        "mapping.yaml:4:3: the published code \"x\" leads elsewhere",
    ];
    assert_eq!(scene.errors("--base main"), [a, x]);
    assert_eq!(scene.errors("--base main --allow-retarget a"), [x]);
    assert_eq!(scene.errors("--history --allow-retarget a"), [x]);
    for arguments in ["--base main", "--history", "--base main --history"] {
        scene.holds(&format!(
            "{arguments} --allow-retarget a --allow-retarget x"
        ));
        scene.holds(&format!(
            "{arguments} --allow-retarget https://short.code/a,x"
        ));
    }
    let stated = [("WAYPOST_ALLOW_RETARGET", "x,a"), ("WAYPOST_BASE", "main")];
    let report = scene.waypost_with(".", "check", &stated);
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
        let scene = Scene::committed(&table(&[A, X]));
        scene.git("switch --quiet --create topic");
        scene.commit_saying(&table(&[A, X, Y]), &format!("links\n\n{stated}\n"));
        scene.write(
            "mapping.yaml",
            &table(&[A_AT_B, X.replace("x.e", "z.e").as_str(), Y]),
        );
        scene.commit_all();
        for arguments in [
            "--base main",
            "--history",
            "--rev topic:mapping.yaml --base main",
        ] {
            scene.holds(arguments);
        }
        // What was stated before the base says nothing of what comes after it.
        assert_eq!(scene.errors("--base HEAD"), [""; 0]);
        scene.write(
            "mapping.yaml",
            &table(&[A_AT_C, X.replace("x.e", "z.e").as_str(), Y]),
        );
        assert_eq!(scene.errors("--base HEAD"), [ELSEWHERE]);
        assert_eq!(scene.errors("--history"), [ELSEWHERE]);
    }
}

#[test]
fn a_trailer_that_states_nothing_is_noted() {
    let scene = Scene::committed(&table(&[A]));
    let message = "links\n\nWaypost-Allow: remove a\n";
    scene.commit_saying(&table(&[A_AT_B]), message);
    assert_snapshot!("no_statement", scene.check("--base HEAD~1"));
    // A line elsewhere in a message is no trailer.
    scene.commit_saying(&table(&[A_AT_B]), "Waypost-Allow: retarget a\n\nNot so.\n");
    assert_eq!(scene.errors("--base HEAD~2"), [ELSEWHERE]);
}

#[test]
fn a_squashed_change_states_anew() {
    let scene = Scene::committed(&table(&[A, X]));
    scene.git("switch --quiet --create topic");
    scene.commit_saying(&table(&[A_AT_B, X]), STATED);
    scene.holds("--base main");
    scene.git("switch --quiet main");
    scene.git("merge --quiet --squash topic");
    scene.commit_all();
    assert_eq!(scene.errors("--base HEAD~1"), [ELSEWHERE]);
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
    // It is not too late.
    scene.commit_saying(&table(&[A_AT_B, X]), STATED);
    scene.holds("--base HEAD~2");
    scene.holds("--history");
}

#[test]
fn a_base_without_a_table_promises_nothing() {
    let scene = Scene::empty();
    scene.write("README", "Links.\n");
    scene.commit_all();
    scene.write("mapping.yaml", &table(&[A]));
    assert_snapshot!("nothing_published", scene.check("--base main"));
    scene.holds("--history");
}

#[test]
fn an_invalid_base_is_as_good_as_the_last_valid_one() {
    let unsound = "base_url: https://short.code/\nmapping:\n- url: nowhere\n";
    let scene = Scene::committed(&table(&[A, X]));
    scene.commit(unsound);
    scene.write("README", "Links.\n");
    scene.commit_all();
    scene.write("mapping.yaml", &table(&[X]));
    assert_snapshot!("unsound_base", scene.check("--base main"));
    assert_eq!(scene.errors("--history"), [GONE]);
    // Stated where nothing was served.
    scene.commit_saying(unsound, STATED);
    scene.write("mapping.yaml", &table(&[A_AT_B, X]));
    scene.holds("--base main");
    scene.holds("--history");

    let scene = Scene::committed(unsound);
    scene.write("mapping.yaml", &table(&[A]));
    assert_snapshot!("never_sound", scene.check("--base main"));
    scene.holds("--history");
    scene.write("mapping.yaml", unsound);
    assert!(
        scene
            .check("--base main")
            .contains("mapping.yaml:3:8: error: ")
    );
}

#[test]
fn a_new_base_url_or_scheme_is_reported_by_its_effect_on_codes() {
    let scene = Scene::committed(&table(&[A, "url: https://auto.example/"]));
    let text = |from: &str, to: &str| {
        let text = table(&[A, "url: https://auto.example/"]);
        scene.write("mapping.yaml", &text.replace(from, to));
    };
    text("short.code", "other.code");
    let gone = |line, code| format!("mapping.yaml:{line}: the published code {code:?} is gone");
    let all = [gone("1:1", "a"), gone("1:1", "AiHh9y7O")];
    assert_eq!(scene.errors("--base main"), all);
    let mut ever = scene.errors("--history");
    ever.sort_by_key(|report| !report.contains("\"a\""));
    assert_eq!(ever, all);
    text("mapping:", "code-scheme: crc64-xz\nmapping:");
    assert_eq!(scene.errors("--base main"), [gone("5:3", "AiHh9y7O")]);
    // The scheme and the port are no part of what a request means.
    text("https://short.code/", "http://short.code:8080/");
    scene.holds("--base main");
    scene.holds("--history");
}

#[test]
fn entries_may_move_between_files_and_files_may_go() {
    let scene = Scene::empty();
    let entry = |code: &str| format!("{{url: https://{code}.example/, short-code: {code}}}");
    scene.write(
        "links/a.yaml",
        &table(&[&entry("a"), &entry("b"), &entry("c")]),
    );
    scene.write("links/b.yaml", &table(&[&entry("d")]));
    scene.commit_all();
    scene.write("links/b.yaml", &table(&[&entry("c"), &entry("d")]));
    scene.write("links/a.yaml", &table(&[&entry("b"), &entry("a")]));
    scene.holds("--base main links");
    scene.holds("--history links/a.yaml links/b.yaml");
    scene.write("links/a.yaml", &table(&[&entry("a")]));
    let gone = "links/b.yaml:3:3: the published code \"b\" is gone";
    assert_eq!(scene.errors("--base main links"), [gone]);
    fs::remove_file(scene.root.join("links/a.yaml")).unwrap();
    let both = [gone, &gone.replace("\"b\"", "\"a\"")];
    let mut report = scene.errors("--base main links");
    report.sort_by_key(|report| report.contains("\"a\""));
    assert_eq!(report, both);
    assert_eq!(scene.errors("--history links").len(), 2);
}

#[test]
fn a_table_may_move_if_its_old_place_is_named() {
    let scene = Scene::committed(&table(&[A, X]));
    fs::remove_file(scene.root.join("mapping.yaml")).unwrap();
    scene.write("links/a.yaml", &table(&[A]));
    scene.write("links/b.yaml", &table(&[X]));
    for arguments in ["--base main", "--history"] {
        scene.holds(&format!("{arguments} mapping.yaml links"));
        let report = scene.check(&format!("{arguments} links mapping.yaml"));
        let note = "waypost: no table is at mapping.yaml now: checking what was published there\n";
        assert!(report.contains(note), "{report}");
        // By itself it is there no more.
        assert!(scene.check(arguments).starts_with("status 3\n"));
    }
    scene.write("links/b.yaml", &table(&[Y]));
    let gone = "links/a.yaml:3:3: the published code \"x\" is gone";
    for arguments in ["--base main", "--history"] {
        assert_eq!(
            scene.errors(&format!("{arguments} mapping.yaml links")),
            [gone]
        );
    }
    // Also afterwards.
    scene.commit_all();
    assert_eq!(scene.errors("--history mapping.yaml links"), [gone]);
    scene.write("links/b.yaml", &table(&[X, Y]));
    scene.holds("--history mapping.yaml links");
}

#[test]
fn a_bare_repository_is_checked_by_revisions() {
    let scene = Scene::committed(&table(&[A, X]));
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[A_AT_B]));
    scene.git("clone --quiet --bare . bare.git");
    let report = scene.waypost("bare.git", "check --rev topic:mapping.yaml --base main");
    assert_eq!(report, scene.check("--rev topic:mapping.yaml --base main"));
    assert_eq!(report, scene.check("--base main"));
    assert!(
        report.contains(ELSEWHERE.rsplit(": ").next().unwrap()),
        "{report}"
    );
    let ever = scene.waypost("bare.git", "check --rev topic:mapping.yaml --history");
    assert_eq!(ever, report);
}

#[test]
fn a_hook_refuses_what_breaks_a_promise() {
    let scene = Scene::committed(&table(&[A, X]));
    scene.git("clone --quiet --bare . served.git");
    let hook = scene.root.join("served.git/hooks/pre-receive");
    let script = format!(
        "#!/bin/sh\nread old new name\nexec '{}' check --rev $new:mapping.yaml --base $old --history\n",
        env!("CARGO_BIN_EXE_waypost")
    );
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let served = || scene.git("-C served.git rev-parse main");
    let push = || {
        let push = "git push --quiet served.git HEAD:refs/heads/main";
        let output = std::process::Command::new("sh")
            .args(["-c", push])
            .current_dir(&scene.root)
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let before = served();
    scene.commit(&table(&[A_AT_B, X]));
    let report = push();
    assert!(
        report.contains("the published code \"a\" leads elsewhere"),
        "{report}"
    );
    assert_eq!(served(), before);
    scene.commit_saying(&table(&[A_AT_B, X]), STATED);
    let report = push();
    assert_eq!(served(), scene.git("rev-parse HEAD"), "{report}");
}

#[test]
fn what_cannot_be_looked_back_at_is_refused() {
    let scene = Scene::committed(&table(&[A]));
    for arguments in ["- --base main", "- --history"] {
        let report = scene.check(arguments);
        assert_eq!(
            report,
            "status 2\n--- stdout\n--- stderr\nwaypost: standard input has no history: name the \
             file that it came from\n"
        );
    }
    assert!(scene.check("--allow-retarget a").starts_with("status 2\n"));
    let unknown = scene.check("--base nowhere");
    assert!(unknown.starts_with("status 3\n") && unknown.contains("\"nowhere\" names no commit"));
    scene.commit(&table(&[A, X]));
    let origin = format!("file://{}", scene.root.display());
    scene.git(&format!("clone --quiet --depth 1 {origin} shallow"));
    let shallow = scene.waypost("shallow", "check --history");
    assert!(
        shallow.starts_with("status 3\n") && shallow.contains("git fetch --unshallow"),
        "{shallow}"
    );
    let sound = scene.waypost("shallow", "check --base HEAD");
    assert!(sound.starts_with("status 0\n"), "{sound}");
    // Of an unsound base, the last sound one is beyond the cut.
    scene.commit("mapping: []\n");
    scene.git("-C shallow fetch --quiet --depth 1");
    scene.git("-C shallow reset --quiet --hard origin/main");
    scene.write("shallow/mapping.yaml", &table(&[X]));
    let cut_off = scene.waypost("shallow", "check --base HEAD");
    assert!(
        cut_off.starts_with("status 3\n") && cut_off.contains("git fetch --unshallow"),
        "{cut_off}"
    );
}

#[test]
fn a_committed_link_is_not_followed() {
    let scene = Scene::committed(&table(&[A, X]));
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.yaml");
    fs::write(&secret, "SECRET\n").unwrap();
    let path = scene.root.join("mapping.yaml");
    fs::remove_file(&path).unwrap();
    symlink(&secret, &path).unwrap();
    scene.commit_all();
    let report =
        "1:1: \"mapping.yaml\" is a symbolic link, which is not followed in the repository";
    let report = format!("mapping.yaml:{report}");
    for arguments in ["--base HEAD~1", "--history", "--base HEAD"] {
        assert_eq!(scene.errors(arguments), [report.as_str()]);
    }
    for format in ["human", "json", "github", "gitlab", "sarif", "junit"] {
        let report = scene.check(&format!("--base HEAD~1 --format {format}"));
        assert!(
            report.starts_with("status 1\n") && report.contains("is a symbolic link"),
            "{report}"
        );
        assert!(!report.contains("SECRET"), "{report}");
    }
    let report = scene.waypost(".", "diff HEAD~1");
    assert!(
        report.starts_with("status 1\n") && report.contains("is a symbolic link"),
        "{report}"
    );
    // The rest of the way is no different, nor is a link to what is committed.
    fs::remove_file(&path).unwrap();
    scene.write("tables/mapping.yaml", &table(&[X]));
    symlink("tables", scene.root.join("links")).unwrap();
    let report = scene.errors("--base HEAD~1 links/mapping.yaml");
    assert_eq!(report.len(), 1);
    assert!(report[0].starts_with("links/mapping.yaml:1:1: \"links\" is"));
    symlink("mapping.yaml", scene.root.join("tables/more.yaml")).unwrap();
    let report = scene.errors("--base HEAD~1 tables");
    assert_eq!(report.len(), 1);
    assert!(report[0].starts_with("tables/more.yaml:1:1: \"tables/more.yaml\" is"));
}

#[test]
fn a_committed_repository_is_no_past() {
    let scene = Scene::empty();
    scene.write("links/a.yaml", &table(&[A, X]));
    scene.commit_all();
    // Its own history begins with the change.
    scene.write("inner/a.yaml", &table(&[X]));
    scene.git("-C inner init --quiet");
    scene.git("-C inner add .");
    scene.git("-C inner commit --quiet --message links");
    for part in ["HEAD", "objects", "refs", "config"] {
        let from = scene.root.join("inner/.git").join(part);
        fs::rename(from, scene.root.join("links").join(part)).unwrap();
    }
    fs::remove_dir_all(scene.root.join("inner")).unwrap();
    scene.write("links/a.yaml", &table(&[X]));
    scene.commit_all();
    let gone = GONE.replace("mapping", "links/a");
    assert_eq!(scene.errors("--base HEAD~1 links"), [gone.as_str()]);
    assert_eq!(scene.errors("--history links"), [gone.as_str()]);
}

#[test]
fn a_link_to_a_work_tree_is_followed() {
    let scene = Scene::committed(&table(&[A, X]));
    let outside = tempfile::tempdir().unwrap();
    let way = outside.path().join("way");
    symlink(&scene.root, &way).unwrap();
    scene.write("mapping.yaml", &table(&[X]));
    let report = scene.errors(&format!("--base HEAD {}/mapping.yaml", way.display()));
    assert_eq!(report.len(), 1);
    assert!(
        report[0].ends_with(GONE.split_once(' ').unwrap().1),
        "{report:?}"
    );
}

#[test]
fn what_is_gone_from_a_history_is_missed_until_it_is_back_or_retired() {
    let scene = Scene::committed(&table(&[A, X]));
    scene.commit(&table(&[A, X, Y]));
    let held = scene.git("rev-parse --short=12 HEAD");
    scene.commit(&table(&[X, Y]));
    scene.write("README", "Links.\n");
    scene.commit_all();
    // A base that has broken it already does not know of it.
    scene.holds("--base HEAD~1");
    assert_eq!(scene.errors("--history"), [GONE]);
    let report = scene.check("--history");
    let was = format!("it led to https://a.example/ ({held}:mapping.yaml:3, 2023-11-14)");
    assert!(report.contains(&was), "{report}");
    for clears in [A, A_RETIRED, A_DROPPED] {
        scene.write("mapping.yaml", &table(&[X, clears, Y]));
        scene.holds("--history");
    }
    scene.write("mapping.yaml", &table(&[A_AT_B, X, Y]));
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
    scene.commit(&table(&[X, Y, A]));
    scene.holds("--history");
    // Found by both, it is reported once.
    scene.write("mapping.yaml", &table(&[X, Y]));
    assert_eq!(scene.errors("--history --base HEAD").len(), 1);
}

#[test]
fn an_unstated_target_is_reported_until_it_is_stated_or_undone() {
    let scene = Scene::committed(&table(&[A]));
    scene.commit(&table(&[A_AT_B]));
    scene.commit(&table(&[A_AT_B, X]));
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
    scene.write("mapping.yaml", &table(&[A, X]));
    scene.holds("--history");
    scene.write("mapping.yaml", &table(&[A_RETIRED, X]));
    scene.holds("--history");
    scene.commit_saying(&table(&[A_AT_B, X]), STATED);
    scene.holds("--history");
    // It was stated once.
    scene.commit(&table(&[A_AT_C, X]));
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
}

#[test]
fn a_statement_may_come_before_the_change() {
    let scene = Scene::committed(&table(&[A]));
    scene.write("README", "Soon.\n");
    scene.commit_all_saying(STATED);
    scene.commit(&table(&[A_AT_B]));
    scene.holds("--history");
    scene.commit(&table(&[A_AT_C]));
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
}

#[test]
fn what_is_retired_is_given_to_nobody_else() {
    let scene = Scene::committed(&table(&[A]));
    scene.commit(&table(&[A_RETIRED]));
    scene.commit_saying(&table(&[A_AT_B]), STATED);
    assert_eq!(scene.errors("--history --allow-retarget a"), [REGIVEN]);
    assert_eq!(scene.errors("--base HEAD~1"), [REGIVEN]);
    scene.commit(&table(&[A]));
    scene.holds("--history");
    // The history knows the target that was dropped.
    scene.commit(&table(&[A_DROPPED]));
    scene.commit_saying(&table(&[A_AT_B]), STATED);
    scene.holds("--base HEAD~1");
    assert_eq!(scene.errors("--history --allow-retarget a"), [REGIVEN]);
    let report = scene.check("--history");
    assert!(
        report.contains("it led to https://a.example/ ("),
        "{report}"
    );
    scene.write("mapping.yaml", &table(&[A]));
    scene.holds("--history");
}

#[test]
fn lines_of_work_meet() {
    let scene = Scene::committed(&table(&[A]));
    // Two add the same code; the merge declares which it shall be.
    let x = X.replace("x.example", "other.example");
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[A, &x, Y]));
    scene.git("switch --quiet main");
    scene.commit(&table(&[A, X]));
    scene.git("merge --quiet --no-commit --strategy ours topic");
    scene.commit(&table(&[A, X, Y]));
    let elsewhere = "mapping.yaml:4:3: the published code \"x\" leads elsewhere";
    assert_eq!(scene.errors("--history"), [elsewhere]);
    scene.write("mapping.yaml", &table(&[A, &x, Y]));
    assert_eq!(scene.errors("--history"), [elsewhere]);
    scene.holds("--history --allow-retarget x");
    scene.commit_saying(&table(&[A, X, Y]), "links\n\nWaypost-Allow: retarget x\n");
    scene.holds("--history");
    scene.write("mapping.yaml", &table(&[A, &x, Y]));
    assert_eq!(scene.errors("--history"), [elsewhere]);
    // What a merge loses is missed.
    scene.git("switch --quiet --force-create topic");
    scene.git("restore .");
    let z = "{url: https://z.example/, short-code: z}";
    scene.commit(&table(&[A, X, Y, z]));
    scene.git("switch --quiet main");
    scene.write("README", "Links.\n");
    scene.commit_all();
    scene.git("merge --quiet --no-commit --strategy ours topic");
    scene.commit(&table(&[A, X, Y]));
    let lost = ["mapping.yaml:5:3: the published code \"z\" is gone"];
    assert_eq!(scene.errors("--history"), lost);
}

#[test]
fn a_statement_on_a_branch_holds_for_the_merge() {
    let scene = Scene::committed(&table(&[A]));
    scene.git("switch --quiet --create topic");
    scene.commit_saying(&table(&[A_AT_B]), STATED);
    scene.git("switch --quiet main");
    scene.commit(&table(&[A, X]));
    scene.git("merge --quiet --no-commit --strategy ours topic");
    scene.commit(&table(&[A_AT_B, X]));
    scene.holds("--history");
    scene.holds("--base HEAD~1");
    // Undone by the merge, it is broken.
    scene.write("mapping.yaml", &table(&[A, X]));
    assert_eq!(scene.errors("--history"), [ELSEWHERE]);
}

#[test]
fn lines_of_work_that_took_each_other_in_state_for_themselves() {
    let scene = Scene::committed(&table(&[A, Y]));
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[A, X, Y]));
    scene.git("switch --quiet main");
    scene.commit_saying(&table(&[A_AT_B, Y]), STATED);
    scene.git("tag stated");
    // Each takes in what the other had, so that they parted at two commits.
    scene.git("merge --quiet --no-commit --strategy ours topic");
    scene.commit(&table(&[A_AT_B, X, Y]));
    scene.git("switch --quiet topic");
    scene.git("merge --quiet --no-commit --strategy ours stated");
    scene.commit(&table(&[A_AT_B, X, Y]));
    for (tip, base) in [("topic", "main"), ("main", "topic")] {
        scene.git(&format!("switch --quiet --force-create try-{tip} {tip}"));
        scene.holds(&format!("--base {base}"));
        scene.commit(&table(&[A_AT_C, X, Y]));
        assert_eq!(scene.errors(&format!("--base {base}")), [ELSEWHERE]);
        scene.commit_saying(&table(&[A_AT_C, X, Y]), STATED);
        scene.holds(&format!("--base {base}"));
        scene.commit(&table(&[X, Y]));
        let gone = scene.errors(&format!("--base {base}"));
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
    let shows = |scene: &Scene, command: &str| {
        let report = scene.check(command);
        let (_, report) = report.split_once("--- stdout\n").unwrap();
        let shown = format!(
            "```console\n$ waypost check {command}\n{}```\n",
            report.replace("--- stderr\n", "")
        );
        assert!(page.contains(&shown), "the page lacks this:\n{shown}");
    };
    let scene = Scene::committed(&table(&[
        "url: https://framasoft.org/",
        "url: https://www.gnu.org/\n  short-code: gnu-home",
    ]));
    let after = table(&[
        "url: https://www.gnu.org/home.html\n  short-code: gnu-home",
        "url: https://joinpeertube.org/\n  title: PeerTube",
    ]);
    scene.write("mapping.yaml", &after);
    shows(&scene, "--base main");
    let message = "Link to where GNU begins\n\nWaypost-Allow: retarget gnu-home\n";
    assert!(page.contains(&format!("```text\n{message}```\n")));
    scene.commit_saying(&after, message);
    shows(&scene, "--history");
}

const BANK: &str = "{url: https://bank.example/, short-code: bank, forward: path}";
const LOGIN: &str = "{url: https://login.example/, short-code: bank/login}";
const TAKEN: &str = "the code \"bank/login\" changes where the published path \"bank/login\" leads";

impl Scene {
    /// Returns the place and message of every error, for a table that warns of its codes, too.
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
    let scene = Scene::committed(&table(&[BANK]));
    let both = table(&[BANK, LOGIN]);
    scene.write("mapping.yaml", &both);
    let taken = format!("mapping.yaml:4:3: {TAKEN}");
    let report = scene.check("--base main");
    assert!(
        report.contains("it was answered by \"bank\": it led to https://bank.example/ ("),
        "{report}"
    );
    assert!(
        report.contains("is intended: Waypost-Allow: retarget bank/login"),
        "{report}"
    );
    for past in ["--base main", "--history", "--base main --history"] {
        assert_eq!(scene.taken_over(past), [&*taken], "{past}");
        scene.takes_nothing_over(&format!("{past} --allow-retarget bank/login"));
    }
    // It is remembered, and stated before, with or after.
    scene.commit(&both);
    scene.commit(&table(&[BANK, LOGIN, X]));
    assert_eq!(scene.taken_over("--history"), [&*taken]);
    scene.commit_saying(
        &table(&[BANK, LOGIN, X]),
        "links\n\nWaypost-Allow: retarget bank/login\n",
    );
    scene.takes_nothing_over("--history");
    scene.takes_nothing_over("--base HEAD~2");
    // Prefix and exception that come together take nothing over.
    let scene = Scene::committed(&table(&[X]));
    scene.commit(&table(&[X, BANK, LOGIN]));
    scene.takes_nothing_over("--history");
    scene.takes_nothing_over("--base HEAD~1");
}

#[test]
fn a_code_that_begins_to_forward_must_keep_the_links_below_it() {
    let plain = BANK.replace(", forward: path", "");
    let scene = Scene::committed(&table(&[&plain, LOGIN]));
    scene.write("mapping.yaml", &table(&[BANK, LOGIN]));
    let taken = "mapping.yaml:3:3: the code \"bank\" changes where the published path \
                 \"bank/login)\" leads";
    for past in ["--base main", "--history"] {
        assert_eq!(scene.taken_over(past), [taken], "{past}");
        scene.takes_nothing_over(&format!("{past} --allow-retarget bank"));
    }
}

#[test]
fn what_two_branches_take_from_each_other_is_reported_after_the_merge() {
    let scene = Scene::committed(&table(&[X]));
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[LOGIN, X]));
    scene.git("switch --quiet main");
    scene.commit(&table(&[X, BANK]));
    scene.git("merge --quiet --no-commit --strategy=ours topic");
    scene.commit(&table(&[LOGIN, X, BANK]));
    assert_eq!(
        scene.taken_over("--base main~1"),
        [format!("mapping.yaml:3:3: {TAKEN}")]
    );
    assert_eq!(
        scene.taken_over("--history"),
        [
            &format!("mapping.yaml:3:3: {TAKEN}"),
            "mapping.yaml:5:3: the code \"bank\" changes where the published path \
             \"bank/login)\" leads"
        ]
    );
    scene.commit_saying(
        &table(&[LOGIN, X, BANK]),
        "links\n\nWaypost-Allow: retarget bank bank/login\n",
    );
    scene.takes_nothing_over("--history");
}

#[test]
fn what_one_line_of_work_has_stated_holds_after_a_merge() {
    let scene = Scene::committed(&table(&[BANK]));
    scene.git("switch --quiet --create topic");
    scene.commit(&table(&[X, BANK]));
    scene.git("switch --quiet main");
    scene.commit_saying(
        &table(&[BANK, LOGIN]),
        "links\n\nWaypost-Allow: retarget bank/login\n",
    );
    scene.git("merge --quiet --no-commit --strategy=ours topic");
    scene.commit(&table(&[X, BANK, LOGIN]));
    scene.takes_nothing_over("--history");
    scene.git("switch --quiet topic");
    scene.git("merge --quiet --no-commit --strategy=ours main");
    scene.commit(&table(&[X, BANK, LOGIN]));
    scene.takes_nothing_over("--history");
}
