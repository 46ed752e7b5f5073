//! Editing links: what `set`, `retarget`, `retire` and `restore` do to files, and report.

#![allow(clippy::unwrap_used)]

mod every_table;
mod program;
mod published;
