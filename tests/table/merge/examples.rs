//! Examples as data.
//!
//! Each folder under `tests/edit/merge` holds three versions of a document, and what their merge
//! comes to. `WAYPOST_REWRITE=1 cargo test` writes those texts anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use waypost::edit::{Merged, merge};
use waypost::mapping::SourceFile;

fn file(bytes: Vec<u8>) -> SourceFile {
    SourceFile {
        path: "t.yaml".into(),
        bytes,
    }
}

/// Returns a result as text, with what cannot be seen made visible.
fn report(merged: &Merged) -> String {
    let mut report = String::new();
    for conflict in &merged.conflicts {
        writeln!(
            report,
            "conflict at line {}: {}",
            conflict.line, conflict.message
        )
        .unwrap();
    }
    if let Some(reason) = &merged.by_lines {
        writeln!(report, "by lines: {reason}").unwrap();
    }
    let text = str::from_utf8(&merged.text).unwrap();
    let text = text.replace('\r', "\\r").replace('\u{feff}', "\\u{feff}");
    report + "---\n" + &text
}

#[test]
fn documents_are_merged_as_expected() {
    let mut count = 0;
    for folder in fs::read_dir("tests/edit/merge").unwrap() {
        let folder = folder.unwrap().path();
        let version = |name: &str| file(fs::read(folder.join(name)).unwrap());
        let [base, ours, theirs] = ["base.yaml", "ours.yaml", "theirs.yaml"].map(version);
        let merged = report(&merge(&base, &ours, &theirs).unwrap());
        compare(&folder.join("expected"), &merged);
        count += 1;
    }
    assert!(count > 20, "{count}");
}

fn compare(path: &Path, text: &str) {
    if std::env::var_os("WAYPOST_REWRITE").is_some() {
        fs::write(path, text).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, expected, "{path:?}");
}
