//! Hosts and groups in order of time, derived from their rows.

use std::collections::BTreeSet;

use super::HostRow;
use crate::frontier::contract::{AliasName, Host, StoreTime};

/// A group of hosts with one allowance: a host without an alias, or the members of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostGroup {
    /// A host without an alias.
    Host(Host),
    /// The members of an alias.
    Alias(AliasName),
}

/// The orders in which a schedule looks for hosts.
#[derive(Debug, Default)]
pub(super) struct GroupIndex {
    /// Groups with a queued host that no lease holds, by when they are due.
    pub(super) ready: BTreeSet<(StoreTime, HostGroup)>,
    /// Queued members of each alias, by when they are due.
    members: BTreeSet<(AliasName, StoreTime, Host)>,
    /// Leased hosts, by when their lease ends.
    pub(super) leased: BTreeSet<(StoreTime, Host)>,
    /// Hosts that were ever blocked, by when that ends.
    blocked: BTreeSet<(StoreTime, Host)>,
    /// Removed hosts, by when they can be forgotten.
    pub(super) removed: BTreeSet<(StoreTime, Host)>,
    /// Queued hosts, by the time for which they were queued, however long they rest.
    wanted: BTreeSet<(StoreTime, Host)>,
}

/// Whether a key is to be in a set.
#[derive(Debug, Clone, Copy)]
enum Presence {
    Present,
    Absent,
}

impl GroupIndex {
    /// Adds a host wherever its row says it belongs.
    pub(super) fn add(&mut self, host: &Host, row: &HostRow) {
        self.set(host, row, Presence::Present);
    }

    /// Removes a host from wherever its row says it belongs.
    pub(super) fn take(&mut self, host: &Host, row: &HostRow) {
        self.set(host, row, Presence::Absent);
    }

    fn set(&mut self, host: &Host, row: &HostRow, presence: Presence) {
        if let Some(due) = row.due() {
            match &row.alias {
                Some(alias) => {
                    let key = (alias.clone(), due, host.clone());
                    set(&mut self.members, key, presence);
                }
                None => set(
                    &mut self.ready,
                    (due, HostGroup::Host(host.clone())),
                    presence,
                ),
            }
        }
        if let (Some(next), None) = (row.next, &row.lease) {
            set(&mut self.wanted, (next, host.clone()), presence);
        }
        match &row.lease {
            Some(lease) => set(&mut self.leased, (lease.until, host.clone()), presence),
            None if row.removed => {
                set(
                    &mut self.removed,
                    (row.not_before(), host.clone()),
                    presence,
                );
            }
            None => {}
        }
        if row.blocked > StoreTime::default() {
            set(&mut self.blocked, (row.blocked, host.clone()), presence);
        }
    }

    /// Returns the member of an alias that is due first, and when.
    pub(super) fn first_member(&self, alias: &AliasName) -> Option<(StoreTime, &Host)> {
        let from = (alias.clone(), StoreTime::default(), Host::least());
        let (of, due, host) = self.members.range(from..).next()?;
        (of == alias).then_some((*due, host))
    }

    /// Returns how many hosts are queued.
    pub(super) fn queued(&self) -> usize {
        self.wanted.len()
    }

    /// Returns the hosts that are queued for a time up to this one.
    pub(super) fn wanted_by(&self, time: StoreTime) -> impl Iterator<Item = &Host> {
        let all = self.wanted.iter();
        all.take_while(move |(at, _)| *at <= time)
            .map(|(_, host)| host)
    }

    /// Returns how many blocks end after a time.
    pub(super) fn blocked_after(&self, now: StoreTime) -> usize {
        let blocked = self.blocked.iter().rev();
        blocked.take_while(|(until, _)| *until > now).count()
    }
}

fn set<K: Ord>(keys: &mut BTreeSet<K>, key: K, presence: Presence) {
    match presence {
        Presence::Present => keys.insert(key),
        Presence::Absent => keys.remove(&key),
    };
}
