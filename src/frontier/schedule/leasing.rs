//! Granting and ending leases.

use std::time::Duration;

use super::index::HostGroup;
use super::{HostSchedule, LeaseRow};
use crate::frontier::contract::{Host, Lease, LeaseState, Now, Reservation, StoreTime, millis};

/// How soon to look again when leases have expired and only wait to be reaped.
const UNTIL_REAPED: Duration = Duration::from_secs(1);

impl HostSchedule {
    /// Leases the first host that is due to the caller, for as long as `busy_timeout`.
    pub(crate) fn reserve_next(&mut self, now: Now, busy_timeout: Duration) -> Reservation {
        let host = match self.index.ready.first() {
            Some((due, _)) if *due > now.time() => return self.wait(now.time()),
            None => return self.wait(now.time()),
            Some((_, HostGroup::Host(host))) => host.clone(),
            Some((_, HostGroup::Alias(alias))) => {
                let (_, host) = self
                    .index
                    .first_member(alias)
                    .expect("a ready alias has a queued member");
                host.clone()
            }
        };
        // Based on the time, so that tokens are unique even if a store loses its last writes.
        self.last_token = (self.last_token + 1).max(now.time().millis() * 1000);
        let alias = self.hosts.get(&host).and_then(|row| row.alias.clone());
        let until = now.after(busy_timeout);
        let lease = LeaseRow {
            token: self.last_token,
            until,
            holds: alias.iter().cloned().collect(),
        };
        if let Some(alias) = &alias {
            self.aliases.entry(alias.clone()).or_default().held += 1;
        }
        self.edit(&host, |row| {
            row.next = None;
            row.lease = Some(Box::new(lease));
        });
        Reservation::Leased(Lease {
            settings: self.settings(&host).unwrap_or_default(),
            host,
            alias,
            token: self.last_token,
            time_left: until.since(now.time()).min(busy_timeout),
        })
    }

    /// Returns how long nothing can become due on its own.
    fn wait(&self, now: StoreTime) -> Reservation {
        let due = self.index.ready.first().map(|(due, _)| due.since(now));
        let leased = &self.index.leased;
        let expired = leased.first().is_some_and(|(until, _)| *until < now);
        let in_time = leased.range((now, Host::least())..).next();
        let waits = [
            due,
            expired.then_some(UNTIL_REAPED),
            in_time.map(|(until, _)| until.since(now) + Duration::from_millis(1)),
        ];
        match waits.into_iter().flatten().min() {
            Some(wait) => Reservation::Wait(wait),
            None => Reservation::Empty,
        }
    }

    /// Ends a lease: its group rests for `pause`, and the host is queued for `next_in` from now.
    pub(crate) fn release(
        &mut self,
        now: Now,
        lease: &Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> LeaseState {
        if !self.is_current(now, lease) {
            return LeaseState::Ended;
        }
        let next = next_in.map(|after| now.after(after));
        self.end(now, &lease.host, pause, next);
        LeaseState::Current
    }

    /// Extends a lease to at least `busy_timeout` from now.
    pub(crate) fn renew(&mut self, now: Now, lease: &Lease, busy_timeout: Duration) -> LeaseState {
        if !self.is_current(now, lease) {
            return LeaseState::Ended;
        }
        self.edit(&lease.host, |row| {
            if let Some(lease) = &mut row.lease {
                lease.until = lease.until.max(now.after(busy_timeout));
            }
        });
        LeaseState::Current
    }

    /// Ends the leases that have expired, each with the full pause of its host, queues their hosts
    /// for now, and returns how many there were; forgets the removed hosts that can be.
    pub(crate) fn reap(&mut self, now: Now) -> usize {
        let expired = self.end_leases(now, |until| until < now.time());
        while let Some((_, host)) = self
            .index
            .removed
            .first()
            .filter(|(at, _)| *at <= now.time())
        {
            let host = host.clone();
            self.forget(&host);
        }
        expired
    }

    /// Ends all leases as if they had expired, and returns how many there were.
    pub(crate) fn end_all(&mut self, now: Now) -> usize {
        self.end_leases(now, |_| true)
    }

    fn end_leases(&mut self, now: Now, is_over: impl Fn(StoreTime) -> bool) -> usize {
        let mut ended = 0;
        while let Some((_, host)) = self
            .index
            .leased
            .first()
            .filter(|(until, _)| is_over(*until))
        {
            let host = host.clone();
            let pause = self
                .hosts
                .get(&host)
                .map(|row| row.pause)
                .unwrap_or_default();
            self.end(now, &host, pause.max(self.default_pause), Some(now.time()));
            ended += 1;
        }
        ended
    }

    /// Returns whether a lease is the one that its host has now.
    fn is_current(&self, now: Now, lease: &Lease) -> bool {
        let row = self
            .hosts
            .get(&lease.host)
            .and_then(|row| row.lease.as_ref());
        row.is_some_and(|row| row.token == lease.token && now.time() <= row.until)
    }

    fn end(&mut self, now: Now, host: &Host, pause: Duration, next: Option<StoreTime>) {
        let rested = now.after(pause);
        let mut held = Vec::new();
        self.edit(host, |row| {
            held = row
                .lease
                .take()
                .map(|lease| lease.holds)
                .unwrap_or_default();
            row.rested = row.rested.max(rested);
            // A lease without a pause sent nothing, and so says nothing about the next one.
            if !pause.is_zero() {
                row.pause = Duration::from_millis(millis(pause));
            }
            if let (Some(next), false) = (next, row.removed) {
                row.queue(next);
            }
        });
        for alias in held {
            let row = self.aliases.entry(alias.clone()).or_default();
            row.held -= 1;
            row.rested = row.rested.max(rested);
            self.refresh(&alias);
            if let Some(changes) = &mut self.changes {
                changes.aliases.insert(alias);
            }
        }
    }

    fn forget(&mut self, host: &Host) {
        if let Some(row) = self.hosts.remove(host) {
            self.index.take(host, &row);
        }
        if let Some(changes) = &mut self.changes {
            changes.hosts.insert(host.clone());
        }
    }
}
