//! The documents of a table: their names and text, their pieces, and what they say about themselves.

mod about;
mod piece_id;
mod source_file;
mod table_name;

pub use about::{About, ProposalTemplate};
pub(crate) use about::{AboutError, CollectionName, Contact};
pub use piece_id::KnownPieces;
pub(crate) use piece_id::{PieceExtent, PieceHash, PieceId};
pub use source_file::SourceFile;
pub use table_name::is_table_name;
