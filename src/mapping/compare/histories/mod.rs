//! What the tables of a history promised, commit by commit.

mod goal;
mod neighbourhood;
mod promise;
mod promises;
mod site_promises;

pub use neighbourhood::Neighbourhood;
pub use promises::Promises;
