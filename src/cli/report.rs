//! Diagnostics of a table in each format, and which of them make a command fail.

mod excerpt;
mod findings;
mod fingerprint;
mod format;
mod github;
mod gitlab;
mod human;
mod junit;
mod levels;
mod lines;
mod markdown_value;
mod sarif;

pub(crate) use findings::Findings;
pub(crate) use format::{ReportFormat, finish};
pub(crate) use levels::Levels;
pub(crate) use markdown_value::code;
