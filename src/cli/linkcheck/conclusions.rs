//! The results of a link check, as input for all formats.

use crate::cli::terminal::counted;
use crate::frontier::StoreError;
use crate::linkcheck::{Checker, Conclusion, LinkRecord, Links, Verdict};
use crate::mapping::{Diagnostic, Timestamp};

/// How many links are read at a time.
const READ_AT_ONCE: usize = 4096;

/// The results for the links of a table.
pub(super) struct Conclusions {
    /// Those that are reported, in the order of their targets.
    pub(super) reported: Vec<Conclusion<'static>>,
    /// How many links have each verdict, in the order of [`Verdict::ALL`].
    counts: [usize; Verdict::ALL.len()],
    requests: usize,
    pub(super) time: Timestamp,
}

impl Conclusions {
    /// Reads the results of a check. Most of millions of links work, and are only counted unless
    /// `wants` is true for them.
    pub(super) async fn of(
        checker: &Checker,
        links: &Links,
        wants: impl Fn(Verdict) -> bool,
    ) -> Result<Self, StoreError> {
        let mut reported = Vec::new();
        let mut counts = [0; Verdict::ALL.len()];
        let mut all = links.all();
        loop {
            let links: Vec<_> = all.by_ref().take(READ_AT_ONCE).collect();
            if links.is_empty() {
                break;
            }
            let asked = links.iter().filter_map(|link| link.resolution.url());
            let records = checker.records(&Vec::from_iter(asked)).await?;
            for conclusion in Conclusion::of_all(&links, records) {
                let verdict = conclusion.verdict;
                if let Some(at) = Verdict::ALL.iter().position(|it| *it == verdict) {
                    counts[at] += 1;
                }
                if wants(verdict) {
                    reported.push(conclusion.into_owned());
                }
            }
        }
        reported.sort_by(|one: &Conclusion<'_>, other| one.link.target.cmp(&other.link.target));
        Ok(Self {
            reported,
            counts,
            requests: checker.progress().requests,
            time: checker.time(),
        })
    }

    /// Updates the count of requests that a check has sent.
    pub(super) fn count_requests(&mut self, checker: &Checker) {
        self.requests = checker.progress().requests;
    }

    /// Returns a diagnostic for each entry whose link does not simply work, in the order of the table.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for conclusion in &self.reported {
            let Some(rule) = conclusion.verdict.rule() else {
                continue;
            };
            for entry in &conclusion.link.uses {
                let message = message(conclusion);
                let diagnostic = Diagnostic::new(rule, entry.place.clone(), message);
                let copy = conclusion.copy().filter(|_| entry.archive.is_none());
                diagnostics.push(match (conclusion.moved_to(), copy) {
                    (Some(to), _) => diagnostic.with_hint(format!("write {to}")),
                    (None, Some(copy)) => diagnostic.with_hint(format!("write archive: {copy}")),
                    (None, None) => diagnostic,
                });
            }
        }
        diagnostics.sort_by(|one, other| one.place.cmp(&other.place));
        diagnostics
    }

    /// Returns the number of links for each verdict, as a line.
    pub(super) fn summary(&self) -> String {
        let counts = Verdict::ALL.iter().zip(self.counts);
        let counts = counts.filter(|(_, count)| *count > 0);
        let counts = counts.map(|(verdict, count)| format!("{count} {verdict}"));
        let counts: Vec<_> = counts.collect();
        let links = counted(self.counts.iter().sum(), "link", "links");
        let requests = counted(self.requests, "request", "requests");
        match counts.is_empty() {
            true => links,
            false => format!("{links}: {}; {requests}", counts.join(", ")),
        }
    }
}

fn message(conclusion: &Conclusion<'_>) -> String {
    let target = &conclusion.link.target;
    let detail = conclusion.detail.as_deref().unwrap_or("not checked yet");
    let day = |time: Option<Timestamp>| {
        let text = time?.to_string();
        Some(text.split('T').next().unwrap_or_default().to_owned())
    };
    let since = day(conclusion.record.as_ref().and_then(LinkRecord::since));
    match (conclusion.verdict, since) {
        (Verdict::Moved, _) => format!("{target} has moved permanently"),
        (Verdict::Dead, Some(since)) => {
            format!("{target} is dead: {detail} (failing since {since})")
        }
        (Verdict::Failing, Some(since)) => {
            format!("{target} does not work: {detail} (failing since {since})")
        }
        (Verdict::Gone, _) => format!("{target} is permanently gone: {detail}"),
        (Verdict::SoftNotFound, _) => {
            format!("{target} is probably a \"not found\" page: {detail}")
        }
        (Verdict::Insecure, _) => format!("{target} is not secure: {detail}"),
        (Verdict::Blocked, _) => format!("{target} blocks automated requests: {detail}"),
        _ => format!("{target}: {detail}"),
    }
}
