//! From bytes to nodes and typed values, with their positions and every problem found.

pub(super) mod block;
mod reader;
mod report;
pub(super) mod text;
mod values;
pub(super) mod yaml;

pub(crate) use reader::{Located, Node, Reader, SeenKeys, Stop};
pub(crate) use report::Report;
