//! The decision on registrations, a pure function of the table's files and the requests: which
//! code, which file, and the proof that the result is the old table plus these entries; and, for
//! proposals by anyone, the expected result of a request, from look-ups alone (`proposed_link`).

mod addition;
mod base;
mod batch;
mod bisection;
pub(super) mod choice;
mod insertion;
pub(super) mod placement;
mod proof;
mod proposal_base;
mod proposed_link;
mod reach;
mod refusal;
pub(super) mod register;
mod request;

pub(crate) use addition::{Addition, check_texts};
pub(crate) use base::{Base, with};
pub use batch::{Decision, Registered, register_all};
pub(crate) use bisection::{Bisection, Effort};
pub use proof::ProvedTable;
pub use proposal_base::ProposalBase;
pub use proposed_link::{ProposedLink, propose};
pub use reach::CodeUnreachable;
pub(crate) use reach::check_reach;
pub use refusal::{ControlCharacter, Holder, RegistrationRefusal};
pub use register::{Registration, register};
pub use request::{Destination, MayShadow, RegistrationRequest, RequestedCode};
