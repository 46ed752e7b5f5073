//! Registering links: what is decided on texts, and what `waypost add` does to files.

#![allow(clippy::unwrap_used)]

mod program;
mod register;
