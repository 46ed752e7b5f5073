//! The compiled table in memory: sites, their entries, and the indexes over them; and the next
//! version of a site, made from its changes (docs/decisions/0008).

mod catalogue;
mod changed;
mod draft;
mod entry;
mod lookup;
mod nesting;
mod review_scope;
mod shared_pieces;
mod site;
mod stores;
mod table;
mod unknown_site;
mod variant;

pub(crate) use catalogue::Catalogue;
pub(crate) use changed::ChangedSite;
pub(crate) use draft::{Draft, Owner};
pub use entry::Entry;
pub(crate) use review_scope::ReviewScope;
pub(crate) use shared_pieces::{Differing, SharedRun};
pub(crate) use site::Head;
pub use site::Site;
pub use stores::TargetParts;
pub(crate) use stores::{
    Arena, CodeKind, Hosts, Kept, KeptNumbers, Listed, Moves, NoteKind, Part, PartedDocument,
    Piece, Record, Shape, Targets, Term, Text, Unsaid, index,
};
pub(crate) use table::Found;
pub use table::Table;
pub use unknown_site::UnknownSite;
pub(crate) use unknown_site::first_of;
pub use variant::{OwnedVariant, Variant};
