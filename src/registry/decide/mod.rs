//! The decision on a registration: a pure function of the table's files and the request.

mod batch;
pub(super) mod choice;
mod draft;
mod drafts;
pub(super) mod placement;
mod proof;
mod refusal;
pub(super) mod register;
mod request;

pub use batch::{Batch, Registered, register_all};
pub(crate) use draft::check_texts;
pub(crate) use proof::{Base, Shadowing};
pub use refusal::{Holder, RegistrationRefusal};
pub use register::{Registration, register};
pub use request::{Destination, MayShadow, RegistrationRequest, RequestedCode};
