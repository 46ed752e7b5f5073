//! The output formats of `waypost linkcheck`: those of every report, and an issue's text.

use std::io::{self, Write};
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::conclusions::Conclusions;
use super::{json, markdown};
use crate::cli::report::{Findings, ReportFormat};
use crate::linkcheck::Verdict;

/// A format in which the verdicts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerdictFormat {
    Report(ReportFormat),
    Markdown,
}

static ALL: LazyLock<Vec<VerdictFormat>> = LazyLock::new(|| {
    let reports = ReportFormat::value_variants().iter();
    let reports = reports.map(|format| VerdictFormat::Report(*format));
    reports.chain([VerdictFormat::Markdown]).collect()
});

impl ValueEnum for VerdictFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Report(format) => format.to_possible_value(),
            Self::Markdown => {
                let value = PossibleValue::new("markdown");
                Some(value.help("A report for an issue that a bot updates"))
            }
        }
    }
}

impl VerdictFormat {
    /// Returns whether this is for people at a terminal.
    pub(super) fn is_for_people(self) -> bool {
        matches!(self, Self::Report(ReportFormat::Human))
    }

    /// Returns whether links with a verdict are reported one by one.
    pub(super) fn reports(self, verdict: Verdict) -> bool {
        self == Self::Report(ReportFormat::Json) || verdict.rule().is_some()
    }

    /// Writes the results for the links: as findings about the table, or for each link.
    pub(super) fn write(
        self,
        findings: &Findings,
        conclusions: &Conclusions,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Report(format) => {
                let json = |out: &mut dyn Write| json::write(conclusions, out);
                format.write(findings, "linkcheck", json, out)
            }
            Self::Markdown => markdown::write(conclusions, out),
        }
    }
}
