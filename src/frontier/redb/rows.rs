//! The rows of a schedule as tables of a file.

use std::sync::Arc;
use std::time::Duration;

use redb::{ReadableTable, TableDefinition, TableError, WriteTransaction};
use thiserror::Error;

use super::database::SharedDatabase;
use crate::frontier::contract::{AliasError, AliasName, Host, HostError, StoreTime, millis};
use crate::frontier::schedule::{AliasRow, Changes, HostRow, HostSchedule, LeaseRow};

/// A host's row: next, rested, blocked, pause, removed, its lease as token and end, the aliases that
/// the lease holds, and its note.
type HostValue<'a> = (
    Option<u64>,
    u64,
    u64,
    u64,
    bool,
    Option<(u64, u64)>,
    Vec<&'a str>,
    &'a [u8],
);

/// Hosts by name.
const HOSTS: TableDefinition<&str, HostValue> = TableDefinition::new("frontier-hosts");

/// When each alias has rested.
const ALIASES: TableDefinition<&str, u64> = TableDefinition::new("frontier-aliases");

/// Members and their alias.
const MEMBERS: TableDefinition<&str, &str> = TableDefinition::new("frontier-members");

/// The format of these tables, the last token, the last time, and how far that was ahead of the system's
/// clock.
const META: TableDefinition<&str, u64> = TableDefinition::new("frontier-meta");

/// The format that is written here.
const FORMAT: u64 = 1;

/// Why rows could not be read.
#[derive(Debug, Error)]
pub(super) enum RowsError {
    #[error(transparent)]
    Storage(#[from] redb::Error),
    #[error("its format is {0}, which this version does not know")]
    Format(u64),
    #[error("it has tables of another program")]
    Foreign,
    #[error(transparent)]
    Host(#[from] HostError),
    #[error(transparent)]
    Alias(#[from] AliasError),
}

/// The last time that was written, and how far it was ahead of the system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LastTime {
    pub(super) time: StoreTime,
    pub(super) ahead: Duration,
}

/// Reads a schedule and the last time that was written; a file without any tables has none.
pub(super) fn read(
    database: &SharedDatabase,
    default_pause: Duration,
) -> Result<(HostSchedule, LastTime), RowsError> {
    let transaction = database.begin_read()?;
    let meta = match transaction.open_table(META) {
        Ok(meta) => meta,
        Err(TableError::TableDoesNotExist(_)) => {
            let mut tables = transaction.list_tables().map_err(redb::Error::from)?;
            return match tables.next() {
                None => Ok((HostSchedule::new(default_pause), LastTime::default())),
                Some(_) => Err(RowsError::Foreign),
            };
        }
        Err(TableError::TableTypeMismatch { .. }) => return Err(RowsError::Foreign),
        Err(error) => return Err(redb::Error::from(error).into()),
    };
    let value = |key| -> Result<u64, redb::Error> {
        Ok(meta
            .get(key)?
            .map(|value| value.value())
            .unwrap_or_default())
    };
    match value("format")? {
        FORMAT => {}
        other => return Err(RowsError::Format(other)),
    }

    let mut members = Vec::new();
    let table = transaction.open_table(MEMBERS).map_err(redb::Error::from)?;
    for row in table.iter().map_err(redb::Error::from)? {
        let (member, alias) = row.map_err(redb::Error::from)?;
        members.push((
            Host::parse(member.value())?,
            AliasName::parse(alias.value())?,
        ));
    }
    let mut aliases = Vec::new();
    let table = transaction.open_table(ALIASES).map_err(redb::Error::from)?;
    for row in table.iter().map_err(redb::Error::from)? {
        let (alias, rested) = row.map_err(redb::Error::from)?;
        let rested = StoreTime::from_millis(rested.value());
        aliases.push((
            AliasName::parse(alias.value())?,
            AliasRow::rested_at(rested),
        ));
    }
    let mut hosts = Vec::new();
    let table = transaction.open_table(HOSTS).map_err(redb::Error::from)?;
    for row in table.iter().map_err(redb::Error::from)? {
        let (host, value) = row.map_err(redb::Error::from)?;
        hosts.push((Host::parse(host.value())?, decoded(value.value())?));
    }
    let schedule = HostSchedule::restored(default_pause, value("token")?, members, aliases, hosts);
    let last = LastTime {
        time: StoreTime::from_millis(value("time")?),
        ahead: Duration::from_millis(value("ahead")?),
    };
    Ok((schedule, last))
}

/// Writes the rows that have changed, and the time.
pub(super) fn write(
    transaction: &WriteTransaction,
    schedule: &HostSchedule,
    changes: &Changes,
    last: LastTime,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(HOSTS)?;
    for host in &changes.hosts {
        match schedule.host(host) {
            Some(row) => {
                let holds = row.lease.iter().flat_map(|lease| &lease.holds);
                let value = (
                    row.next.map(StoreTime::millis),
                    row.rested.millis(),
                    row.blocked.millis(),
                    millis(row.pause),
                    row.removed,
                    row.lease
                        .as_ref()
                        .map(|lease| (lease.token, lease.until.millis())),
                    holds.map(AliasName::as_str).collect(),
                    &*row.note,
                );
                table.insert(host.as_str(), value)?;
            }
            None => {
                table.remove(host.as_str())?;
            }
        }
    }
    let mut table = transaction.open_table(ALIASES)?;
    for alias in &changes.aliases {
        table.insert(alias.as_str(), schedule.rested(alias).millis())?;
    }
    let mut table = transaction.open_table(MEMBERS)?;
    for member in &changes.members {
        match schedule.member(member) {
            Some(alias) => table.insert(member.as_str(), alias.as_str())?,
            None => table.remove(member.as_str())?,
        };
    }
    let mut meta = transaction.open_table(META)?;
    meta.insert("format", FORMAT)?;
    meta.insert("token", schedule.last_token())?;
    meta.insert("time", last.time.millis())?;
    meta.insert("ahead", millis(last.ahead))?;
    Ok(())
}

fn decoded(value: HostValue<'_>) -> Result<HostRow, AliasError> {
    let (next, rested, blocked, pause, removed, lease, holds, note) = value;
    let holds: Result<_, _> = holds.into_iter().map(AliasName::parse).collect();
    let holds = holds?;
    Ok(HostRow {
        alias: None,
        next: next.map(StoreTime::from_millis),
        rested: StoreTime::from_millis(rested),
        blocked: StoreTime::from_millis(blocked),
        pause: Duration::from_millis(pause),
        // Most have none, and share the empty one.
        note: match note {
            [] => Arc::default(),
            _ => note.into(),
        },
        removed,
        lease: lease.map(|(token, until)| {
            Box::new(LeaseRow {
                token,
                until: StoreTime::from_millis(until),
                holds,
            })
        }),
    })
}
