//! The text of a table's files, for a writer: read and replaced by parts, wherever the text is.

mod blob_text;
mod compiled;
mod stored_text;
mod table_text;
mod text_file;

pub(crate) use blob_text::{BlobCuts, ReadTipError};
pub(crate) use compiled::compile_text;
pub use stored_text::StoredText;
pub(crate) use table_text::NotCompiled;
pub use table_text::TableText;
pub use text_file::TextFile;
