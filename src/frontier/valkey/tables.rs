//! Tables of the caller next to the hosts: rows that are written atomically with changes of hosts.
//!
//! A table is a hash in the same slot as the store's keys. One whose rows are read in order also has its
//! keys in a sorted set, in lexical order.

use std::time::Duration;

use super::{Valkey, argument};
use crate::frontier::contract::{Host, Lease, StoreError};

/// How many rows are read at a time: no answer is long, and no script unpacks more.
const READ_AT_ONCE: usize = 1000;

/// Whether the script that reads the first rows reads their values, as it takes that.
const WITH_VALUES: &[u8] = b"1";
const WITHOUT_VALUES: &[u8] = b"0";

/// A table of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValkeyTable {
    /// Its name, which no other caller uses.
    pub name: &'static str,
    /// Whether its rows are read in order.
    pub is_ordered: bool,
}

/// A row of a table, with a value or missing.
#[derive(Debug, Clone, Copy)]
pub struct ValkeyRow<'a> {
    /// The table.
    pub table: ValkeyTable,
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: Option<&'a [u8]>,
}

/// A write: all of it is done, or nothing.
#[derive(Debug, Clone, Default)]
pub struct ValkeyWrite<'a> {
    /// Rows that must be as they were read, or nothing is written.
    pub expected: Vec<ValkeyRow<'a>>,
    /// A lease that is released; if it has ended, nothing is written.
    pub release: Option<(&'a Lease, Duration, Option<Duration>)>,
    /// Rows that are written, or removed if they have no value.
    pub rows: Vec<ValkeyRow<'a>>,
    /// Hosts that are queued, each to be requested after a time.
    pub hosts: &'a [(Host, Duration)],
}

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValkeyWritten {
    /// It was done.
    Written,
    /// A row was not as expected: nothing was done.
    Conflict,
    /// The lease had ended: nothing was done.
    Ended,
}

/// The keys and arguments of a script.
#[derive(Default)]
struct ScriptCall {
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
}

impl ScriptCall {
    fn add(&mut self, argument: impl Into<Vec<u8>>) {
        self.arguments.push(argument.into());
    }

    /// Adds a row, with the numbers of its table's keys among those of this call.
    fn add_row(&mut self, store: &Valkey, row: &ValkeyRow<'_>) {
        let hash = self.number(store.table_key(row.table));
        let order = match row.table.is_ordered {
            true => self.number(store.order_key(row.table)),
            false => 0,
        };
        self.add(hash.to_string());
        self.add(order.to_string());
        self.add(row.key);
        self.add(if row.value.is_some() { "1" } else { "0" });
        self.add(row.value.unwrap_or_default());
    }

    /// Returns the number of a key, from 1.
    fn number(&mut self, key: String) -> usize {
        match self.keys.iter().position(|it| *it == key) {
            Some(found) => found + 1,
            None => {
                self.keys.push(key);
                self.keys.len()
            }
        }
    }
}

impl Valkey {
    /// Returns the values of keys of a table, in their order.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn get_rows(
        &self,
        table: ValkeyTable,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut values = Vec::with_capacity(keys.len());
        for keys in keys.chunks(READ_AT_ONCE) {
            let arguments: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            let table = [self.table_key(table)];
            let get = &self.scripts.get_rows;
            let found: Vec<_> = self.call_with(get, &table, &arguments).await?;
            values.extend(found);
        }
        Ok(values)
    }

    /// Returns the time of the store since 1970, and the first rows of an ordered table whose keys are
    /// at least `from` and less than `to`.
    ///
    /// There may be fewer than `limit` only if there are no more, or after 1,000.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn first_rows(
        &self,
        table: ValkeyTable,
        from: &[u8],
        to: Option<&[u8]>,
        limit: usize,
    ) -> Result<(Duration, Vec<(Vec<u8>, Vec<u8>)>), StoreError> {
        let (time, found) = self.first(table, from, to, limit, WITH_VALUES).await?;
        let mut found = found.into_iter();
        let mut rows = Vec::new();
        while let (Some(key), Some(value)) = (found.next(), found.next()) {
            rows.push((key, value));
        }
        Ok((time, rows))
    }

    /// Returns the time of the store since 1970, and the first keys of an ordered table that are at
    /// least `from`.
    ///
    /// There may be fewer than `limit` only if there are no more, or after 1,000.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn first_keys(
        &self,
        table: ValkeyTable,
        from: &[u8],
        limit: usize,
    ) -> Result<(Duration, Vec<Vec<u8>>), StoreError> {
        let (time, found) = self.first(table, from, None, limit, WITHOUT_VALUES).await?;
        // Each is followed by an empty value.
        Ok((time, found.into_iter().step_by(2).collect()))
    }

    /// Returns the time, and keys and values in turns.
    async fn first(
        &self,
        table: ValkeyTable,
        from: &[u8],
        to: Option<&[u8]>,
        limit: usize,
        values: &[u8],
    ) -> Result<(Duration, Vec<Vec<u8>>), StoreError> {
        let from = [b"[", from].concat();
        let to = to.map_or_else(|| b"+".to_vec(), |to| [b"(", to].concat());
        let limit = limit.min(READ_AT_ONCE).to_string();
        let keys = [self.order_key(table), self.table_key(table)];
        let arguments = [&*from, &to, limit.as_bytes(), values];
        let first = &self.scripts.first_rows;
        let (time, found): (u64, Vec<Vec<u8>>) = self.call_with(first, &keys, &arguments).await?;
        Ok((Duration::from_millis(time), found))
    }

    /// Writes all or nothing, and returns the result and the time of the store.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn write(
        &self,
        write: &ValkeyWrite<'_>,
    ) -> Result<(ValkeyWritten, Duration), StoreError> {
        let mut call = ScriptCall::default();
        let lengths = [write.expected.len(), write.rows.len(), write.hosts.len()];
        for length in lengths {
            call.add(length.to_string());
        }
        match write.release {
            Some((lease, pause, next_in)) => {
                call.add(lease.host.as_str());
                call.add(lease.token.to_string());
                call.add(argument(pause));
                call.add(next_in.map(argument).unwrap_or_default());
            }
            None => (0..4).for_each(|_| call.add("")),
        }
        for row in write.expected.iter().chain(&write.rows) {
            call.add_row(self, row);
        }
        for (host, after) in write.hosts {
            call.add(host.as_str());
            call.add(argument(*after));
        }
        let arguments: Vec<_> = call.arguments.iter().map(Vec::as_slice).collect();
        let script = &self.scripts.write;
        let (written, time): (u8, u64) = self.call_with(script, &call.keys, &arguments).await?;
        let written = match written {
            0 => ValkeyWritten::Written,
            1 => ValkeyWritten::Conflict,
            _ => ValkeyWritten::Ended,
        };
        Ok((written, Duration::from_millis(time)))
    }

    /// Returns the time of the store since 1970.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or fails.
    pub async fn time(&self) -> Result<Duration, StoreError> {
        let (_, time) = self.write(&ValkeyWrite::default()).await?;
        Ok(time)
    }

    fn table_key(&self, table: ValkeyTable) -> String {
        format!("{{{}}}:{}", self.shard, table.name)
    }

    fn order_key(&self, table: ValkeyTable) -> String {
        format!("{}:order", self.table_key(table))
    }
}
