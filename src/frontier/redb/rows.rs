//! The rows of a schedule as tables of a file.

use std::sync::Arc;
use std::time::Duration;

use redb::{
    ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle as _, WriteTransaction,
};
use serde::Serialize;
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

/// A table of bytes, like all in the file, because the code of a table is compiled for each pair of
/// types.
type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// Hosts by name.
const HOSTS: Definition = TableDefinition::new("frontier-hosts");

/// When each alias has rested, as a number.
const ALIASES: Definition = TableDefinition::new("frontier-aliases");

/// Members and their alias.
const MEMBERS: Definition = TableDefinition::new("frontier-members");

/// Numbers: the format of these tables, the last token, the last time, and how far that was ahead of the
/// system's clock.
const META: Definition = TableDefinition::new("frontier-meta");

/// The current format.
const FORMAT: u64 = 2;

/// The former format, with typed tables.
const FORMAT_WITH_TYPES: u64 = 1;

/// Why rows could not be read.
#[derive(Debug, Error)]
pub(super) enum RowsError {
    #[error(transparent)]
    Storage(#[from] redb::Error),
    #[error("its format is {0}, which this version does not support")]
    Format(u64),
    #[error("it has tables of another program")]
    Foreign,
    #[error("a row of {0} cannot be decoded")]
    Row(String),
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
        Err(TableError::TableTypeMismatch { .. }) => {
            return Err(RowsError::Format(FORMAT_WITH_TYPES));
        }
        Err(error) => return Err(redb::Error::from(error).into()),
    };
    let value = |key: &str| -> Result<u64, RowsError> {
        match meta.get(key.as_bytes()).map_err(redb::Error::from)? {
            Some(value) => number(META, value.value()),
            None => Ok(0),
        }
    };
    match value("format")? {
        FORMAT => {}
        other => return Err(RowsError::Format(other)),
    }

    let members = rows_of(&transaction, MEMBERS, |member, alias| {
        let member = Host::parse(text(MEMBERS, member)?)?;
        Ok((member, AliasName::parse(text(MEMBERS, alias)?)?))
    })?;
    let aliases = rows_of(&transaction, ALIASES, |alias, rested| {
        let rested = StoreTime::from_millis(number(ALIASES, rested)?);
        let alias = AliasName::parse(text(ALIASES, alias)?)?;
        Ok((alias, AliasRow::rested_at(rested)))
    })?;
    let hosts = rows_of(&transaction, HOSTS, |host, value| {
        Ok((Host::parse(text(HOSTS, host)?)?, decoded(value)?))
    })?;
    let schedule = HostSchedule::restored(default_pause, value("token")?, members, aliases, hosts);
    let last = LastTime {
        time: StoreTime::from_millis(value("time")?),
        ahead: Duration::from_millis(value("ahead")?),
    };
    Ok((schedule, last))
}

/// Returns the rows of a table.
fn rows_of<T>(
    transaction: &ReadTransaction,
    table: Definition,
    read: impl Fn(&[u8], &[u8]) -> Result<T, RowsError>,
) -> Result<Vec<T>, RowsError> {
    let table = transaction.open_table(table).map_err(redb::Error::from)?;
    let mut rows = Vec::new();
    for row in table.iter().map_err(redb::Error::from)? {
        let (key, value) = row.map_err(redb::Error::from)?;
        rows.push(read(key.value(), value.value())?);
    }
    Ok(rows)
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
                let value: HostValue = (
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
                table.insert(host.as_str().as_bytes(), &*encoded(&value))?;
            }
            None => {
                table.remove(host.as_str().as_bytes())?;
            }
        }
    }
    let mut table = transaction.open_table(ALIASES)?;
    for alias in &changes.aliases {
        let rested = schedule.rested(alias).millis();
        table.insert(alias.as_str().as_bytes(), &rested.to_be_bytes()[..])?;
    }
    let mut table = transaction.open_table(MEMBERS)?;
    for member in &changes.members {
        let key = member.as_str().as_bytes();
        match schedule.member(member) {
            Some(alias) => table.insert(key, alias.as_str().as_bytes())?,
            None => table.remove(key)?,
        };
    }
    let mut meta = transaction.open_table(META)?;
    for (key, value) in [
        ("format", FORMAT),
        ("token", schedule.last_token()),
        ("time", last.time.millis()),
        ("ahead", millis(last.ahead)),
    ] {
        meta.insert(key.as_bytes(), &value.to_be_bytes()[..])?;
    }
    Ok(())
}

fn number(table: Definition, value: &[u8]) -> Result<u64, RowsError> {
    let bytes = value.try_into().map_err(|_| undecodable(table))?;
    Ok(u64::from_be_bytes(bytes))
}

fn text(table: Definition, value: &[u8]) -> Result<&str, RowsError> {
    str::from_utf8(value).map_err(|_| undecodable(table))
}

fn undecodable(table: Definition) -> RowsError {
    RowsError::Row(table.name().to_owned())
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    // No value is of unknown length, the only thing that postcard cannot write.
    postcard::to_extend(value, Vec::new()).unwrap_or_default()
}

fn decoded(value: &[u8]) -> Result<HostRow, RowsError> {
    let decoded: Result<(HostValue<'_>, &[u8]), _> = postcard::take_from_bytes(value);
    let Ok((value, [])) = decoded else {
        return Err(undecodable(HOSTS));
    };
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
