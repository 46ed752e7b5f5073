//! Diagnostics, and the rules that they name.

mod diagnostic;
mod rule;

pub(crate) use diagnostic::{Checkpoint, MAX_PROBLEMS, Problems};
pub use diagnostic::{Diagnostic, Place, Position};
pub use rule::{Description, Example, Rule, Severity};
