//! Look-ups of dead links in an archive, which is one more host with a queue.

use std::sync::Arc;
use std::time::Duration;

use super::shared::{Checker, DatedAnswer, Work, host_of, millis};
use super::state::{Space, StateWrite, decoded};
use crate::frontier::StoreError;
use crate::linkcheck::archive::{Archive, ArchiveAnswer};
use crate::linkcheck::request::WebUrl;

/// How many links are looked up and written at a time.
const BATCH: usize = 2048;

/// How long the result of a look-up is valid.
const KNOWN: Duration = Duration::from_secs(30 * 86_400);

impl Checker {
    /// Looks up copies of links in an archive, unless the results are known, and sends all other
    /// requests that are due, for at most that time. It does not wait for blocks of more than a
    /// minute.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. Earlier conclusions are kept.
    pub async fn look_up(
        self: &Arc<Self>,
        archive: &Archive,
        urls: &[&str],
        max_time: Option<Duration>,
    ) -> Result<(), StoreError> {
        for urls in urls.chunks(BATCH) {
            let mut write = StateWrite::default();
            let questions: Vec<_> = urls.iter().map(|url| question(archive, url)).collect();
            let known = self.archive_rows(&questions).await?;
            for (question, known) in questions.into_iter().zip(known) {
                let is_known = known.is_some_and(|row| self.is_known(&row));
                let question = question.filter(|_| !is_known);
                let host = question.as_ref().and_then(host_of);
                if let (Some(question), Some(host)) = (question, host) {
                    // Without a time, so that the same look-up is queued once.
                    let work = Work::archive(question, self.now());
                    write.rows.push(work.queued(&host, 0));
                    write.hosts = vec![(host, Duration::ZERO)];
                }
            }
            if !write.rows.is_empty() {
                self.access().write(&write).await?;
            }
        }
        self.run_within(max_time).await
    }

    /// Returns the known results of look-ups for links, in their order.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn archived(
        &self,
        archive: &Archive,
        urls: &[&str],
    ) -> Result<Vec<Option<ArchiveAnswer>>, StoreError> {
        let mut answers = Vec::with_capacity(urls.len());
        for urls in urls.chunks(BATCH) {
            let questions: Vec<_> = urls.iter().map(|url| question(archive, url)).collect();
            let rows = self.archive_rows(&questions).await?.into_iter();
            answers.extend(rows.map(|row| row.and_then(|row| row.answer)));
        }
        Ok(answers)
    }

    /// Returns the known answers to some look-ups; `None` for one that is not possible.
    async fn archive_rows(
        &self,
        questions: &[Option<WebUrl>],
    ) -> Result<Vec<Option<DatedAnswer<ArchiveAnswer>>>, StoreError> {
        // No row has an empty key.
        let key = |it: &WebUrl| it.as_str().as_bytes().to_vec();
        let keys = questions.iter().map(|it| it.as_ref().map(key));
        let keys: Vec<_> = keys.map(Option::unwrap_or_default).collect();
        let rows = self.access().get(Space::Archives, &keys).await?;
        let row = |bytes: Option<Vec<u8>>| bytes.as_deref().map(decoded).transpose();
        rows.into_iter().map(row).collect()
    }

    fn is_known(&self, row: &DatedAnswer<ArchiveAnswer>) -> bool {
        let is_recent = self.now().abs_diff(row.at) < millis(KNOWN);
        is_recent && !matches!(row.answer, None | Some(ArchiveAnswer::Failed(_)))
    }
}

/// Returns the URL that queries an archive for a copy of a link, if that is possible.
fn question(archive: &Archive, url: &str) -> Option<WebUrl> {
    archive.question(&WebUrl::parse(url).ok()?)
}
