//! Logs: to standard output, as text for people or JSON for collectors.

use std::fs::File;
use std::io::{self, IsTerminal as _, stdout};
use std::os::fd::AsFd as _;
use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{fmt, registry};

use super::event_format::InTerminal;
use super::log_filter::LogFilter;
use super::log_output::LogOutput;
use super::panics;
use crate::server::LogDrops;

/// How long to wait for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// A log that is being written; on drop, waits a short time for the last lines.
pub(crate) struct Log(LogOutput);

impl Drop for Log {
    fn drop(&mut self) {
        self.0.flush(LAST_LINES);
    }
}

/// Sends the log, including panics, to standard output from now on.
///
/// # Errors
///
/// If the system has no descriptor or no thread for it.
pub(crate) fn start(format: LogFormat, filter: LogFilter, drops: LogDrops) -> io::Result<Log> {
    // Bypasses the standard library's buffer, whose lock would block while it is not read.
    let descriptor = File::from(stdout().as_fd().try_clone_to_owned()?);
    let output = LogOutput::start(descriptor, drops)?;
    let layer = fmt::layer()
        .with_target(filter.admits_libraries())
        // They would go to standard error, which may be a pipe that is not read.
        .log_internal_errors(false)
        .with_writer(output.clone());
    let is_terminal = stdout().is_terminal();
    let layer = match format {
        LogFormat::Text if is_terminal => {
            let ordinary = fmt::format().with_target(filter.admits_libraries());
            layer.event_format(InTerminal(ordinary)).boxed()
        }
        LogFormat::Text => layer.with_ansi(false).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    registry()
        .with(layer.with_filter(filter.into_targets()))
        .init();
    panics::log();
    Ok(Log(output))
}
