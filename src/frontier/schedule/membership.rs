//! Which hosts share an allowance.

use super::Schedule;
use crate::frontier::contract::{AliasName, Host};

impl Schedule {
    /// Makes a host a member of an alias, or of none; one without a port is all its ports.
    ///
    /// A lease of the host goes on and holds the new alias too, whose members have to wait for it.
    pub(crate) fn set_alias(&mut self, member: &Host, alias: Option<&AliasName>) {
        let before = match alias {
            Some(alias) => self.members.insert(member.clone(), alias.clone()),
            None => self.members.remove(member),
        };
        if before.as_ref() == alias {
            return;
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
            // What was asked of this host counts for the group that it now belongs to.
            row.rested = row.rested.max(rested);
            self.refresh(&to);
        }
    }
}
