//! What is fuzzed: the mapping layer, straight from its source.
//!
//! That layer imports nothing but itself, so it stands alone here. To depend on the whole crate
//! instead would build libgit2, OpenSSL and the server for nothing: most of the time this took.

#[path = "../../src/mapping/mod.rs"]
pub mod mapping;
