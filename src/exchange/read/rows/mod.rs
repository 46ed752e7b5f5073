//! The parameters of every reader, and the rows that it returns.

mod columns;
mod deviation;
mod lines;
mod options;
mod origin;
mod read_error;
pub(crate) mod row;
#[cfg(test)]
pub(crate) mod testing;
mod tree;

pub use columns::Column;
pub(crate) use columns::{ColumnPlaces, is_served, shown};
pub use deviation::Deviation;
pub(crate) use lines::{lines, rows, text};
pub use options::Options;
pub(crate) use origin::{LinkOrigin, ShortLink};
pub use read_error::ReadError;
pub(crate) use row::excerpt;
pub use row::{ImportedLink, ImportedRow, RowError};
pub(crate) use tree::ConfigurationFile;
pub use tree::ConfigurationTree;
