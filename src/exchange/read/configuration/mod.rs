//! Configurations of web servers, from which the redirects of single paths are read.

pub(crate) mod apache;
mod automaton;
mod below;
pub(crate) mod caddy;
mod decision;
mod directives;
mod expression_text;
mod links;
pub(crate) mod nginx;
mod occurrences;
mod pattern;
mod pattern_index;
mod written_paths;
