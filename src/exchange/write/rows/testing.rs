//! A table for tests of writers.

use crate::mapping::{SourceFile, Table, compile};

/// Returns a table of one site with these entries.
pub(crate) fn site_of(entries: &str) -> Table {
    let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into_bytes(),
    };
    compile(&[file]).table.unwrap()
}
