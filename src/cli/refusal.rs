//! Reports of refused changes, for the commands that change tables.

use std::fmt::Display;
use std::io::{Write as _, stderr};

use super::arguments::table;
use super::terminal::{Error, complain, legible};
use crate::mapping::Diagnostic;
use crate::registry::{Holder, RegistrationRefusal};

/// Reports why nothing was added, with the problems of the table and a hint.
pub(super) fn report(refusal: &RegistrationRefusal, hint: Option<&str>) -> Result<(), Error> {
    if let RegistrationRefusal::TableHasErrors(problems)
    | RegistrationRefusal::CannotInsert { problems, .. }
    | RegistrationRefusal::CannotInsertAny { problems } = refusal
    {
        table::report(problems)?;
    }
    let problems = match refusal {
        RegistrationRefusal::Unsound { problems } => &problems[..],
        _ => &[],
    };
    report_reason(refusal, problems, hint)
}

/// Reports why a table is not changed, with the problems that it would have, and a hint.
pub(super) fn report_reason(
    reason: &impl Display,
    problems: &[Diagnostic],
    hint: Option<&str>,
) -> Result<(), Error> {
    complain(&legible(&reason.to_string()));
    for problem in problems {
        // Its place is in a text that was not written.
        writeln!(stderr(), "  error: {}", legible(&problem.message))?;
        if let Some(hint) = &problem.hint {
            writeln!(stderr(), "  hint: {}", legible(hint))?;
        }
    }
    end(hint)
}

/// Reports a link that already leads to a URL. Scripts match the beginning of the first line.
pub(super) fn report_holder(
    reason: &impl Display,
    holder: &Holder,
    hint: Option<&str>,
) -> Result<(), Error> {
    let gone = if holder.is_gone {
        " (retired or expired)"
    } else {
        ""
    };
    writeln!(stderr(), "{reason}")?;
    writeln!(stderr(), "  {}{gone}", legible(&holder.short_url))?;
    writeln!(stderr(), "  {}", legible(&holder.place.to_string()))?;
    end(hint)
}

fn end(hint: Option<&str>) -> Result<(), Error> {
    if let Some(hint) = hint {
        writeln!(stderr(), "  hint: {}", legible(hint))?;
    }
    Err(Error::Reported)
}
