//! Workflow commands of GitHub Actions: each problem is an annotation at its line.
//!
//! The forms are those of "Workflow commands for GitHub Actions" in GitHub's documentation; the
//! escapes are those of `@actions/core`, `command.ts`. The log of a step shows only a command's
//! message, so the message includes the place, too.

use std::io::{self, Write};

use super::findings::{Findings, plain_path};
use crate::mapping::Diagnostic;

/// How many annotations of each kind GitHub shows for a step.
const SHOWN: usize = 10;

pub(crate) fn write(findings: &Findings, command: &str, out: &mut dyn Write) -> io::Result<()> {
    for diagnostic in findings.diagnostics() {
        write_annotation(diagnostic, command, out)?;
    }
    let beyond = |count: usize| count.saturating_sub(SHOWN);
    let unseen = beyond(findings.errors()) + beyond(findings.warnings());
    if unseen > 0 {
        // A notice is of another kind, and so is still shown.
        writeln!(
            out,
            "::notice title=waypost {command}::GitHub shows {SHOWN} errors and {SHOWN} warnings of a \
             step: {unseen} further problems are in its log"
        )?;
    }
    Ok(())
}

fn write_annotation(diagnostic: &Diagnostic, command: &str, out: &mut dyn Write) -> io::Result<()> {
    let place = &diagnostic.place;
    let position = place.position;
    let mut message = format!("{place}: {}", diagnostic.message);
    if let Some(hint) = &diagnostic.hint {
        message += &format!("\nhint: {hint}");
    }
    writeln!(
        out,
        "::{} file={},line={},col={},title=waypost {command} ({})::{}",
        diagnostic.severity(),
        property(plain_path(&place.file)),
        position.line,
        position.column,
        diagnostic.rule,
        data(&message)
    )
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a value between commas.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
