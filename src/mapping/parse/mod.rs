//! From bytes to nodes and typed values, with their positions and every problem found.
//!
//! A fast reader handles the form of most tables, and a YAML parser all others.

pub(super) mod block;
mod block_line;
pub(super) mod lookalike;
mod node;
mod reader;
mod report;
mod stop;
mod values;
pub(super) mod yaml;

pub(crate) use node::{Located, Node};
pub(crate) use reader::{Reader, SeenKeys};
pub(crate) use report::Report;
pub(crate) use stop::{Declined, Stop};
