//! Logs: to standard output, as text for people or JSON for collectors.

use std::io::{IsTerminal as _, stdout};

use clap::ValueEnum;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{fmt, registry};

use super::log_filter::LogFilter;

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

/// Sends the log to standard output from now on.
pub(super) fn start(format: LogFormat, filter: LogFilter) {
    let layer = fmt::layer()
        .with_target(filter.admits_libraries())
        // Whoever read the log may have gone, which is no reason to write elsewhere.
        .log_internal_errors(false);
    let layer = match format {
        LogFormat::Text => layer.with_ansi(stdout().is_terminal()).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    registry()
        .with(layer.with_filter(filter.into_targets()))
        .init();
}
