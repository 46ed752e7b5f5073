//! SARIF 2.1.0, the OASIS standard that code-scanning services and editors read.
//!
//! Section numbers below are those of the standard.

use std::io::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::findings::{Findings, plain_path, with_hint};
use super::fingerprint::Fingerprints;
use super::lines::with_lines;
use crate::cli::explain;
use crate::mapping::Rule;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The page of rules, whose headings are their names.
const PAGE: &str = "https://github.com/waypost/waypost/blob/main/docs/rules.md";

/// All but the unreserved characters of RFC 3986, section 2.3, and the slashes of a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

pub(crate) fn write(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let mut rules: Vec<Rule> = Vec::new();
    let mut results = Vec::new();
    for (diagnostic, line) in with_lines(findings) {
        let place = &diagnostic.place;
        let rule = diagnostic.rule;
        let index = match rules.iter().position(|&known| known == rule) {
            Some(index) => index,
            None => {
                rules.push(rule);
                rules.len() - 1
            }
        };
        let path = plain_path(&place.file);
        // The only fingerprint that GitHub reads.
        let text = line.as_ref().map_or("", |line| line.text());
        let fingerprint = fingerprints.next(path, rule.name(), place.position.line, text);
        results.push(json!({
            "ruleId": rule.name(),
            "ruleIndex": index,
            "level": diagnostic.severity().as_str(),
            "message": { "text": with_hint(diagnostic) },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": artifact(path),
                    "region": {
                        "startLine": place.position.line,
                        "startColumn": place.position.column,
                    },
                },
            }],
            "partialFingerprints": { "primaryLocationLineHash": fingerprint },
        }));
    }
    let rules: Vec<_> = rules.into_iter().map(described).collect();
    let mut log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "waypost",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    if findings.unlisted() > 0 {
        // A property bag (3.8): the standard has no key for results that are left out.
        log["runs"][0]["properties"] = json!({ "unlisted": findings.unlisted() });
    }
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Returns the description of a rule (3.49).
fn described(rule: Rule) -> Value {
    let description = rule.description();
    json!({
        "id": rule.name(),
        "shortDescription": { "text": explain::plain(description.meaning) },
        "fullDescription": { "text": explain::plain(description.explanation).replace('\n', " ") },
        "helpUri": format!("{PAGE}#{rule}"),
        "help": { "text": explain::text(rule), "markdown": explain::markdown(rule) },
        "defaultConfiguration": { "level": rule.severity().as_str() },
    })
}

/// Returns the location of a file: relative to the top of the checkout, which each reader knows
/// (3.4.4).
fn artifact(path: &str) -> Value {
    let escaped = utf8_percent_encode(path, ESCAPED);
    match path.starts_with('/') {
        true => json!({ "uri": format!("file://{escaped}") }),
        false => json!({ "uri": escaped.to_string(), "uriBaseId": "%SRCROOT%" }),
    }
}
