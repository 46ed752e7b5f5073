//! The hosts that share an allowance, and restoring a schedule from stored rows.

use std::time::Duration;

use super::{AliasRow, HostRow, HostSchedule};
use crate::frontier::contract::{AliasName, Host, StoreTime};

impl HostSchedule {
    /// Makes a host a member of an alias, or of none; one without a port covers all its ports.
    ///
    /// A lease of the host continues and holds the new alias too, whose members must wait for it.
    pub(crate) fn set_alias(&mut self, member: &Host, alias: Option<&AliasName>) {
        let before = match alias {
            Some(alias) => self.members.insert(member.clone(), alias.clone()),
            None => self.members.remove(member),
        };
        if before.as_ref() == alias {
            return;
        }
        if let Some(changes) = &mut self.changes {
            changes.members.insert(member.clone());
        }
        for host in self.hosts_of(member) {
            self.join(&host);
        }
    }

    /// Returns the alias that a host is a member of, with its port or with all of them.
    pub(super) fn alias_of(&self, host: &Host) -> Option<&AliasName> {
        let exact = self.members.get(host);
        exact.or_else(|| self.members.get(&host.without_port()))
    }

    /// Restores a schedule from stored rows.
    pub(crate) fn restored(
        default_pause: Duration,
        last_token: u64,
        members: impl IntoIterator<Item = (Host, AliasName)>,
        aliases: impl IntoIterator<Item = (AliasName, AliasRow)>,
        hosts: impl IntoIterator<Item = (Host, HostRow)>,
    ) -> Self {
        let mut schedule = Self::new(default_pause);
        schedule.last_token = last_token;
        schedule.members.extend(members);
        schedule.aliases.extend(aliases);
        // Collected at once, they are packed more closely than if they were inserted one by one.
        schedule.hosts = hosts
            .into_iter()
            .map(|(host, mut row)| {
                row.alias = schedule.alias_of(&host).cloned();
                (host, row)
            })
            .collect();
        for (host, row) in &schedule.hosts {
            for alias in row.lease.iter().flat_map(|lease| &lease.holds) {
                schedule.aliases.entry(alias.clone()).or_default().held += 1;
            }
            schedule.index.add(host, row);
        }
        let aliases: Vec<_> = schedule
            .hosts
            .values()
            .filter_map(|row| row.alias.clone())
            .collect();
        for alias in aliases {
            schedule.refresh(&alias);
        }
        schedule
    }

    /// Returns the row of a host, if it is known.
    pub(crate) fn host(&self, host: &Host) -> Option<&HostRow> {
        self.hosts.get(host)
    }

    /// Returns when an alias has rested.
    pub(crate) fn rested(&self, alias: &AliasName) -> StoreTime {
        self.aliases
            .get(alias)
            .map(|row| row.rested)
            .unwrap_or_default()
    }

    /// Returns the alias of exactly this member.
    pub(crate) fn member(&self, member: &Host) -> Option<&AliasName> {
        self.members.get(member)
    }

    /// Returns the token of the last lease.
    pub(crate) fn last_token(&self) -> u64 {
        self.last_token
    }

    /// Returns the known hosts that a member covers.
    fn hosts_of(&self, member: &Host) -> Vec<Host> {
        let mut hosts: Vec<_> = self
            .hosts
            .get_key_value(member)
            .map(|(host, _)| host.clone())
            .into_iter()
            .collect();
        if !member.has_port() {
            // The hosts with a port follow one another, after the name and a colon.
            let ports = self
                .hosts
                .range(member.first_port()..)
                .map(|(host, _)| host);
            let ports = ports.take_while(|host| host.as_str().starts_with(&format!("{member}:")));
            hosts.extend(ports.cloned());
        }
        hosts
    }

    /// Moves a host to the alias that it is now a member of.
    fn join(&mut self, host: &Host) {
        let to = self.alias_of(host).cloned();
        let Some(row) = self.hosts.get(host).filter(|row| row.alias != to) else {
            return;
        };
        let from = row.alias.clone();
        let rested = row.rested;
        let mut held = false;
        self.edit(host, |row| {
            row.alias.clone_from(&to);
            if let (Some(lease), Some(to)) = (&mut row.lease, &to)
                && !lease.holds.contains(to)
            {
                lease.holds.push(to.clone());
                held = true;
            }
        });
        if let Some(from) = from {
            self.refresh(&from);
        }
        if let Some(to) = to {
            let row = self.aliases.entry(to.clone()).or_default();
            row.held += usize::from(held);
            // Requests to this host count for its new group.
            row.rested = row.rested.max(rested);
            self.refresh(&to);
            if let Some(changes) = &mut self.changes {
                changes.aliases.insert(to);
            }
        }
    }
}
