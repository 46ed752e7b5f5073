//! Real data: the redirects of the OBO Foundry's PURL service, 234 documents of one site.
//!
//! Converted from the configuration of OBOFoundry/purl.obolibrary.org (`config/*.yml`); its
//! licence stands beside the documents.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use waypost::mapping::{Diagnostic, SourceFile, Timestamp, compile};

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
