//! Refusals of new links, as the commands that add links report them.

use std::io::{Write as _, stderr};

use super::arguments::table;
use super::terminal::{Error, complain, legible};
use crate::registry::RegistrationRefusal;

/// Reports why nothing was added, with the problems of the table and a hint.
pub(super) fn report(refusal: &RegistrationRefusal, hint: Option<&str>) -> Result<(), Error> {
    if let RegistrationRefusal::TableHasErrors(problems)
    | RegistrationRefusal::CannotInsert { problems, .. }
    | RegistrationRefusal::CannotInsertAny { problems } = refusal
    {
        table::report(problems)?;
    }
    complain(&refusal.to_string());
    if let RegistrationRefusal::Unsound { problems } = refusal {
        for problem in problems {
            // Its place is in a text that was not written.
            writeln!(stderr(), "  error: {}", legible(&problem.message))?;
            if let Some(hint) = &problem.hint {
                writeln!(stderr(), "  hint: {}", legible(hint))?;
            }
        }
    }
    if let Some(hint) = hint {
        writeln!(stderr(), "  hint: {hint}")?;
    }
    Err(Error::Reported)
}
