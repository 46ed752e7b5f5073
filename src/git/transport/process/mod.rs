//! The process itself: fetches, pushes and repacking.

mod advertised;
mod fetch;
mod fetch_source;
mod packing;
mod push;
mod session;
mod wire_source;
mod worker;

pub use push::Pushed;
pub use worker::run_transfer;
