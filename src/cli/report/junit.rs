//! JUnit XML: each file of a table is a test case, and so is each test in it.
//!
//! There is no single schema; this output is what Jenkins, GitLab and similar tools read. If the
//! table has errors, its tests did not run and count as skipped.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use super::findings::{Findings, plain_path};
use crate::mapping::{Diagnostic, Expectation, SourceFile};

/// One test case: its subject and its result.
struct Case<'f> {
    file: &'f str,
    name: String,
    ending: CaseEnding<'f>,
}

enum CaseEnding<'f> {
    /// It passed, perhaps with warnings.
    Passed(Vec<&'f Diagnostic>),
    Failed(Vec<&'f Diagnostic>),
    Skipped,
}

/// Writes the findings of a command.
pub(crate) fn write(findings: &Findings, command: &str, out: &mut dyn Write) -> io::Result<()> {
    let cases = cases(findings);
    let failures = cases
        .iter()
        .filter(|it| matches!(it.ending, CaseEnding::Failed(_)));
    let skipped = cases
        .iter()
        .filter(|it| matches!(it.ending, CaseEnding::Skipped));
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, "<testsuites>")?;
    writeln!(
        out,
        r#"  <testsuite name="waypost {command}" tests="{}" failures="{}" errors="0" skipped="{}">"#,
        cases.len(),
        failures.count(),
        skipped.count(),
    )?;
    if findings.unlisted() > 0 {
        writeln!(
            out,
            r#"    <properties><property name="unlisted" value="{}"/></properties>"#,
            findings.unlisted()
        )?;
    }
    for case in &cases {
        write_case(case, out)?;
    }
    writeln!(out, "  </testsuite>")?;
    writeln!(out, "</testsuites>")
}

fn cases(findings: &Findings) -> Vec<Case<'_>> {
    let failed = findings.failed_tests();
    let mut of_files: HashMap<&str, Vec<&Diagnostic>> = HashMap::new();
    for diagnostic in findings.diagnostics() {
        if !failed.contains_key(&diagnostic.place) {
            let of_file = of_files.entry(&diagnostic.place.file).or_default();
            of_file.push(diagnostic);
        }
    }
    let of_file = |file: &SourceFile| {
        let reported = of_files.get(&*file.path).cloned().unwrap_or_default();
        match reported.iter().any(|it| findings.is_refusal(it)) {
            true => CaseEnding::Failed(reported),
            false => CaseEnding::Passed(reported),
        }
    };
    let of_test = |test: &Expectation| match failed.get(test.place()) {
        Some(error) => CaseEnding::Failed(vec![error]),
        None if findings.compilation.table.is_none() => CaseEnding::Skipped,
        None => CaseEnding::Passed(Vec::new()),
    };
    let files = findings.files.iter().map(|file| Case {
        file: plain_path(&file.path),
        name: "entries".to_owned(),
        ending: of_file(file),
    });
    let tests = findings.compilation.expectations.iter().map(|test| Case {
        file: plain_path(&test.place().file),
        name: format!("test of {}", test.from()),
        ending: of_test(test),
    });
    files.chain(tests).collect()
}

fn write_case(case: &Case<'_>, out: &mut dyn Write) -> io::Result<()> {
    let file = escaped(case.file);
    let name = escaped(&case.name);
    write!(
        out,
        r#"    <testcase classname="{file}" name="{name}" file="{file}""#
    )?;
    match &case.ending {
        CaseEnding::Passed(reported) if reported.is_empty() => return writeln!(out, "/>"),
        CaseEnding::Passed(reported) => {
            writeln!(out, ">")?;
            writeln!(out, "      <system-out>{}</system-out>", lines(reported))?;
        }
        CaseEnding::Failed(reported) => {
            let message = match &reported[..] {
                [only] => escaped(&only.message),
                _ => format!("{} problems", reported.len()),
            };
            let rules: BTreeSet<_> = reported.iter().map(|it| it.rule).collect();
            let kind = match rules.first() {
                Some(rule) if rules.len() == 1 => format!(r#" type="{rule}""#),
                _ => String::new(),
            };
            writeln!(out, ">")?;
            writeln!(
                out,
                r#"      <failure message="{message}"{kind}>{}</failure>"#,
                lines(reported)
            )?;
        }
        CaseEnding::Skipped => {
            writeln!(out, ">")?;
            writeln!(out, r#"      <skipped message="the table has errors"/>"#)?;
        }
    }
    writeln!(out, "    </testcase>")
}

fn lines(diagnostics: &[&Diagnostic]) -> String {
    let lines = diagnostics.iter();
    let lines: Vec<_> = lines
        .map(|it| format!("{it}\n  rule: {}", it.rule))
        .collect();
    escaped(&lines.join("\n"))
}

/// Escapes a text for content and attributes; characters that are invalid in XML (XML 1.0, section
/// 2.2) are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}
