//! Who may make which changes of a table: the file of owners beside it, and the proposals that it
//! permits.

mod owners;
mod proposal;

pub use owners::Owners;
pub use proposal::{Author, Proposal};
