//! Environment variables: their precedence, their names, and the secrets that they hold or name.

mod misspelt;
pub(in crate::cli) mod secret;
mod variables;

pub(crate) use misspelt::misspelt;
pub(crate) use variables::{blamed, parse, plain};
