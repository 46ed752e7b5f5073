//! `waypost list`: which links it lists, and in which form.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::transcript::transcript;

const TABLE: &str = "\
base_url: https://short.code/
mapping:
- url: https://www.gnu.org/
  short-code: gnu-home
  title: The GNU system, \u{202e}backwards
  tags: [free, \"a, b\"]
- url: https://framasoft.org/
  owner: Docs
- url: https://b.example/
  short-code: b
  aliases: [bb, Gnu]
- url: https://example.org/old
  short-code: old
  retired: 2020-01-01
- {short-code: taken-down, retired: true, title: Gone}
- {url: \"https://e.example/\", short-code: ended, expires: 2025-01-01}
";

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

fn run(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args).current_dir(directory).env_clear();
    transcript(command.stdin(Stdio::null()).output().unwrap())
}

/// Returns the codes that are listed.
fn codes(directory: &Path, args: &[&str]) -> Vec<String> {
    let args = [&["list", "--format", "json"], args].concat();
    let report = run(directory, &args);
    let json = report.strip_prefix("status 0\n--- stdout\n").unwrap();
    let json = json.split("--- stderr").next().unwrap();
    let listing: serde_json::Value = serde_json::from_str(json).unwrap();
    let links = listing["links"].as_array().unwrap().iter();
    links
        .map(|link| link["code"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn links_are_listed_in_the_order_of_their_codes() {
    let at = directory(&[("mapping.yaml", TABLE)]);
    for (name, args) in [
        ("list", &["list"][..]),
        ("list_query", &["list", "gnu"]),
        ("list_nothing", &["list", "nothing like that"]),
        ("list_json", &["list", "gnu", "--format", "json"]),
        ("list_csv", &["list", "--format", "csv"]),
    ] {
        assert_snapshot!(name, run(at.path(), args));
    }
    let empty = run(at.path(), &["list", "--owner", "x", "--format", "json"]);
    assert!(empty.contains("{\"links\": []}\n"), "{empty}");
}

#[test]
fn links_are_selected() {
    let at = directory(&[("mapping.yaml", TABLE)]);
    let listed = |args: &[&str]| codes(at.path(), args).join(" ");
    assert_eq!(listed(&[]), "b ended gnu-home old t0P0JMya taken-down");
    assert_eq!(listed(&["GNU"]), "b gnu-home");
    assert_eq!(listed(&["example e"]), "b ended old");
    assert_eq!(listed(&["--owner", "docs"]), "t0P0JMya");
    assert_eq!(listed(&["--tag", "FREE"]), "gnu-home");
    assert_eq!(listed(&["--tag", "fre"]), "");
    assert_eq!(listed(&["--state", "live"]), "b gnu-home t0P0JMya");
    assert_eq!(listed(&["--state", "retired"]), "old taken-down");
    assert_eq!(listed(&["--state", "expired", "e"]), "ended");
    assert_eq!(listed(&["-home"]), "gnu-home");
}

#[test]
fn what_is_listed_as_csv_can_be_imported() {
    let at = directory(&[("mapping.yaml", TABLE)]);
    let csv = run(at.path(), &["list", "--format", "csv"]);
    let csv = csv.strip_prefix("status 0\n--- stdout\n").unwrap();
    let csv = csv.split("--- stderr").next().unwrap();
    fs::write(at.path().join("links.csv"), csv).unwrap();
    let import = "import links.csv --format csv --base-url https://short.code/ --table new.yaml";
    let imported = run(at.path(), &import.split(' ').collect::<Vec<_>>());
    assert!(imported.starts_with("status 0\n"), "{imported}");
    let list = |table| run(at.path(), &["list", "--format", "json", "--table", table]);
    assert_eq!(list("new.yaml"), list("mapping.yaml"));
}

#[test]
fn sites_are_listed_one_after_another() {
    let other =
        "base_url: https://other.code/\nmapping:\n- {url: https://o.example/, short-code: b}\n";
    let at = directory(&[("a.yaml", TABLE), ("b.yaml", other)]);
    assert_snapshot!("list_sites", run(at.path(), &["list", "b", "--table", "."]));
    let site = ["--table", ".", "--site", "https://other.code/"];
    assert_eq!(codes(at.path(), &site), ["b"]);
    let csv = ["list", "--format", "csv"];
    let refused = run(at.path(), &[&csv[..], &site[..2]].concat());
    assert!(
        refused.starts_with("status 2\n--- stdout\n--- stderr\n"),
        "{refused}"
    );
    assert!(run(at.path(), &[&csv[..], &site].concat()).starts_with("status 0\n"));
    let unknown = ["list", "--site", "https://x.code/", "--table", "a.yaml"];
    assert_snapshot!("list_unknown_site", run(at.path(), &unknown));
}

#[test]
fn an_unknown_flag_is_not_a_query() {
    let at = directory(&[(
        "mapping.yaml",
        "base_url: https://short.code/\nmapping:\n- {url: https://a.example/, short-code: -a--b}\n",
    )]);
    for refused in ["--unknown-flag", "--b"] {
        let report = run(at.path(), &["list", refused]);
        assert!(
            report.starts_with("status 2\n--- stdout\n--- stderr\n"),
            "{report}"
        );
    }
    assert_eq!(codes(at.path(), &["-a"]), ["-a--b"]);
    assert_eq!(codes(at.path(), &["--", "--b"]), ["-a--b"]);
    assert!(codes(at.path(), &["--", "--unknown-flag"]).is_empty());
}
