//! From bytes to nodes and typed values, with their positions and every problem found.

pub(super) mod block;
mod cut;
pub(super) mod lookalike;
mod node;
mod reader;
mod report;
mod stop;
pub(super) mod text;
mod values;
pub(super) mod yaml;

pub(crate) use cut::{Cut, cut};
pub(crate) use node::{Located, Node};
pub(crate) use reader::{Reader, SeenKeys};
pub(crate) use report::Report;
pub(crate) use stop::Stop;
