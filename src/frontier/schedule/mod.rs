//! The schedule of hosts: a state machine without a clock, a file or a lock.
//!
//! A host without an alias is a separate group; an alias is a group of its members. A group is due
//! when it has rested and the first of its queued hosts is due, and only groups that no lease holds
//! are in the index of ready groups. So reserving takes one step, however many members of a busy
//! group are due, and groups take turns in the order in which they became due.
//!
//! The index is derived: a store keeps the rows of hosts and aliases, and the members.

mod index;
mod leasing;
mod membership;
mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use row::{AliasRow, HostRow, LeaseRow};

use self::index::{GroupIndex, HostGroup};
use crate::frontier::contract::{AliasName, Host, HostCounts, Now, Settings, millis};

/// All hosts, and which is due when.
pub(crate) struct HostSchedule {
    hosts: BTreeMap<Host, HostRow>,
    aliases: BTreeMap<AliasName, AliasRow>,
    members: BTreeMap<Host, AliasName>,
    index: GroupIndex,
    last_token: u64,
    default_pause: Duration,
    changes: Option<Changes>,
}

/// Which rows have changed since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Hosts whose row has changed or is gone.
    pub(crate) hosts: BTreeSet<Host>,
    /// Aliases whose row has changed.
    pub(crate) aliases: BTreeSet<AliasName>,
    /// Members whose alias has changed.
    pub(crate) members: BTreeSet<Host>,
}

impl Changes {
    /// Returns whether nothing has changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.aliases.is_empty() && self.members.is_empty()
    }
}

impl HostSchedule {
    /// Returns a schedule without hosts; `default_pause` is the minimum pause of a host's group
    /// after a lease that ends without a release.
    pub(crate) fn new(default_pause: Duration) -> Self {
        Self {
            hosts: BTreeMap::new(),
            aliases: BTreeMap::new(),
            members: BTreeMap::new(),
            index: GroupIndex::default(),
            last_token: 0,
            default_pause,
            changes: None,
        }
    }

    /// Records changes from now on, for [`HostSchedule::take_changes`].
    pub(crate) fn note_changes(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// Returns what has changed since the last call.
    pub(crate) fn take_changes(&mut self) -> Changes {
        self.changes
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Queues a host, which becomes known, unless it is already queued for an earlier time.
    ///
    /// A leased host is queued once its lease has ended.
    pub(crate) fn add_host(&mut self, now: Now, host: &Host, after: Duration) {
        self.edit(host, |row| {
            row.removed = false;
            row.queue(now.after(after));
        });
    }

    /// Removes a host from the queue, and forgets it once its lease and its pauses are over.
    pub(crate) fn remove_host(&mut self, host: &Host) {
        if self.hosts.contains_key(host) {
            self.edit(host, |row| {
                row.removed = true;
                row.next = None;
                row.note = Arc::default();
            });
        }
    }

    /// Prevents a host from being reserved for a while, unless it is already blocked for longer.
    pub(crate) fn block(&mut self, now: Now, host: &Host, duration: Duration) {
        self.edit(host, |row| {
            row.blocked = row.blocked.max(now.after(duration))
        });
    }

    /// Stores the settings of a host, which becomes known.
    pub(crate) fn set_settings(&mut self, host: &Host, settings: &Settings) {
        let pause = Duration::from_millis(millis(settings.pause));
        self.edit(host, |row| {
            row.pause = pause;
            row.note = Arc::clone(&settings.note);
        });
    }

    /// Returns the settings of a host, if it is known.
    pub(crate) fn settings(&self, host: &Host) -> Option<Settings> {
        self.hosts.get(host).map(|row| Settings {
            pause: row.pause,
            note: Arc::clone(&row.note),
        })
    }

    /// Counts the hosts that are leased, or queued for a time that has come and not blocked for longer
    /// than `block` from now.
    pub(crate) fn due(&self, now: Now, block: Duration) -> usize {
        let limit = now.after(block);
        let due = self.index.wanted_by(now.time());
        let asked = due.filter(|host| {
            let row = self.hosts.get(host);
            row.is_some_and(|row| row.blocked <= limit)
        });
        self.index.leased.len() + asked.count()
    }

    /// Counts hosts by their state.
    pub(crate) fn counts(&self, now: Now) -> HostCounts {
        HostCounts {
            hosts: self.hosts.len(),
            queued: self.index.queued(),
            busy: self.index.leased.len(),
            blocked: self.index.blocked_after(now.time()),
            busy_aliases: self.aliases.values().filter(|row| row.held > 0).count(),
        }
    }

    /// Changes the row of a host, which becomes known, and what is derived from it.
    fn edit(&mut self, host: &Host, change: impl FnOnce(&mut HostRow)) {
        let row = match self.hosts.get_mut(host) {
            Some(row) => row,
            None => {
                let row = HostRow {
                    alias: self.alias_of(host).cloned(),
                    ..HostRow::default()
                };
                self.hosts.entry(host.clone()).or_insert(row)
            }
        };
        self.index.take(host, row);
        change(row);
        self.index.add(host, row);
        if let Some(alias) = row.alias.clone() {
            self.refresh(&alias);
        }
        if let Some(changes) = &mut self.changes {
            changes.hosts.insert(host.clone());
        }
    }

    /// Updates the place of an alias in the index of ready groups.
    fn refresh(&mut self, alias: &AliasName) {
        let row = self.aliases.entry(alias.clone()).or_default();
        let first = self.index.first_member(alias).filter(|_| row.held == 0);
        let ready = first.map(|(due, _)| due.max(row.rested));
        if ready == row.ready {
            return;
        }
        let group = || HostGroup::Alias(alias.clone());
        if let Some(at) = row.ready {
            self.index.ready.remove(&(at, group()));
        }
        if let Some(at) = ready {
            self.index.ready.insert((at, group()));
        }
        row.ready = ready;
    }
}
