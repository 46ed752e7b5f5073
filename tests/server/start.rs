//! The first load.

use std::path::Path;

use waypost::server::{Files, LoadError, Server};

use crate::support::quiet;

async fn refused(directory: &Path) -> LoadError {
    let source = Files::polled(vec![directory.join("mapping.yaml")], 1 << 20);
    match Server::load(quiet(), source).await {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_table_with_errors_is_refused_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("mapping.yaml"), "mapping: 1\n").unwrap();
    let error = refused(directory.path()).await;
    assert!(matches!(error, LoadError::Rejected { .. }), "{error}");
    assert!(error.diagnostics().iter().any(|one| one.is_error()));
}

#[tokio::test]
async fn a_table_that_is_not_there_is_told_apart_from_a_bad_one() {
    let directory = tempfile::tempdir().unwrap();
    let error = refused(directory.path()).await;
    assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
    assert!(error.diagnostics().is_empty());
}
