//! Real data: the redirects of the OBO Foundry's PURL service, 234 documents of one site.
//!
//! Converted from the configuration of OBOFoundry/purl.obolibrary.org (`config/*.yml`); its
//! licence is next to the documents.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use waypost::mapping::{Diagnostic, Entry, SourceFile, Table, Timestamp, compile, shadowed};

const NOW: Timestamp = Timestamp::from_unix(1_795_219_200);

fn documents() -> Vec<SourceFile> {
    let folder = fs::read_dir("tests/data/obo").unwrap();
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    });
    paths.sort();
    let read = |path: &Path| SourceFile {
        path: path.file_name().unwrap().to_str().unwrap().into(),
        bytes: fs::read(path).unwrap(),
    };
    paths.iter().map(|path| read(path)).collect()
}

#[test]
fn the_documents_compile_as_one_table() {
    let documents = documents();
    assert_eq!(documents.len(), 234);
    let compilation = compile(&documents);
    let errors: Vec<_> = compilation
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let table = compilation.table.unwrap();
    assert_eq!(table.sites().len(), 1);
    assert_eq!(table.len(), 1838);
}

#[test]
fn their_tests_pass_through_resolve() {
    let compilation = compile(&documents());
    let table = compilation.table.unwrap();
    assert_eq!(compilation.expectations.len(), 99);
    let failures: Vec<Diagnostic> = compilation
        .expectations
        .iter()
        .filter_map(|expectation| expectation.check(&table, NOW))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Returns a table of entries of another, without what they say for people.
fn table_of(base_url: &str, entries: &[Entry<'_>]) -> Table {
    let mut text = format!("base_url: {base_url}\nmapping: []\n");
    if !entries.is_empty() {
        text.truncate(text.len() - 3);
        text.push('\n');
    }
    for entry in entries {
        let (code, forward) = (entry.code(), entry.forward().name());
        let aliases: Vec<_> = entry.aliases().collect();
        let target = entry.target().unwrap();
        text += &format!(
            "- {{url: {target:?}, short-code: {code:?}, forward: {forward}, aliases: {aliases:?}}}\n"
        );
    }
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into(),
    };
    compile(&[file]).table.unwrap()
}

#[test]
fn exceptions_shadow_nothing_unless_they_come_later() {
    let all = compile(&documents()).table.unwrap();
    let site = &all.sites()[0];
    let base_url = site.base_url().as_str();
    assert!(shadowed(&table_of(base_url, &[]), &all).is_empty());
    let is_exception = |code: &str| {
        let mut prefixes = code.match_indices('/').map(|(slash, _)| &code[..slash]);
        prefixes.any(|prefix| site.lookup(prefix).is_some_and(|it| it.forward().path()))
    };
    let (exceptions, others): (Vec<_>, Vec<_>) = site
        .entries()
        .partition(|entry| is_exception(&entry.code()));
    assert_eq!(exceptions.len(), 573);
    let old = table_of(base_url, &others);
    let found = shadowed(&old, &all);
    let codes: HashSet<_> = found.iter().map(|it| it.new.code()).collect();
    assert_eq!(codes.len(), 573);
    let (prefixes, others): (Vec<_>, Vec<_>) =
        site.entries().partition(|entry| entry.forward().path());
    assert!(prefixes.len() > 100);
    let old = table_of(base_url, &others);
    let found = shadowed(&old, &all);
    let below: HashSet<_> = found.iter().map(|it| it.old.code()).collect();
    // What lies below a new prefix is no longer repaired.
    let plain = exceptions.iter().filter(|entry| !entry.forward().path());
    assert_eq!(below, plain.map(|entry| entry.code()).collect());
}
