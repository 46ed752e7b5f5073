//! Checking the links of the live table in the background, on a thread of its own that yields to
//! serving.
//!
//! Invariants: neither a request nor a reload waits for anything here; a store that fails or goes away
//! ends no server, and the checks go on once it is there again.

mod live_links;
mod outages;
mod thread;

pub(crate) use thread::CheckThread;
