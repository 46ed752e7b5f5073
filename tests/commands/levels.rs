//! `check --allow` and `--deny`: which rules count.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::check::check_with;
use crate::git::git;

/// A table of an intranet: two private addresses, and a code that ends in a full stop.
const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: http://192.168.0.10/wiki
  short-code: wiki
- url: http://10.0.0.1/
  short-code: router.
";

const PRIVATE: &str = "url-private-address";
const FULL_STOP: &str = "code-ends-in-full-stop";

const FORMATS: [&str; 6] = ["human", "json", "github", "gitlab", "sarif", "junit"];

fn fixture(table: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("mapping.yaml"), table).unwrap();
    directory
}

/// Returns the status and the summary of a check.
fn checked(directory: &Path, args: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
    let output = check_with(directory, args, environment);
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), stderr.trim_end().to_owned())
}

#[test]
fn a_rule_prevails_over_all_warnings() {
    let fixture = fixture(TABLE);
    let [no_problems, one, two, all] = [
        "2 entries: no problems",
        "2 entries: 1 warning",
        "2 entries: 2 warnings",
        "2 entries: 3 warnings",
    ];
    for (args, status, summary) in [
        (&[][..], 0, all.to_owned()),
        (&["--deny", "warnings"], 1, format!("{all} (3 denied)")),
        (&["--deny", FULL_STOP], 1, format!("{all} (1 denied)")),
        (&["--deny", PRIVATE], 1, format!("{all} (2 denied)")),
        (&["--deny", "entry-twice"], 0, all.to_owned()),
        (&["--allow", PRIVATE], 0, one.to_owned()),
        (&["--allow", FULL_STOP], 0, two.to_owned()),
        (
            &["--allow", PRIVATE, "--allow", FULL_STOP],
            0,
            no_problems.to_owned(),
        ),
        (
            &["--deny", "warnings", "--allow", PRIVATE],
            1,
            format!("{one} (1 denied)"),
        ),
        (
            &[
                "--deny",
                "warnings",
                "--allow",
                "url-private-address,code-ends-in-full-stop",
            ],
            0,
            no_problems.to_owned(),
        ),
        (
            &["--deny", "entry-twice,warnings", "--deny", FULL_STOP],
            1,
            format!("{all} (3 denied)"),
        ),
    ] {
        assert_eq!(
            checked(fixture.path(), args, &[]),
            (status, summary),
            "{args:?}"
        );
    }
}

