//! Logs: to standard output, as text for people or JSON for collectors.

use std::io::{IsTerminal as _, stdout};

use clap::ValueEnum;
use tracing::Level;

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// Sends the log to standard output from now on.
pub(super) fn start(format: LogFormat) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::INFO)
        .with_target(false)
        // Whoever read the log may have gone, which is no reason to write elsewhere.
        .log_internal_errors(false);
    match format {
        LogFormat::Text => subscriber.with_ansi(stdout().is_terminal()).init(),
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
}
