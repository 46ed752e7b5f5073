//! What is fuzzed: the mapping layer and what reads foreign forms and robots.txt, straight from their
//! source.
//!
//! They import nothing but each other, so they stand alone here. To depend on the whole crate
//! instead would build libgit2, OpenSSL and the server for nothing: most of the time this took.

#[path = "../../src/mapping/mod.rs"]
pub mod mapping;

#[path = "../../src/linkcheck/polite/mod.rs"]
pub mod polite;

#[path = "../../src/exchange/read/mod.rs"]
pub mod read;
