//! The first load.

use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use waypost::mapping::TableFile;
use waypost::server::{Config, Files, LoadError, Server, Source};
use waypost::source::{Earlier, Fingerprint, Reading, SourceError};

use crate::support::{Running, quiet, until};

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
async fn a_missing_table_is_reported_otherwise_than_a_bad_one() {
    let directory = tempfile::tempdir().unwrap();
    let error = refused(directory.path()).await;
    assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
    assert!(error.diagnostics().is_empty());
}

#[tokio::test]
async fn a_table_that_is_too_large_is_refused_with_its_size_and_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapping.yaml");
    std::fs::write(&path, "mapping: []\n").unwrap();
    let config = Config {
        table_limit: "what the test allows".into(),
        ..quiet()
    };
    let error = Server::load(config, Files::polled(vec![path.clone()], 10)).await;
    let error = error.err().unwrap();
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "the table does not fit into what the test allows"
    );
    let cause = error.source().unwrap().to_string();
    let expected = "is larger than 10 bytes at ";
    assert!(
        cause.contains(expected) && cause.ends_with("it has 12"),
        "{cause}"
    );
}

/// A source that cannot be read until it is allowed to, as a remote that does not answer.
struct Slow {
    table: Files,
    report: Mutex<Receiver<()>>,
}

impl Source for Slow {
    fn describe(&self) -> String {
        self.table.describe()
    }

    fn hints(&self) -> Arc<Notify> {
        self.table.hints()
    }

    fn read(
        &self,
        known: Option<&Fingerprint>,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, SourceError> {
        // Once the test has released it, nothing delays it.
        let _ = self.report.lock().unwrap().recv();
        self.table.read(known, earlier)
    }
}

#[tokio::test]
async fn a_server_without_a_table_reports_its_status() {
    let directory = tempfile::tempdir().unwrap();
    let table =
        "base_url: https://short.code/\nmapping:\n- {url: 'https://e.example/', short-code: x}\n";
    std::fs::write(directory.path().join("mapping.yaml"), table).unwrap();
    let (release, report) = channel();
    let source = Slow {
        table: Files::polled(vec![directory.path().join("mapping.yaml")], 1 << 20),
        report: Mutex::new(report),
    };
    let config = Config {
        wait: true,
        ..quiet()
    };
    let server = Running::on(config, directory, source).await;
    let status = async |path: &str| server.operate("GET", path, "").await.status_line();
    assert_eq!(status("/livez").await, "HTTP/1.1 200 OK");
    let unavailable = "HTTP/1.1 503 Service Unavailable";
    assert_eq!(status("/readyz").await, unavailable);
    assert_eq!(server.get("/x").await.status_line(), unavailable);
    let page = server.ask("GET", "/x", "Accept: text/html\r\n").await;
    assert_eq!(page.status_line(), unavailable);
    assert_eq!(page.header("retry-after").unwrap(), "5");
    assert_eq!(page.header("cache-control").unwrap(), "no-store");
    let text = page.text();
    assert!(text.contains("<h1>Not available right now</h1>"), "{text}");
    assert!(!text.contains("revision"), "{text}");

    drop(release);
    until(async || status("/readyz").await == "HTTP/1.1 200 OK").await;
    assert_eq!(server.get("/x").await.status_line(), "HTTP/1.1 302 Found");
}
