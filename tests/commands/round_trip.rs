//! What `waypost export` writes for other servers, imported into a new table: each link that returns is the one
//! that was exported, or that for its code alone, and all else is refused.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const ENTRIES: &str = "\
mapping:
- {url: 'https://e.org/a', short-code: Plain/a.b, status: 301}
- {url: 'https://e.org/303', short-code: other, status: 303}
- {url: 'https://e.org/307?x=$1%20&y', short-code: seven, status: 307}
- {url: 'https://e.org/308#f', short-code: eight, status: 308}
- {url: 'https://e.org/q', short-code: query, forward: query}
- {url: 'https://e.org/q?x=1', short-code: more, forward: query}
- {url: 'https://e.org/p/', short-code: path, forward: path}
- {url: 'https://e.org/pq/', short-code: both, forward: path-and-query}
- {url: 'https://e.org/all', short-code: all, forward: all}
- {url: 'https://e.org/allq', short-code: allq, forward: all-and-query}
- {url: 'https://e.org/b', short-code: start, below: 'https://e.org/b/', status: 303}
- {url: 'https://e.org/in', short-code: start/in}
- {short-code: gone, retired: true}
- {url: 'https://e.org/g/', short-code: off, forward: path, retired: true}
";

const VARIANTS: &str = "\
- url: https://e.org/v
  short-code: variants
  variants:
  - {accept: text/turtle, url: 'https://e.org/v.ttl'}
";

fn waypost(args: &[&str], table: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args).arg("--table").arg(table).env_clear();
    command.output().unwrap()
}

/// Returns the entries of a table by their codes.
fn entries(table: &Path) -> BTreeMap<String, Value> {
    let output = waypost(&["export", "--format", "jsonl"], table);
    let text = String::from_utf8(output.stdout).unwrap();
    let entries = text
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let code = |it: &Value| it["short-code"].as_str().unwrap().to_owned();
    entries.map(|it| (code(&it), it)).collect()
}

/// Returns what an entry is for its code alone, if it leads elsewhere below it.
fn alone(entry: &Value) -> Value {
    let mut entry = entry.clone();
    let fields = entry.as_object_mut().unwrap();
    if fields.contains_key("retired") {
        for (name, value) in [("forward", json!("none")), ("status", json!(302))] {
            fields.insert(name.to_owned(), value);
        }
        fields.remove("url");
    }
    fields.remove("below");
    let forward = match fields["forward"].as_str().unwrap() {
        "query" | "path-and-query" | "all-and-query" => "query",
        _ => "none",
    };
    fields.insert("forward".to_owned(), json!(forward));
    entry
}

/// Exports a table, imports that into a new one, and returns the codes that are refused or return for themselves
/// alone, in order, and those that return as they were.
fn round_trip(format: &str, case: &str, more: &str) -> (Vec<String>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let [before, after, text] =
        ["before.yaml", "after.yaml", "exported"].map(|name| directory.path().join(name));
    let head = format!("base_url: https://short.code/\ncase: {case}\n");
    fs::write(&before, format!("{head}{ENTRIES}{more}")).unwrap();
    let exported = waypost(&["export", "--format", format], &before);
    fs::write(&text, exported.stdout).unwrap();
    let text = text.to_str().unwrap();
    let import = [
        "import",
        text,
        "--format",
        format,
        "--base-url",
        "https://short.code/",
        "--case",
        case,
    ];
    let imported = waypost(&import, &after);
    let report = String::from_utf8(imported.stderr).unwrap();
    let (before, after) = (entries(&before), entries(&after));
    let (mut partly, mut wholly) = (Vec::new(), Vec::new());
    for (code, entry) in &after {
        assert!(before.contains_key(code), "{format}: {code}: {entry}");
    }
    for (code, entry) in &before {
        match after.get(code) {
            Some(found) if found == entry => wholly.push(code.clone()),
            Some(found) => {
                assert_eq!(*found, alone(entry), "{format}: {code}");
                partly.push(code.clone());
            }
            None => partly.push(code.clone()),
        }
    }
    let is_reported = imported.status.code() == Some(1) && report.contains("error: ");
    assert!(partly.is_empty() || is_reported, "{format}: {report}");
    (partly, wholly)
}

#[test]
fn what_returns_is_what_was_exported() {
    let below = ["all", "allq", "both", "off", "path", "start"];
    let queries = ["more", "query"];
    for case in ["exact", "fold"] {
        for (format, others) in [("nginx", &[][..]), ("caddy", &[]), ("apache", &queries)] {
            let (partly, wholly) = round_trip(format, case, "");
            let mut expected = [&below[..], others].concat();
            expected.sort_unstable();
            assert_eq!(partly, expected, "{format} {case}");
            assert_eq!(wholly.len(), 14 - partly.len(), "{format} {case}");
        }
    }
}

#[test]
fn variants_are_refused() {
    for format in ["nginx", "caddy", "apache"] {
        let (partly, _) = round_trip(format, "exact", VARIANTS);
        assert!(partly.iter().any(|it| it == "variants"), "{format}");
    }
}
