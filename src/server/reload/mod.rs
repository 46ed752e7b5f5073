//! Reloading: checking the source, compiling in the background, and swapping once.

mod background;
mod files;
mod reloader;
mod remote;

pub(crate) use background::{begin, in_background};
pub use files::Files;
pub(crate) use reloader::{ReloadReport, Reloader, Reloads, channel};
pub use remote::RemoteSource;
