//! The output formats of the commands that report findings, and how such a command ends.
//!
//! A JSON document has what one command knows, so each command writes its own.

use std::io::{self, BufWriter, Write, stderr, stdout};

use clap::ValueEnum;

use super::findings::Findings;
use super::{github, gitlab, human, junit, sarif};
use crate::cli::terminal::Error;

/// A format in which every such command writes its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Lines with the source below them, in colour on a terminal
    Human,
    /// One JSON document
    Json,
    /// Annotations of GitHub Actions
    Github,
    /// A code-quality report of GitLab
    Gitlab,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML
    Junit,
}

impl ReportFormat {
    /// Writes the findings of a command, which writes its own JSON document.
    pub(crate) fn write(
        self,
        findings: &Findings,
        command: &str,
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Human => human::write(findings, &human::Palette::for_stdout(), out),
            Self::Json => json(out),
            Self::Github => github::write(findings, command, out),
            Self::Gitlab => gitlab::write(findings, out),
            Self::Sarif => sarif::write(findings, out),
            Self::Junit => junit::write(findings, command, out),
        }
    }
}

/// Ends a command: has its findings written to standard output, and a summary to standard error.
///
/// # Errors
///
/// The output cannot be written, or a finding makes the command fail.
pub(crate) fn finish(
    findings: &Findings,
    summary: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    write(&mut out)?;
    out.flush()?;
    writeln!(stderr(), "{summary}")?;
    match findings.is_refused() {
        true => Err(Error::Reported),
        false => Ok(()),
    }
}
