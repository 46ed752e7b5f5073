//! Conclusions about links of a table: from the record of a link that is requested, otherwise from
//! the table.

use std::borrow::Cow;

use crate::linkcheck::archive::ArchiveAnswer;
use crate::linkcheck::check::{Resolution, TableLink};
use crate::linkcheck::conclude::{LinkRecord, Verdict};

/// The conclusion about a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion<'c> {
    /// The link.
    pub link: Cow<'c, TableLink>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, in words.
    pub detail: Option<String>,
    /// Its record, if it is requested.
    pub record: Option<LinkRecord>,
    /// The answer of an archive, if it was looked up.
    pub archive: Option<ArchiveAnswer>,
}

impl<'c> Conclusion<'c> {
    /// Concludes about links; the records are those of the links that are requested, in their
    /// order.
    pub fn of_all(
        links: &'c [TableLink],
        records: Vec<Option<LinkRecord>>,
    ) -> impl Iterator<Item = Self> {
        let mut records = records.into_iter();
        links.iter().map(move |link| {
            let requested = link.resolution.url();
            Self::of(link, requested.and_then(|_| records.next().flatten()))
        })
    }

    fn of(link: &'c TableLink, record: Option<LinkRecord>) -> Self {
        let (verdict, detail) = match (&link.resolution, &record) {
            (Resolution::Requested(_), Some(record)) => {
                (record.verdict(), record.seen().map(|seen| seen.to_string()))
            }
            (resolution, _) => {
                let (verdict, detail) = without_request(resolution);
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

    /// Returns the copy in an archive, if it was looked up.
    pub fn copy(&self) -> Option<&str> {
        match &self.archive {
            Some(ArchiveAnswer::Copy(copy)) => Some(copy),
            _ => None,
        }
    }

    /// Returns the same with its own link.
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

/// Returns the conclusion about a link that is not requested.
fn without_request(resolution: &Resolution) -> (Verdict, Option<&'static str>) {
    match resolution {
        Resolution::Requested(_) => (Verdict::Unchecked, None),
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
