//! The hosts that share an allowance, set by each run.

use std::collections::HashSet;

use super::shared::Checker;
use super::state::{Space, StateRow, StateWrite};
use crate::frontier::{AliasName, Host, StoreError};

/// The members of aliases that the last run had.
const MEMBERS: &[u8] = b"members";

impl Checker {
    /// Sets which hosts share an allowance; the aliases of the run before are forgotten.
    ///
    /// # Errors
    ///
    /// If the state cannot be read or written.
    pub async fn set_aliases(&self, members: &[(Host, AliasName)]) -> Result<(), StoreError> {
        let access = self.access();
        let before = access.read(Space::Settings, MEMBERS).await?;
        let before: Vec<String> = before.unwrap_or_default();
        let names: Vec<_> = (members.iter())
            .map(|(member, _)| member.to_string())
            .collect();
        // Written before and after, so that none is lost if this is interrupted.
        let all: Vec<_> = before.iter().chain(&names).cloned().collect();
        let write = |names: &Vec<String>| StateWrite {
            rows: vec![StateRow::put(Space::Settings, MEMBERS, names)],
            ..StateWrite::default()
        };
        if all.is_empty() {
            return Ok(());
        }
        access.write(&write(&all)).await?;
        let kept: HashSet<_> = names.iter().collect();
        for member in before.iter().filter(|name| !kept.contains(name)) {
            if let Ok(member) = Host::parse(member) {
                access.set_alias(&member, None).await?;
            }
        }
        for (member, alias) in members {
            access.set_alias(member, Some(alias)).await?;
        }
        access.write(&write(&names)).await?;
        Ok(())
    }
}
