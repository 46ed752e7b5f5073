//! Changes of the branch that a server follows: many requests decided and published as one commit.

mod group;
mod registrar;
mod review;

pub use group::{ChangeOutcome, Submission, SubmittedChange};
pub use registrar::{CommittedTable, PublishedGroup, Registrar, RegistrarError};
pub use review::{ReviewBranch, ReviewError};
