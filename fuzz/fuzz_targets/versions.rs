//! Versions of a table's file, parted by NULs, which no YAML holds: compiling each after the one
//! before gives what compiling it from nothing gives.

#![no_main]

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::mapping::{Entry, SourceFile, Table, compile, compile_after};

fuzz_target!(|bytes: &[u8]| {
    let mut before: Option<Table> = None;
    for bytes in bytes.splitn(4, |byte| *byte == 0) {
        let files = [SourceFile::new("a.yaml".into(), bytes.to_vec())];
        let changed = compile_after(&files, before.as_ref());
        let whole = compile(&files);
        assert_eq!(changed.diagnostics, whole.diagnostics);
        assert_eq!(changed.expectations, whole.expectations);
        assert_eq!(
            changed.table.as_ref().map(described),
            whole.table.as_ref().map(described)
        );
        before = changed.table.or(before);
    }
});

/// Returns what can be seen of a table: its sites, with their entries in written order.
fn described(table: &Table) -> Vec<String> {
    let sites = table.sites().iter().map(|site| {
        let entries: Vec<_> = site.entries().map(seen).collect();
        let about = (
            site.base_url(),
            site.scheme(),
            site.new_code(),
            site.about(),
        );
        format!("{about:?} {:?} {entries:?}", site.highest_number())
    });
    sites.collect()
}

/// Returns what can be seen of an entry, and whether each of its codes leads to it.
fn seen(entry: Entry<'_>) -> String {
    let site = entry.site();
    let leads_here = |code: &str| site.lookup(code).map(|it| it.place()) == Some(entry.place());
    let codes = (entry.code(), entry.aliases().collect::<Vec<_>>());
    let leads = (
        leads_here(&codes.0),
        codes.1.iter().map(|it| leads_here(it)).collect::<Vec<_>>(),
    );
    let texts = (
        entry.title(),
        entry.owner(),
        entry.tags().collect::<Vec<_>>(),
        entry.archive(),
    );
    let shape = (
        entry.status(),
        entry.forward(),
        entry.cache_max_age(),
        entry.gone_from(),
    );
    format!(
        "{} {:?} {codes:?} {leads:?} {texts:?} {shape:?}",
        entry.place(),
        entry.target()
    )
}
