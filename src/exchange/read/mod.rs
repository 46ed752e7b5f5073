//! Reads tables in foreign formats: bytes in, rows out, each with its line.
//!
//! `records` has the formats with one record per link, `configuration` those of web servers, and
//! `rows` the parameters and results of every reader.
//!
//! Invariants: a row that cannot be accepted is reported with the reason, never dropped; a row of
//! records is passed on as soon as it is read, so only the file itself is in memory.

mod configuration;
mod encoding;
mod guess;
mod import_format;
mod plain_lines;
mod records;
mod rows;

pub use encoding::{Encoding, in_utf8};
pub use import_format::{ImportFormat, read_tree};
pub use plain_lines::{in_plain_lines, is_text};
pub(crate) use records::NO_TEXT;
pub use rows::{
    Column, ConfigurationTree, Deviation, ImportedLink, ImportedRow, Options, ReadError, RowError,
};
