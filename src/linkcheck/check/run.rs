//! A check from start to end: queueing what is due, and visiting hosts until nothing is left.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::checker::Checker;
use super::host::{HostState, host_of};
use super::millis::millis;
use super::queue::{Work, read_key};
use super::state::{Space, StateChange, read};
use super::visit::{BUSY_TIMEOUT, Visit};
use crate::frontier::{AliasName, Host, Lease, Reservation, StoreError};
use crate::linkcheck::ask::WebUrl;
use crate::linkcheck::conclude::LinkRecord;

/// How often expired leases are ended.
const REAPING: Duration = Duration::from_secs(10);

/// How many reservations are attempted at a time.
const MAX_ATTEMPTS: usize = 64;

/// How many rows are written at a time when a table is queued.
const BATCH: usize = 4096;

/// The members of aliases that the last run had.
const MEMBERS: &[u8] = b"members";

impl Checker {
    /// Sets which hosts share an allowance; the aliases of the run before are forgotten.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written.
    pub async fn set_aliases(&self, members: &[(Host, AliasName)]) -> Result<(), StoreError> {
        let before: Vec<String> = read(&*self.state, Space::Settings, MEMBERS)?.unwrap_or_default();
        let names: Vec<_> = (members.iter())
            .map(|(member, _)| member.to_string())
            .collect();
        // Written before and after, so that none is forgotten if this does not come to its end.
        let all: Vec<_> = before.iter().chain(&names).cloned().collect();
        let write = |names: &Vec<String>| {
            self.state
                .write(vec![StateChange::put(Space::Settings, MEMBERS, names)])
        };
        if all.is_empty() {
            return Ok(());
        }
        write(&all).await?;
        let store = self.state.store();
        let kept: HashSet<_> = names.iter().collect();
        for member in before.iter().filter(|name| !kept.contains(name)) {
            if let Ok(member) = Host::parse(member) {
                store.set_alias(&member, None).await?;
            }
        }
        for (member, alias) in members {
            store.set_alias(member, Some(alias)).await?;
        }
        write(&names).await
    }

    /// Asks all that is due, and ends when no host has anything due queued or leased, or after the
    /// longest time. It waits for no block of more than a minute.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written. What was concluded before is kept.
    pub async fn run(self: &Arc<Self>) -> Result<(), StoreError> {
        if let Some(max_time) = self.options.max_time {
            self.deadline.get_or_init(|| Instant::now() + max_time);
        }
        self.queue().await?;
        let mut attempts = JoinSet::new();
        let mut visits = JoinSet::new();
        let mut idle_until = None::<Instant>;
        let mut reaping = Instant::now() + REAPING;
        let mut at_a_time = 1;
        let mut is_empty = false;
        loop {
            let now = Instant::now();
            let is_over = self.deadline().is_some_and(|deadline| deadline <= now);
            if idle_until.is_some_and(|until| until <= now) {
                idle_until = None;
            }
            while !is_over
                && idle_until.is_none()
                && attempts.len() < at_a_time
                && attempts.len() + visits.len() < self.options.concurrency.max(1)
            {
                let checker = Arc::clone(self);
                attempts
                    .spawn(async move { checker.state().store().reserve_next(BUSY_TIMEOUT).await });
            }
            let is_busy = !attempts.is_empty() || !visits.is_empty();
            if !is_busy && (is_over || is_empty || self.is_done()) {
                return Ok(());
            }
            let wake = [idle_until, self.deadline().filter(|_| !is_over)];
            let wake = wake.into_iter().flatten().fold(reaping, Instant::min);
            tokio::select! {
                Some(attempt) = attempts.join_next() => match finished(attempt)? {
                    Reservation::Leased(lease) => {
                        at_a_time = (at_a_time * 2).min(MAX_ATTEMPTS);
                        let checker = Arc::clone(self);
                        visits.spawn(async move { checker.visit(&lease).await });
                    }
                    Reservation::Wait(wait) => {
                        // What is due late enough is looked at before.
                        let until = Instant::now() + wait.min(REAPING);
                        idle_until = Some(idle_until.map_or(until, |it| it.min(until)));
                        at_a_time = 1;
                    }
                    Reservation::Empty => {
                        is_empty = true;
                        idle_until = Some(Instant::now() + REAPING);
                        at_a_time = 1;
                    }
                },
                Some(visit) = visits.join_next() => {
                    finished(visit)?;
                    idle_until = None;
                    is_empty = false;
                }
                () = sleep_until(wake) => {
                    if reaping <= Instant::now() {
                        self.state.store().reap().await?;
                        reaping = Instant::now() + REAPING;
                    }
                }
            }
        }
    }

    async fn visit(&self, lease: &Lease) -> Result<(), StoreError> {
        Visit::new(self, lease).run().await
    }

    /// Queues the links of the table that are not queued, and all hosts that have any.
    async fn queue(&self) -> Result<(), StoreError> {
        let now = self.now();
        let mut changes = Vec::new();
        for target in self.links.asked() {
            if self.state.get(Space::Links, target.as_bytes())?.is_some() {
                continue;
            }
            let Some(host) = WebUrl::parse(target).ok().and_then(|url| host_of(&url)) else {
                continue;
            };
            let parked: Option<LinkRecord> = read(&*self.state, Space::Parked, target.as_bytes())?;
            let due = parked.as_ref().and_then(|record| {
                let checked = u64::try_from(record.checked()?.unix()).ok()? * 1000;
                let links = self.links.of_host(&host);
                Some(checked + millis(record.next_check(self.options.policy, target, links)))
            });
            changes.push(Work::link(target).queued(&host, due.unwrap_or(now)));
            changes.push(StateChange::put(Space::Links, target.as_str(), &parked));
            if parked.is_some() {
                changes.push(StateChange::remove(Space::Parked, target.as_str()));
            }
            if changes.len() >= BATCH {
                self.state.write(std::mem::take(&mut changes)).await?;
            }
        }
        self.state.write(changes).await?;

        let mut first = BTreeMap::<Host, u64>::new();
        let mut left = HashMap::<Host, usize>::new();
        self.state.keys(Space::Queue, &mut |key| {
            if let Some((host, due)) = read_key(key) {
                if due <= now {
                    *left.entry(host.clone()).or_default() += 1;
                }
                let first = first.entry(host).or_insert(due);
                *first = due.min(*first);
            }
        })?;
        self.due.store(left.values().sum(), Ordering::Relaxed);
        self.hosts().left = left;
        let mut adding = JoinSet::new();
        for (host, due) in first {
            let row: Option<HostState> =
                read(&*self.state, Space::Hosts, host.as_str().as_bytes())?;
            if let Some(row) = row {
                self.note_block(&host, row.blocked);
            }
            if due <= now {
                self.hosts().open.insert(host.clone(), 0);
            }
            let state = Arc::clone(&self.state);
            let after = Duration::from_millis(due.saturating_sub(now));
            adding.spawn(async move { state.store().add_host(&host, after).await });
            if adding.len() >= BATCH
                && let Some(added) = adding.join_next().await
            {
                finished(added)?;
            }
        }
        while let Some(added) = adding.join_next().await {
            finished(added)?;
        }
        Ok(())
    }
}

/// Returns the result of a task; its panic goes on here.
fn finished<T>(task: Result<Result<T, StoreError>, JoinError>) -> Result<T, StoreError> {
    match task {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(StoreError::Failed(error.into())),
        },
    }
}
