//! Diagnostics of a table in each format, and which of them make a command fail.

mod excerpt;
mod findings;
mod fingerprint;
pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod human;
pub(crate) mod junit;
mod levels;
mod lines;
mod markdown_value;
pub(crate) mod sarif;

pub(crate) use findings::Findings;
pub(crate) use levels::Levels;
pub(crate) use markdown_value::code;
