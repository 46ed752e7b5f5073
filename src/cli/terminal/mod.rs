//! Communication with people and scripts: messages, the log, progress, and errors with
//! their exit statuses and remedies.

pub(super) mod complaint;
mod counted;
mod error;
mod event_format;
mod legible;
mod log_filter;
mod log_output;
mod log_queue;
mod log_sink;
pub(super) mod logging;
mod panics;
pub(super) mod progress;
mod pushed;
pub(super) mod remedy;
mod shell_word;
mod with_hint;

pub(crate) use complaint::complain;
pub(crate) use counted::counted;
pub(crate) use error::Error;
pub(crate) use legible::legible;
pub(crate) use log_filter::LogFilter;
pub(crate) use logging::LogFormat;
pub(crate) use pushed::pushed;
pub(crate) use shell_word::shell_word;
pub(crate) use with_hint::with_hint;
