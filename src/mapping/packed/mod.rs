//! The compiled table in memory: sites, their entries, and the indexes over them.

mod arena;
mod catalogue;
mod changed;
mod codes;
mod draft;
mod entry;
mod index;
mod lookup;
mod nesting;
mod notes;
mod pieces;
mod record;
mod site;
mod stretches;
mod table;
mod unknown_site;

pub(crate) use arena::{Arena, Text, index};
pub(crate) use catalogue::Catalogue;
pub(crate) use changed::ChangedSite;
pub(crate) use codes::{CodeKind, Listed};
pub(crate) use draft::{Draft, Owner};
pub use entry::Entry;
pub(crate) use notes::{NoteKind, Term};
pub(crate) use pieces::{Part, PartedDocument, Piece, PieceId};
pub(crate) use record::{Record, Shape, Unsaid};
pub(crate) use site::Head;
pub use site::Site;
pub(crate) use table::Found;
pub use table::Table;
pub use unknown_site::UnknownSite;
pub(crate) use unknown_site::first_of;
