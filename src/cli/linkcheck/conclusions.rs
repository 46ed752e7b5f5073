//! The results of a link check, as input for all formats.

use crate::frontier::StoreError;
use crate::linkcheck::{Checker, LinkRecord, Links, Resolution, TableLink, Verdict};
use crate::mapping::{Diagnostic, Timestamp};

/// How many links are read at a time.
const READ_AT_ONCE: usize = 4096;

/// What is known of a link.
pub(super) struct Conclusion<'c> {
    pub(super) link: &'c TableLink,
    pub(super) verdict: Verdict,
    pub(super) detail: Option<String>,
    /// What was observed, if it was asked.
    pub(super) record: Option<LinkRecord>,
}

/// What is known of all links of a table.
pub(super) struct Conclusions<'c> {
    pub(super) all: Vec<Conclusion<'c>>,
    requests: usize,
    pub(super) time: Timestamp,
}

impl<'c> Conclusions<'c> {
    /// Reads what a check has found.
    pub(super) async fn of(checker: &Checker, links: &'c Links) -> Result<Self, StoreError> {
        let mut all = Vec::with_capacity(links.all().len());
        for links in links.all().chunks(READ_AT_ONCE) {
            let asked = links.iter().filter_map(|link| link.resolution.url());
            let mut records = checker.records(&Vec::from_iter(asked)).await?.into_iter();
            all.extend(links.iter().map(|link| {
                let asked = link.resolution.url();
                conclusion(link, asked.and_then(|_| records.next().flatten()))
            }));
        }
        Ok(Self {
            all,
            requests: checker.progress().requests,
            time: checker.time(),
        })
    }

    /// Returns a diagnostic for each entry whose link does not simply work, in the order of the table.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        for conclusion in &self.all {
            let Some(rule) = conclusion.verdict.rule() else {
                continue;
            };
            for entry in &conclusion.link.uses {
                let message = conclusion.message();
                let diagnostic = Diagnostic::new(rule, entry.place.clone(), message);
                diagnostics.push(match conclusion.moved_to() {
                    Some(to) => diagnostic.with_hint(format!("write {to}")),
                    None => diagnostic,
                });
            }
        }
        diagnostics.sort_by(|one, other| one.place.cmp(&other.place));
        diagnostics
    }

    /// Returns how many links have which verdict, as a line.
    pub(super) fn summary(&self) -> String {
        let counts = Verdict::ALL.iter().filter_map(|verdict| {
            let count = self.all.iter().filter(|it| it.verdict == *verdict).count();
            (count > 0).then(|| format!("{count} {verdict}"))
        });
        let counts: Vec<_> = counts.collect();
        let plural =
            |count, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let links = plural(self.all.len(), "link");
        let requests = plural(self.requests, "request");
        match counts.is_empty() {
            true => links,
            false => format!("{links}: {}; {requests}", counts.join(", ")),
        }
    }
}

impl Conclusion<'_> {
    /// Returns where the link has moved, if that is the verdict.
    pub(super) fn moved_to(&self) -> Option<&str> {
        let to = self.record.as_ref()?.moved_to()?;
        Some(to.as_str())
    }

    fn message(&self) -> String {
        let target = &self.link.target;
        let detail = self.detail.as_deref().unwrap_or("not checked yet");
        let day = |time: Option<Timestamp>| {
            let text = time?.to_string();
            Some(text.split('T').next().unwrap_or_default().to_owned())
        };
        let since = day(self.record.as_ref().and_then(LinkRecord::since));
        match (self.verdict, since) {
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
}

fn conclusion(link: &TableLink, record: Option<LinkRecord>) -> Conclusion<'_> {
    let (verdict, detail) = match (&link.resolution, &record) {
        (Resolution::Asked(_), Some(record)) => {
            (record.verdict(), record.seen().map(|seen| seen.to_string()))
        }
        (resolution, _) => {
            let (verdict, detail) = unasked(resolution);
            (verdict, detail.map(str::to_owned))
        }
    };
    Conclusion {
        link,
        verdict,
        detail,
        record,
    }
}

/// Returns what is known of a link that was not asked.
fn unasked(resolution: &Resolution) -> (Verdict, Option<&'static str>) {
    match resolution {
        Resolution::Asked(_) => (Verdict::Unchecked, None),
        Resolution::NoHost => (Verdict::Unchecked, Some("its host name is not valid")),
        Resolution::Prefix => {
            let detail = "not checked, because paths are appended to it";
            (Verdict::Unchecked, Some(detail))
        }
        Resolution::OwnPage => (Verdict::Ok, None),
        Resolution::OwnGone => (Verdict::Gone, Some("it is a retired link of this table")),
        Resolution::OwnNothing => (Verdict::Failing, Some("this table has no such link")),
    }
}
