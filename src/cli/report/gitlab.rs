//! A GitLab code-quality report: a merge request shows its problems as new or resolved.
//!
//! The format is defined by "Code Quality", "Import Code Quality results" in GitLab's
//! documentation.

use std::io::{self, Write};

use serde::Serialize;

use super::findings::{Findings, plain_path, with_hint};
use super::fingerprint::Fingerprints;
use super::lines::with_lines;
use crate::mapping::Severity;

#[derive(Serialize)]
struct Issue<'f> {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'f>,
}

#[derive(Serialize)]
struct Location<'f> {
    path: &'f str,
    lines: LineNumbers,
}

#[derive(Serialize)]
struct LineNumbers {
    begin: u32,
}

pub(crate) fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let issues = with_lines(findings).map(|(diagnostic, line)| {
        let path = plain_path(&diagnostic.place.file);
        let number = diagnostic.place.position.line;
        let text = line.as_ref().map_or("", |line| line.text());
        let check_name = diagnostic.rule.name();
        Issue {
            description: with_hint(diagnostic),
            fingerprint: fingerprints.next(path, check_name, number, text),
            check_name,
            severity: match diagnostic.severity() {
                Severity::Error => "major",
                Severity::Warning => "minor",
            },
            location: Location {
                path,
                lines: LineNumbers { begin: number },
            },
        }
    });
    let issues: Vec<_> = issues.collect();
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}
