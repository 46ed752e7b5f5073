//! Reads tables in foreign formats: bytes in, rows out, each with its line.
//!
//! Invariants: a row that cannot be taken is reported with the reason, never dropped; a row is
//! passed on as soon as it is read, so only the file itself is in memory.

mod apache;
mod beacon;
mod columns;
pub(super) mod csv;
mod directives;
mod encoding;
mod expression;
mod guess;
mod import_format;
mod json_lines;
mod kutt;
mod lines;
mod nginx;
mod options;
mod origin;
mod read_error;
mod redirects;
mod row;

pub use columns::Column;
pub use encoding::{Encoding, in_utf8};
pub use import_format::ImportFormat;
pub use options::Options;
pub use read_error::ReadError;
pub use row::{ImportedLink, ImportedRow, RowError};
