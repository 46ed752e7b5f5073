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
            let questions: Vec<_> = urls.iter().map(|url| question(archive, url)).collect();
            let known = self.archive_rows(&questions).await?;
            for (question, known) in questions.into_iter().zip(known) {
                let is_known = known.is_some_and(|row| self.is_known(&row));
                let question = question.filter(|_| !is_known);
                let host = question.as_ref().and_then(host_of);
                if let (Some(question), Some(host)) = (question, host) {
                    // At no time, so that the same look-up is queued once.
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

    /// Returns what an archive has of links, as far as that is known, in their order.
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

    /// Returns what is known of the answers to some questions; nothing of one that cannot be asked.
    async fn archive_rows(
        &self,
        questions: &[Option<WebUrl>],
    ) -> Result<Vec<Option<Asked<ArchiveAnswer>>>, StoreError> {
        // No row has an empty key.
        let key = |it: &WebUrl| it.as_str().as_bytes().to_vec();
        let keys = questions.iter().map(|it| it.as_ref().map(key));
        let keys: Vec<_> = keys.map(Option::unwrap_or_default).collect();
        let rows = self.access().get(Space::Archives, &keys).await?;
        let row = |bytes: Option<Vec<u8>>| bytes.as_deref().map(decoded).transpose();
        rows.into_iter().map(row).collect()
    }

    fn is_known(&self, row: &Asked<ArchiveAnswer>) -> bool {
        let is_recent = self.now().abs_diff(row.at) < millis(KNOWN);
        is_recent && !matches!(row.answer, None | Some(ArchiveAnswer::Failed(_)))
    }
}

/// Returns the URL that asks an archive for a copy of a link, if there can be one.
fn question(archive: &Archive, url: &str) -> Option<WebUrl> {
    archive.question(&WebUrl::parse(url).ok()?)
}
