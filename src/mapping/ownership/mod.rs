//! Who may make which changes of a table: the owners file next to it, and the proposals that it
//! permits.

mod owners;
mod proposal;

pub use owners::Owners;
pub use proposal::{Author, Proposal};
