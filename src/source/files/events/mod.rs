//! Events about the files of a table, and whether their writers are done.

mod places;
mod settling;
mod watch;
mod writers;

pub use settling::Rests;
pub use watch::Watch;
pub use writers::Writers;
