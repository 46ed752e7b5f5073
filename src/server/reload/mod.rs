//! Reloading: checking the source (files or a followed repository), compiling in the background,
//! and swapping in one step.

mod background;
mod files;
mod loader;
mod outcome;
mod reloader;
mod remote;
mod requests;

pub(crate) use background::{begin, give_way, in_background};
pub use files::Files;
pub(crate) use outcome::ReloadReport;
pub(crate) use reloader::Reloader;
pub use remote::RemoteSource;
pub(crate) use requests::{Reloads, channel};
