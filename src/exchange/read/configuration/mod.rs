//! Configurations of web servers, from which the redirects of single paths are read.

pub(crate) mod apache;
mod below;
mod directives;
mod expression_text;
pub(crate) mod nginx;
mod occurrences;
mod pattern;
mod pattern_index;
