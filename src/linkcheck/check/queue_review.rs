//! Going through the queue once, when a check begins: what is due is counted, and what a clock that was
//! ahead has queued for a time that no interval reaches is queued for now.

use std::collections::HashMap;
use std::time::Duration;

use super::shared::{Checker, Links, millis, queued_link, read_key, read_link};
use super::state::{Space, StateRow, StateWrite};
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
            let mut write = StateWrite::default();
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
                if due > now && !self.requeue_if_too_late(&links, host, key, due, now, &mut write) {
                    continue;
                }
                match left.get_mut(host) {
                    Some(count) => *count += 1,
                    None => drop(left.insert(host.clone(), 1)),
                }
            }
            if !write.rows.is_empty() {
                // If another worker has them meanwhile, it has written what is right.
                self.access().write(&write).await?;
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

    /// Queues a link for now that is queued for later than the longest interval from now; returns
    /// whether it is one.
    fn requeue_if_too_late(
        &self,
        links: &Links,
        host: &Host,
        key: &[u8],
        due: u64,
        now: u64,
        write: &mut StateWrite,
    ) -> bool {
        let policy = self.options().policy;
        let is_beyond = |links| due - now > millis(policy.longest(links));
        if !is_beyond(0) || !is_beyond(links.of_host(host)) {
            return false;
        }
        // Links of other tables are theirs, and may have longer intervals.
        let Some(link) = read_link(key).filter(|link| links.url(*link).is_some()) else {
            return false;
        };
        (write.expected).push(StateRow {
            space: Space::Queue,
            key: key.to_vec(),
            value: Some(Vec::new()),
        });
        write.rows.push(StateRow::none(Space::Queue, key));
        write.rows.push(queued_link(link, host, now));
        if write.hosts.last().is_none_or(|(last, _)| last != host) {
            write.hosts.push((host.clone(), Duration::ZERO));
        }
        true
    }
}
