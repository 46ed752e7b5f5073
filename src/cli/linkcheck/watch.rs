//! Continuous checking: it follows the table, until a signal ends it.

use std::convert::Infallible;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use super::change_lines::ChangeLines;
use super::outage;
use crate::cli::arguments::{MAX_BYTES, STDIN, table};
use crate::cli::terminal::{Error, complain};
use crate::frontier::StoreError;
use crate::linkcheck::{Checker, Links};
use crate::mapping::{Compilation, Table, TableFile, Timestamp, compile_read};
use crate::server::{Files, Source as _, signals, stop_requested};
use crate::source::{Earlier, Fingerprint, Reading, SourceError};

/// How often the table is checked for changes if no file event reports one.
const POLL: Duration = Duration::from_secs(30);

/// How often entries that have expired meanwhile are dropped.
const EXPIRY: Duration = Duration::from_secs(3600);

/// Refuses a table whose changes cannot be followed.
pub(super) fn require_files(paths: &[PathBuf]) -> Result<(), Error> {
    match paths.iter().any(|path| path == Path::new(STDIN)) {
        true => Err(Error::usage(
            "standard input cannot be followed: name the file instead",
        )),
        false => Ok(()),
    }
}

/// Checks until a signal ends it, or for the longest time.
pub(super) async fn run(
    checker: Checker,
    paths: &[PathBuf],
    max_time: Option<Duration>,
) -> Result<(), Error> {
    let lines = ChangeLines::new();
    let checker = &Arc::new(lines.printed_by(checker));
    let mut signals = signals().context("cannot receive signals")?;
    let stop = async {
        let time = async {
            match max_time {
                Some(max_time) => sleep(max_time).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = stop_requested(&mut signals) => {}
            () = time => {}
        }
    };
    let printing = lines.print();
    let files = Files::watched(paths.to_vec(), MAX_BYTES);
    let checked = tokio::select! {
        biased;
        checked = checker.watch(stop) => checked,
        failed = follow(checker, files) => failed.map(|never| match never {}),
        never = outage::report(checker) => never,
    };
    printing.end().await;
    Ok(checked.context("cannot keep the results of link checks")?)
}

/// Has the links of the current table checked, whenever it changes; if it has errors, the last good
/// one stays.
async fn follow(checker: &Checker, files: Files) -> Result<Infallible, StoreError> {
    let files = Arc::new(files);
    let hints = files.hints();
    let mut known = None::<Arc<Fingerprint>>;
    let mut latest = None::<(Arc<Table>, Instant)>;
    let mut reported = None::<String>;
    loop {
        let mut wait = POLL;
        let (source, fingerprint) = (Arc::clone(&files), known.clone());
        let before = latest.as_ref().map(|(table, _)| Arc::clone(table));
        let reading = spawn_blocking(move || {
            let reading = source.read(fingerprint.as_deref(), Earlier::default())?;
            let compile = |it: Reading<TableFile>| {
                let compiled = compile_read(&it.files, before.as_deref());
                let compiled = compiled.expect("all text is read if nothing is known from before");
                (Arc::new(it.fingerprint), compiled)
            };
            Ok(reading.map(compile))
        });
        let reading: Result<Option<(Arc<Fingerprint>, Compilation)>, SourceError> =
            reading.await.expect("reading and compiling do not panic");
        let mut next = None;
        match reading {
            Ok(Some((fingerprint, compilation))) => {
                known = Some(fingerprint);
                reported = None;
                next = compilation.table.map(Arc::new);
                if next.is_none() {
                    // Standard error may have been closed.
                    let _ = table::report(&compilation.diagnostics);
                    complain("the table has errors: its last good version is still checked");
                }
            }
            Ok(None) => reported = None,
            Err(error) => {
                wait = error.unsettled().unwrap_or(POLL);
                let message = format!("{:#}", anyhow::Error::from(error));
                if wait == POLL && reported.as_ref() != Some(&message) {
                    complain(&message);
                    reported = Some(message);
                }
            }
        }
        if next.is_none()
            && let Some((table, _)) = latest.take_if(|(_, at)| at.elapsed() >= EXPIRY)
        {
            next = Some(table);
        }
        if let Some(table) = next {
            let now = Timestamp::from(SystemTime::now());
            let set = checker.set_links(Links::of(&table, now, |_| true));
            set.await?;
            latest = Some((table, Instant::now()));
        }
        // A hint only makes the next check earlier.
        let _ = timeout(wait, hints.notified()).await;
    }
}
