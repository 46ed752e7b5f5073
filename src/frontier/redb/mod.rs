//! The store in a file, for one process at a time.
//!
//! The schedule is in memory, as in the memory store, and each changed row is written before the
//! operation is answered. So a crash at any instant loses only unanswered operations: a lease is
//! durable before its request is sent, and a release that was not answered leaves its lease, which
//! the next process ends with a full pause. At most the requests of the leases at that time are
//! repeated.

mod compact;
mod database;
mod open;
mod rows;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use redb::ReadTransaction;

use self::database::SharedDatabase;
pub use self::open::RedbError;
pub use self::writer::RedbTransaction;
use self::writer::Writer;
use super::contract::{
    AliasName, Host, HostCounts, Lease, LeaseState, Pending, Reservation, Settings, Store,
};

/// A store in its own file or with other tables, open in one process at a time.
///
/// Tables whose name begins with `frontier-` belong to the store.
pub struct Redb {
    writer: Writer,
    database: Arc<SharedDatabase>,
    path: PathBuf,
}

impl Drop for Redb {
    /// Ends the thread that writes, and releases unused space.
    fn drop(&mut self) {
        self.writer.end();
        if let Some(database) = Arc::get_mut(&mut self.database)
            && let Some(database) = database.get_mut()
        {
            // If this fails, the space is released when the file is closed the next time.
            let _ = compact::compact(database, &self.path);
        }
    }
}

impl Redb {
    /// Begins to read tables of the caller; [`Redb::write`] writes them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn begin_read(&self) -> Result<ReadTransaction, redb::Error> {
        self.database.begin_read()
    }

    /// Writes tables of the caller, together with changes of hosts, and completes once all of that
    /// is durable.
    ///
    /// The transaction is shared with other operations: if `work` fails, nothing of it is written,
    /// and those operations fail as well.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut RedbTransaction<'_>) -> Result<T, redb::Error> + Send + 'static,
    ) -> Pending<'_, T> {
        self.writer.run(work)
    }
}

impl Store for Redb {
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()> {
        let host = host.clone();
        self.writer.run(move |batch| {
            batch.add_host(&host, after);
            Ok(())
        })
    }

    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()> {
        let host = host.clone();
        self.writer.run(move |batch| {
            batch.schedule.remove_host(&host);
            Ok(())
        })
    }

    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()> {
        let (member, alias) = (member.clone(), alias.cloned());
        self.writer.run(move |batch| {
            batch.schedule.set_alias(&member, alias.as_ref());
            Ok(())
        })
    }

    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation> {
        self.writer
            .run(move |batch| Ok(batch.schedule.reserve_next(batch.now, busy_timeout)))
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState> {
        let lease = lease.clone();
        self.writer
            .run(move |batch| Ok(batch.release(&lease, pause, next_in)))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState> {
        let lease = lease.clone();
        self.writer
            .run(move |batch| Ok(batch.schedule.renew(batch.now, &lease, busy_timeout)))
    }

    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()> {
        let host = host.clone();
        self.writer.run(move |batch| {
            batch.schedule.block(batch.now, &host, duration);
            Ok(())
        })
    }

    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()> {
        let (host, settings) = (host.clone(), settings.clone());
        self.writer.run(move |batch| {
            batch.schedule.set_settings(&host, &settings);
            Ok(())
        })
    }

    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>> {
        let host = host.clone();
        self.writer
            .run(move |batch| Ok(batch.schedule.settings(&host)))
    }

    fn reap(&self) -> Pending<'_, usize> {
        self.writer.run(|batch| Ok(batch.schedule.reap(batch.now)))
    }

    fn due(&self, block: Duration) -> Pending<'_, usize> {
        self.writer
            .run(move |batch| Ok(batch.schedule.due(batch.now, block)))
    }

    fn counts(&self) -> Pending<'_, HostCounts> {
        self.writer
            .run(|batch| Ok(batch.schedule.counts(batch.now)))
    }
}