#[test]
fn what_is_allowed_is_in_no_format() {
    let fixture = fixture(TABLE);
    for format in FORMATS {
        let shown = |args: &[&str]| {
            let args = [&["--format", format], args].concat();
            let output = check_with(fixture.path(), &args, &[]);
            let text = String::from_utf8(output.stdout).unwrap();
            (output.status.code().unwrap(), text)
        };
        let (status, text) = shown(&["--deny", "warnings"]);
        assert_eq!(status, 1, "{format}");
        assert!(text.contains("private or loopback address"), "{text}");
        let (status, text) = shown(&["--deny", "warnings", "--allow", PRIVATE]);
        assert_eq!(status, 1, "{format}");
        assert!(!text.contains("private or loopback address"), "{text}");
        assert!(text.contains("full stop"), "{text}");
        let (status, _) = shown(&["--deny", FULL_STOP, "--allow", PRIVATE]);
        assert_eq!(status, 1, "{format}");
        let (status, _) = shown(&["--allow", PRIVATE]);
        assert_eq!(status, 0, "{format}");
    }
    let args = ["--format", "json", "--allow", PRIVATE, "--deny", FULL_STOP];
    let document: Value =
        serde_json::from_slice(&check_with(fixture.path(), &args, &[]).stdout).unwrap();
    assert_eq!(document["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(document["diagnostics"][0]["rule"], FULL_STOP);
    assert_eq!(document["summary"]["warnings"], 1);
    assert_eq!(document["summary"]["denied"], 1);
}

#[test]
fn what_cannot_be_allowed_is_wrong_usage() {
    let fixture = fixture(TABLE);
    let both = "the rule 'url-private-address' is given to both '--allow' and '--deny'";
    let nearest = "there is no such rule, did you mean 'url-private-address'?";
    for (args, message) in [
        (
            &["--allow", "code-taken"][..],
            "invalid value 'code-taken' for '--allow <RULE>': it is an error",
        ),
        (&["--allow", "url-privat-address"], nearest),
        (&["--deny", "url-privat-address"], nearest),
        (&["--allow", "warnings"], "there is no such rule"),
        (&["--deny", "errors"], "there is no such rule"),
        (&["--allow", PRIVATE, "--deny", PRIVATE], both),
        (
            &[
                "--allow",
                "code-ends-in-full-stop,url-private-address",
                "--deny",
                "warnings,url-private-address",
            ],
            both,
        ),
    ] {
        let (status, report) = checked(fixture.path(), args, &[]);
        assert_eq!(status, 2, "{args:?} {report}");
        assert!(report.contains(message), "{args:?} {report}");
    }
}

#[test]
fn variables_select_rules_and_flags_prevail() {
    let fixture = fixture(TABLE);
    let checked = |args: &[&str], environment: &[_]| checked(fixture.path(), args, environment);
    let intranet = [("WAYPOST_ALLOW", PRIVATE), ("WAYPOST_DENY", "warnings")];
    let one = (1, "2 entries: 1 warning (1 denied)".to_owned());
    assert_eq!(checked(&[], &intranet), one);
    let all = (1, "2 entries: 3 warnings (2 denied)".to_owned());
    assert_eq!(checked(&["--deny", PRIVATE], &intranet[..1]), all);
    let allowed = (0, "2 entries: 1 warning".to_owned());
    let denied = [("WAYPOST_DENY", PRIVATE)];
    assert_eq!(checked(&["--allow", PRIVATE], &denied), allowed);
    let unset = [("WAYPOST_ALLOW", ""), ("WAYPOST_DENY", "")];
    let none = (0, "2 entries: 3 warnings".to_owned());
    assert_eq!(checked(&[], &unset), none);
    let (status, report) = checked(
        &[],
        &[("WAYPOST_ALLOW", PRIVATE), ("WAYPOST_DENY", PRIVATE)],
    );
    assert_eq!(status, 2);
    assert!(
        report.contains("WAYPOST_ALLOW and WAYPOST_DENY"),
        "{report}"
    );
    let (status, report) = checked(&[], &[("WAYPOST_ALLOW", "code-taken")]);
    assert_eq!(status, 2);
    assert!(report.contains("the variable WAYPOST_ALLOW"), "{report}");
}

#[test]
fn no_number_of_allowed_warnings_hides_a_denied_one() {
    let mut table = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..1500 {
        writeln!(
            table,
            "- url: http://10.0.0.1/{number}\n  short-code: c{number}"
        )
        .unwrap();
    }
    let fixture = fixture(&table);
    let args = ["--deny", "warnings", "--allow", PRIVATE];
    let no_problems = (0, "1500 entries: no problems".to_owned());
    assert_eq!(checked(fixture.path(), &args, &[]), no_problems);
    table += "- url: https://example.org/\n  short-code: last.\n";
    fs::write(fixture.path().join("mapping.yaml"), table).unwrap();
    let one = (1, "1501 entries: 1 warning (1 denied)".to_owned());
    assert_eq!(checked(fixture.path(), &args, &[]), one);
    let args = ["--deny", FULL_STOP];
    let all = (1, "1501 entries: 1002 warnings (1 denied)".to_owned());
    assert_eq!(checked(fixture.path(), &args, &[]), all);
}

#[test]
fn broken_promises_are_reported_whatever_is_allowed() {
    let fixture = fixture(TABLE);
    git(fixture.path(), "init --quiet");
    git(fixture.path(), "add .");
    git(fixture.path(), "commit --quiet -m table");
    for past in [&["--base", "HEAD"][..], &["--history"]] {
        let args = [past, &["--deny", "warnings", "--allow", PRIVATE]].concat();
        fs::write(fixture.path().join("mapping.yaml"), TABLE).unwrap();
        let kept = (1, "2 entries: 1 warning (1 denied)".to_owned());
        assert_eq!(checked(fixture.path(), &args, &[]), kept);
        let other = TABLE.replace("192.168.0.10", "192.168.0.11");
        fs::write(fixture.path().join("mapping.yaml"), other).unwrap();
        let broken = (1, "2 entries: 1 error, 1 warning (1 denied)".to_owned());
        assert_eq!(checked(fixture.path(), &args, &[]), broken);
        let args = [past, &["--allow", "published-code-retargeted"]].concat();
        assert_eq!(checked(fixture.path(), &args, &[]).0, 2);
    }
}
