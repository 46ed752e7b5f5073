//! The compiled table in memory: sites, their entries, and the indexes over them; and the next
//! version of a site, made from its changes (docs/decisions/0008).

mod arena;
mod catalogue;
mod changed;
mod codes;
mod draft;
mod entry;
mod hosts;
mod index;
mod lines;
mod lookup;
mod moves;
mod nesting;
mod notes;
mod pieces;
mod record;
mod renumbering;
mod shapes;
mod shared_pieces;
mod site;
mod stretches;
mod table;
mod target_parts;
mod targets;
mod unknown_site;

pub(crate) use arena::{Arena, Text, index};
pub(crate) use catalogue::Catalogue;
pub(crate) use changed::ChangedSite;
pub(crate) use codes::{CodeKind, Listed};
pub(crate) use draft::{Draft, Owner};
pub use entry::Entry;
pub(crate) use hosts::Hosts;
pub(crate) use moves::Moves;
pub(crate) use notes::{NoteKind, Term};
pub(crate) use pieces::{Part, PartedDocument, Piece};
pub(crate) use record::{Record, Shape, Unsaid};
pub(crate) use renumbering::Renumbering;
pub(crate) use shared_pieces::{Differing, SharedRun};
pub(crate) use site::Head;
pub use site::Site;
pub(crate) use table::Found;
pub use table::Table;
pub use target_parts::TargetParts;
pub(crate) use targets::Targets;
pub use unknown_site::UnknownSite;
pub(crate) use unknown_site::first_of;
