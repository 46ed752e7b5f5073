//! What is concluded about a link of a table: from its record if it is asked, else from the table.

use std::borrow::Cow;

use crate::linkcheck::archive::ArchiveAnswer;
use crate::linkcheck::check::{Resolution, TableLink};
use crate::linkcheck::conclude::{LinkRecord, Verdict};

/// What is known of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion<'c> {
    /// The link.
    pub link: Cow<'c, TableLink>,
    /// The verdict.
    pub verdict: Verdict,
    /// What it rests on, in words.
    pub detail: Option<String>,
    /// What was observed, if it was asked.
    pub record: Option<LinkRecord>,
    /// What an archive has of it, if that was looked up.
    pub archive: Option<ArchiveAnswer>,
}

impl<'c> Conclusion<'c> {
    /// Concludes about links; the records are those of the ones that are asked, in their order.
    pub fn of_all(
        links: &'c [TableLink],
        records: Vec<Option<LinkRecord>>,
    ) -> impl Iterator<Item = Self> {
        let mut records = records.into_iter();
        links.iter().map(move |link| {
            let asked = link.resolution.url();
            Self::of(link, asked.and_then(|_| records.next().flatten()))
        })
    }

    fn of(link: &'c TableLink, record: Option<LinkRecord>) -> Self {
        let (verdict, detail) = match (&link.resolution, &record) {
            (Resolution::Asked(_), Some(record)) => {
                (record.verdict(), record.seen().map(|seen| seen.to_string()))
            }
            (resolution, _) => {
                let (verdict, detail) = unasked(resolution);
                (verdict, detail.map(str::to_owned))
            }
        };
        Self {
            link: Cow::Borrowed(link),
            verdict,
            detail,
            record,
            archive: None,
        }
    }

    /// Returns the copy that an archive has of it, if that was looked up.
    pub fn copy(&self) -> Option<&str> {
        match &self.archive {
            Some(ArchiveAnswer::Copy(copy)) => Some(copy),
            _ => None,
        }
    }

    /// Returns the same with a link of its own.
    pub fn into_owned(self) -> Conclusion<'static> {
        Conclusion {
            link: Cow::Owned(self.link.into_owned()),
            ..self
        }
    }

    /// Returns where the link has moved, if that is the verdict.
    pub fn moved_to(&self) -> Option<&str> {
        let to = self.record.as_ref()?.moved_to()?;
        Some(to.as_str())
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
        Resolution::OwnGone => (
            Verdict::Gone,
            Some("it is a retired or expired link of this table"),
        ),
        Resolution::OwnNothing => (Verdict::Failing, Some("this table has no such link")),
    }
}
