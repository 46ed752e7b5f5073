//! One JSON document, as described in `docs/check.schema.json`.
//!
//! Keys may be added to it; any other change increases the version.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::report::Findings;

const VERSION: u32 = 1;

#[derive(Serialize)]
struct CheckJson<'f> {
    version: u32,
    diagnostics: Vec<ReportedDiagnostic<'f>>,
    summary: Summary,
}

#[derive(Serialize)]
struct ReportedDiagnostic<'f> {
    file: &'f str,
    line: u32,
    column: u32,
    severity: &'static str,
    rule: &'static str,
    message: &'f str,
    hint: Option<&'f str>,
}

#[derive(Serialize)]
struct Summary {
    entries: Option<usize>,
    errors: usize,
    warnings: usize,
    denied: usize,
    tests_run: usize,
    tests_failed: usize,
    unlisted: usize,
}

pub(super) fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics = findings
        .diagnostics()
        .iter()
        .map(|diagnostic| ReportedDiagnostic {
            file: &diagnostic.place.file,
            line: diagnostic.place.position.line,
            column: diagnostic.place.position.column,
            severity: diagnostic.severity().as_str(),
            rule: diagnostic.rule.name(),
            message: &diagnostic.message,
            hint: diagnostic.hint.as_deref(),
        });
    let document = CheckJson {
        version: VERSION,
        diagnostics: diagnostics.collect(),
        summary: Summary {
            entries: findings.entries(),
            errors: findings.errors(),
            warnings: findings.warnings(),
            denied: findings.denied(),
            tests_run: findings.tests_run(),
            tests_failed: findings.failed_tests().len(),
            unlisted: findings.unlisted(),
        },
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
