//! Tables as data: each file or folder under `tests/tables` is compiled and compared with the
//! text next to it.
//!
//! `ok/` tables load, perhaps with warnings; `err/` tables do not. A text ending in `.expected`
//! holds every diagnostic with its rule, then what each code leads to. `WAYPOST_REWRITE=1 cargo test` writes
//! those texts anew.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use waypost::mapping::{Compilation, SourceFile, Timestamp, compile};

use super::reported::reported;

/// A fixed time, so that dates in tables mean the same forever: 2026-11-21.
const NOW: Timestamp = Timestamp::from_unix(1_795_219_200);

#[test]
fn tables_compile_as_expected() {
    let mut differing = Vec::new();
    for kind in ["ok", "err"] {
        let folder = Path::new("tests/tables").join(kind);
        let tables = sorted(&folder, |name| !name.ends_with(".expected"));
        assert!(tables.len() > 10, "{} tables in {folder:?}", tables.len());
        for table in tables {
            let compilation = compile(&read(&table));
            assert_eq!(compilation.table.is_some(), kind == "ok", "{table:?}");
            let report = described(&compilation);
            let beside = PathBuf::from(format!("{}.expected", table.display()));
            if std::env::var_os("WAYPOST_REWRITE").is_some() {
                fs::write(&beside, &report).unwrap();
            }
            let expected = fs::read_to_string(&beside).unwrap_or_default();
            if report != expected {
                differing.push(format!("{table:?}\n{report}--- expected\n{expected}"));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn described(compilation: &Compilation) -> String {
    let mut report = String::new();
    for diagnostic in &compilation.diagnostics {
        report += &reported(diagnostic);
    }
    let Some(table) = &compilation.table else {
        return report;
    };
    for site in table.sites() {
        for entry in site.entries() {
            let gone = if entry.is_gone(NOW) { " gone" } else { "" };
            let target = entry.target().unwrap_or("(no target)".into());
            let status = entry.status().code();
            writeln!(report, "{} {status}{gone} {target}", entry.short_url()).unwrap();
            for alias in entry.aliases() {
                writeln!(report, "  {}", site.short_url(alias)).unwrap();
            }
        }
    }
    for expectation in &compilation.expectations {
        if let Some(failure) = expectation.check(table, NOW) {
            report += &reported(&failure);
        }
    }
    report
}

fn read(table: &Path) -> Vec<SourceFile> {
    let paths = if table.is_dir() {
        sorted(table, |_| true)
    } else {
        vec![table.to_owned()]
    };
    let file = |path: PathBuf| SourceFile {
        path: path.file_name().unwrap().to_str().unwrap().into(),
        bytes: fs::read(&path).unwrap(),
    };
    paths.into_iter().map(file).collect()
}

fn sorted(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| wanted(path.to_str().unwrap()));
    paths.sort();
    paths
}
