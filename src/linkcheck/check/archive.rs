//! Look-ups of dead links in an archive, which is one more host with a queue.

use std::sync::Arc;
use std::time::Duration;

use super::shared::{Asked, Checker, Work, host_of, millis};
use super::state::{Space, StateWrite, decoded};
use crate::frontier::StoreError;
use crate::linkcheck::archive::{Archive, ArchiveAnswer};
use crate::linkcheck::ask::WebUrl;

/// How many links are looked up and written at a time.
const BATCH: usize = 2048;

/// How long it counts what an archive has, or that it has nothing.
const KNOWN: Duration = Duration::from_secs(30 * 86_400);

impl Checker {
    /// Asks an archive for copies of links, unless it is known what it has, and all else that is due,
    /// for as long as that time at most. It waits for no block of more than a minute.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. What was concluded before is kept.
    pub async fn look_up(
        self: &Arc<Self>,
        archive: &Archive,
        urls: &[&str],
        max_time: Option<Duration>,
    ) -> Result<(), StoreError> {
        for urls in urls.chunks(BATCH) {
            let mut write = StateWrite::default();
            for (url, known) in urls.iter().zip(self.archive_rows(urls).await?) {
                let is_known = known.is_some_and(|row| self.is_known(&row));
                let page = WebUrl::parse(url).ok().filter(|_| !is_known);
                let question = page.and_then(|page| archive.question(&page));
                let host = question.as_ref().and_then(host_of);
                if let (Some(question), Some(host)) = (question, host) {
                    // At no time, so that the same look-up is queued once.
                    let work = Work::archive(url, question, self.now());
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

    /// Returns what an archive has of links, as far as that is known, in their order.
    ///
    /// # Errors
    ///
    /// If the state cannot be read.
    pub async fn archived(&self, urls: &[&str]) -> Result<Vec<Option<ArchiveAnswer>>, StoreError> {
        let mut answers = Vec::with_capacity(urls.len());
        for urls in urls.chunks(BATCH) {
            let rows = self.archive_rows(urls).await?.into_iter();
            answers.extend(rows.map(|row| row.and_then(|row| row.answer)));
        }
        Ok(answers)
    }

    async fn archive_rows(
        &self,
        urls: &[&str],
    ) -> Result<Vec<Option<Asked<ArchiveAnswer>>>, StoreError> {
        let keys: Vec<_> = urls.iter().map(|url| url.as_bytes().to_vec()).collect();
        let rows = self.access().get(Space::Archives, &keys).await?;
        let row = |bytes: Option<Vec<u8>>| bytes.as_deref().map(decoded).transpose();
        rows.into_iter().map(row).collect()
    }

    fn is_known(&self, row: &Asked<ArchiveAnswer>) -> bool {
        let is_recent = self.now().saturating_sub(row.at) < millis(KNOWN);
        is_recent && !matches!(row.answer, None | Some(ArchiveAnswer::Failed(_)))
    }
}
