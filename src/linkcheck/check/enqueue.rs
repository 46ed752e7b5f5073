//! Queueing the links of a table.

use std::collections::BTreeMap;
use std::time::Duration;

use super::shared::{Checker, LinkKey, Links, host_of_target, millis, queued_link};
use super::state::{Space, StateRow, StateWrite, WriteState, decoded};
use crate::frontier::{Host, StoreError};
use crate::linkcheck::conclude::LinkRecord;

/// How many links are looked up and written at a time.
const BATCH: usize = 2048;

impl Checker {
    /// Queues those links of a table that are not queued, with their hosts, and returns how many there
    /// were. The record of a link that was in an earlier table determines when it is due.
    pub(super) async fn queue_links(&self) -> Result<usize, StoreError> {
        let mut queued = self.queued_links().await;
        let links = self.links();
        let count = self.queue_all_of(&links, links.requested()).await?;
        *queued = Some(links);
        Ok(count)
    }

    /// Queues those links of the table that were not in the last completely queued one.
    pub(super) async fn queue_new_links(&self) -> Result<(), StoreError> {
        let mut queued = self.queued_links().await;
        let links = self.links();
        match queued.take() {
            Some(before) => {
                let new = links.newly_requested(&before);
                self.queue_all_of(&links, new.into_iter()).await?
            }
            None => self.queue_all_of(&links, links.requested()).await?,
        };
        *queued = Some(links);
        Ok(())
    }

    async fn queue_all_of(
        &self,
        links: &Links,
        mut keys: impl Iterator<Item = LinkKey>,
    ) -> Result<usize, StoreError> {
        let mut queued = 0;
        loop {
            let batch: Vec<_> = keys.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(queued);
            }
            // Another worker may queue the same links.
            queued += loop {
                let write = self.queueing(links, &batch).await?;
                let count = write.expected.len() / 2;
                if write.rows.is_empty()
                    || self.access().write(&write).await? == WriteState::Written
                {
                    break count;
                }
            };
        }
    }

    /// Returns the writes that queue those links that are not queued: each expects two rows.
    async fn queueing(&self, links: &Links, batch: &[LinkKey]) -> Result<StateWrite, StoreError> {
        let now = self.now();
        let mut write = StateWrite::default();
        let keys: Vec<_> = batch.iter().copied().map(Vec::from).collect();
        let known = self.access().get(Space::Links, &keys).await?;
        let missing = batch.iter().zip(known).filter(|(_, row)| row.is_none());
        let missing: Vec<_> = missing.map(|(link, _)| *link).collect();
        if missing.is_empty() {
            return Ok(write);
        }
        let keys: Vec<_> = missing.iter().copied().map(Vec::from).collect();
        let parked = self.access().get(Space::Parked, &keys).await?;
        let mut hosts = BTreeMap::<Host, u64>::new();
        for ((link, key), parked) in missing.into_iter().zip(keys).zip(parked) {
            let Some((url, host)) = links.url(link).and_then(|url| {
                let host = host_of_target(&url)?;
                Some((url, host))
            }) else {
                continue;
            };
            let record: Option<LinkRecord> = parked.as_deref().map(decoded).transpose()?;
            let due = record.as_ref().and_then(|record| {
                // No link was checked in the future, even if a clock was wrong once.
                let checked = u64::try_from(record.checked()?.unix()).ok()? * 1000;
                let checked = checked.min(now);
                let next = record.next_check(self.options().policy, &url, links.of_host(&host));
                Some(checked + millis(next))
            });
            let due = due.unwrap_or(now);
            write.rows.push(queued_link(link, &host, due));
            (write.rows).push(StateRow::put(Space::Links, key.clone(), &record));
            if parked.is_some() {
                write.rows.push(StateRow::none(Space::Parked, key.clone()));
            }
            (write.expected).push(StateRow::none(Space::Links, key.clone()));
            write.expected.push(StateRow {
                space: Space::Parked,
                key,
                value: parked,
            });
            let first = hosts.entry(host).or_insert(due);
            *first = due.min(*first);
        }
        let hosts = hosts.into_iter();
        let hosts = hosts.map(|(host, due)| (host, Duration::from_millis(due.saturating_sub(now))));
        write.hosts = hosts.collect();
        Ok(write)
    }
}
