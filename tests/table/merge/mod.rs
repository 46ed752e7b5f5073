//! Merging by meaning: examples as data, what must hold of any merge, and the driver in real
//! repositories.

#![allow(clippy::unwrap_used)]

mod driver;
mod examples;
mod model;
mod random;
