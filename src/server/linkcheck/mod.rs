//! Checking the links of the live table in the background, on a separate thread that yields to
//! serving.
//!
//! Invariants: neither a request nor a reload waits for anything here; a store that fails or
//! disappears stops no server, and the checks continue once it is back.

mod live_links;
mod outages;
mod thread;

pub(crate) use thread::CheckThread;
