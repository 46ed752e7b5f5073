//! Merging by meaning: examples as data, and what must hold of any merge.

#![allow(clippy::unwrap_used)]

mod examples;
mod model;
mod random;
