//! Finding and editing links: what `list` reports, and what `set`, `retarget`, `retire` and `restore`
//! do to files.

#![allow(clippy::unwrap_used)]

mod every_table;
mod listed;
mod program;
mod published;
