//! Pairs of tables: the published links that a table breaks, and those that it lets end soon.
//!
//! Each folder under `tests/pairs` has two tables, `before.yaml` and `after.yaml`; the text next to
//! it has every link that the second breaks, and its warnings of dates. `WAYPOST_REWRITE=1 cargo
//! test` writes those texts anew.

use std::fs;
use std::path::{Path, PathBuf};

use waypost::mapping::{
    Origin, SourceFile, Statements, Table, Timestamp, breaches, compile, near_ends,
};

use super::reported::reported;

/// A fixed time, 2026-11-21T00:00:00Z.
const NOW: Timestamp = Timestamp::from_unix(1_795_219_200);

#[test]
fn changes_break_what_is_expected() {
    let folders = fs::read_dir("tests/pairs").unwrap();
    let folders = folders.map(|it| it.unwrap().path());
    let mut folders: Vec<_> = folders.filter(|it| it.is_dir()).collect();
    folders.sort();
    assert!(folders.len() > 3, "{folders:?}");
    for folder in folders {
        let [before, after] = ["before.yaml", "after.yaml"].map(|name| table(&folder.join(name)));
        let origin = Origin {
            commit: "COMMIT".to_owned(),
            day: "DAY".to_owned(),
        };
        let broken = breaches(&before, &origin, &after, &Statements::default());
        let near = near_ends(&before, &after, NOW);
        let found = broken.iter().map(|it| &it.diagnostic).chain(&near);
        let report: String = found.map(reported).collect();
        let beside = PathBuf::from(format!("{}.expected", folder.display()));
        if std::env::var_os("WAYPOST_REWRITE").is_some() {
            fs::write(&beside, &report).unwrap();
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        assert_eq!(report, expected, "{folder:?}");
    }
}

fn table(path: &Path) -> Table {
    let file = SourceFile {
        path: path.file_name().unwrap().to_str().unwrap().into(),
        bytes: fs::read(path).unwrap(),
    };
    let compilation = compile(&[file]);
    compilation
        .table
        .unwrap_or_else(|| panic!("{path:?}: {:#?}", compilation.diagnostics))
}
