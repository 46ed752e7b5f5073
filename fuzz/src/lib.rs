//! What is fuzzed: the mapping layer, changes of entries, and what reads foreign forms and robots.txt,
//! straight from their source.
//!
//! They import nothing but each other, so they stand alone here. To depend on the whole crate
//! instead would build libgit2, OpenSSL and the server for nothing: most of the time this took.

/// What changes entries: merging, beside it, wants libgit2.
#[allow(dead_code, unused_imports)]
#[path = "../../src/edit"]
pub mod edit {
    mod ambiguity;
    pub mod entry;
    mod layout;
    mod obstacle;
    mod refusal;
    mod replace;
    mod scalar;
}

#[path = "../../src/mapping/mod.rs"]
pub mod mapping;

#[path = "../../src/linkcheck/polite/mod.rs"]
pub mod polite;

/// What reads foreign forms: writing them, beside it, wants pages.
#[path = "../../src/exchange"]
pub mod exchange {
    pub mod read;
}

pub use exchange::read;
