//! Versions of a table's file, separated by NULs, which YAML cannot contain: compiling each after
//! the previous one gives the same as compiling it alone, and so does compiling it while it is read.

#![no_main]

use std::convert::Infallible;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use waypost_fuzz::mapping::{
    Compilation, Entry, FirstReading, SourceFile, Table, TableFile, TextNeeded, Workers, compile,
    compile_after,
};

fuzz_target!(|bytes: &[u8]| {
    let mut before: Option<Table> = None;
    for bytes in bytes.splitn(4, |byte| *byte == 0) {
        let files = [SourceFile::new("a.yaml".into(), bytes.to_vec())];
        let changed = compile_after(&files, before.as_ref());
        let whole = compile(&files);
        assert_same(&changed, &whole);
        if let Ok(first) = compile_first(&files[0]) {
            assert_same(&first, &whole);
        }
        before = changed.table.or(before);
    }
});

fn assert_same(one: &Compilation, other: &Compilation) {
    assert_eq!(one.diagnostics, other.diagnostics);
    assert_eq!(one.expectations, other.expectations);
    assert_eq!(
        one.table.as_ref().map(described),
        other.table.as_ref().map(described)
    );
}

/// The current thread alone, so that each run is the same.
struct Alone;

impl Workers for Alone {
    fn run(&self, job: &(dyn Fn() + Sync)) {
        job();
    }
}

/// Compiles a file while it is read.
fn compile_first(file: &SourceFile) -> Result<Compilation, TextNeeded> {
    let mut steps = file.bytes.chunks(100);
    let read = |buffer: &mut Vec<u8>| {
        let step = steps.next().unwrap_or_default();
        buffer.extend_from_slice(step);
        Ok::<_, Infallible>(step.len())
    };
    let first = FirstReading::default();
    let Ok(cut) = first.read(&file.path, file.bytes.len() as u64, read, &Alone);
    let file = match cut {
        Some(cut) => TableFile::known(Arc::clone(&file.path), Arc::new(cut)),
        None => return Err(TextNeeded),
    };
    first.compile(&[file])
}

/// Returns the observable content of a table: its sites, with their entries in written order.
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

/// Returns the observable content of an entry, and whether each of its codes leads to it.
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
        entry.below(),
        entry.variants().collect::<Vec<_>>(),
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
