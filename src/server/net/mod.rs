//! Connections: accepting them, the threads that serve them, their timeouts, and when they end.
//!
//! This folder knows nothing about tables: the function that answers requests is passed to it.

mod accept_outages;
mod admin_room;
mod client;
mod connection;
mod descriptors;
mod fast_path;
mod inherited;
mod listener;
mod phase;
mod threads;
mod timeouts;

pub(crate) use admin_room::AdminRoom;
#[cfg(feature = "tls")]
pub(crate) use client::{Client, HEAD_BYTES};
pub(crate) use connection::serve_plain;
#[cfg(feature = "tls")]
pub(crate) use connection::{LAST_REQUEST, LINGER, linger, past, serve_http1};
pub use descriptors::room_for;
pub(crate) use fast_path::{AnswersPlain, NoFastPath};
pub use inherited::{Inherited, InheritedError};
pub use listener::{Listener, bind};
pub(crate) use listener::{REDIRECT_CONNECTIONS, accept_all, all_returned, next_permit, prepared};
pub(crate) use phase::{Lifecycle, Phase, Phases};
pub use threads::SERVING_THREAD;
pub(crate) use threads::Threads;
#[cfg(feature = "tls")]
pub(crate) use timeouts::{Heads, TimeoutStream};
pub use timeouts::{Pace, Timeouts};
