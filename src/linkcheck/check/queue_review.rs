//! Reviewing the queue once, when a check begins: due links are counted, and links that a fast
//! clock has queued for an impossibly late time are queued for now.

use std::collections::HashMap;
use std::time::Duration;

use super::shared::{Checker, Links, millis, queued_link, read_key, read_link};
use super::state::{Space, StateRow, StateWrite, WriteState};
use crate::frontier::{Host, StoreError};

/// How many rows are read at a time.
const BATCH: usize = 2048;

impl Checker {
    /// Counts the links of each host that are due, for the progress, and queues those of the table for
    /// now that are queued for later than they can be.
    pub(super) async fn review_queue(&self) -> Result<(), StoreError> {
        let links = self.links();
        let now = self.now();
        let mut left = HashMap::<Host, usize>::new();
        let mut host = None::<Host>;
        let mut from = Vec::new();
        loop {
            let keys = self.access().queued_keys(&from, BATCH).await?;
            let mut moves = Vec::new();
            for key in &keys {
                let Some((name, due)) = read_key(key) else {
                    continue;
                };
                // The rows of a host follow one another.
                if host.as_ref().is_none_or(|it| it.as_str() != name) {
                    host = Host::parse(name).ok();
                }
                let Some(host) = &host else {
                    continue;
                };
                if due > now {
                    match self.requeued_if_too_late(&links, host, key, due, now) {
                        Some(write) => moves.push(write),
                        None => continue,
                    }
                }
                match left.get_mut(host) {
                    Some(count) => *count += 1,
                    None => drop(left.insert(host.clone(), 1)),
                }
            }
            if !moves.is_empty() {
                self.write_moves(&moves).await?;
                self.queued.notify_one();
            }
            match keys.into_iter().last() {
                Some(last) => from = [&*last, &[0]].concat(),
                None => break,
            }
        }
        self.set_due(left);
        Ok(())
    }

    /// Moves links in the queue: together, or one by one if another worker has changed one of them
    /// meanwhile, which is then already correct.
    async fn write_moves(&self, moves: &[StateWrite]) -> Result<(), StoreError> {
        let mut all = StateWrite::default();
        for write in moves {
            all.expected.extend_from_slice(&write.expected);
            all.rows.extend_from_slice(&write.rows);
            if all.hosts.last() != write.hosts.last() {
                all.hosts.extend_from_slice(&write.hosts);
            }
        }
        if self.access().write(&all).await? == WriteState::Conflict {
            for write in moves {
                self.access().write(write).await?;
            }
        }
        Ok(())
    }

    /// Returns the write that queues a link for now if it is queued for later than the longest
    /// interval.
    fn requeued_if_too_late(
        &self,
        links: &Links,
        host: &Host,
        key: &[u8],
        due: u64,
        now: u64,
    ) -> Option<StateWrite> {
        let policy = self.options().policy;
        let is_beyond = |links| due - now > millis(policy.longest(links));
        if !is_beyond(0) || !is_beyond(links.of_host(host)) {
            return None;
        }
        // Links of other tables may have longer intervals.
        let link = read_link(key).filter(|link| links.url(*link).is_some())?;
        Some(StateWrite {
            expected: vec![StateRow {
                space: Space::Queue,
                key: key.to_vec(),
                value: Some(Vec::new()),
            }],
            rows: vec![
                StateRow::none(Space::Queue, key),
                queued_link(link, host, now),
            ],
            hosts: vec![(host.clone(), Duration::ZERO)],
        })
    }
}
