//! The properties of an entry, their defaults, and points in time.

mod date_error;
mod defaults;
mod properties;
mod timestamp;
mod written_date;

pub(crate) use date_error::date_error;
pub use defaults::Defaults;
pub use properties::{DEFAULT_MAX_AGE, Forward, Misfit, NewCode, Retired, Status};
pub use timestamp::Timestamp;
pub use written_date::{WrittenDate, WrittenDateError, WrittenRetirement};
