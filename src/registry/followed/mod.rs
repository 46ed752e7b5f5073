//! Changes of the branch that a server follows: registrations and edits that are decided together
//! and published as one commit; and links for review, each pushed as a branch of its own.

mod group;
mod registrar;
mod review;

pub use group::{ChangeOutcome, Submission, SubmittedChange};
pub use registrar::{CommittedTable, OfferedTable, PublishedGroup, Registrar, RegistrarError};
pub use review::{ReviewBranch, ReviewError};
