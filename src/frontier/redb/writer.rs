//! The thread that writes: all waiting operations become one transaction.
//!
//! An operation is answered once the transaction it belongs to is durable. Meanwhile, others arrive
//! and share the next one: the more workers there are, the less each waits for the disk.

use std::iter;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use redb::WriteTransaction;
use tokio::sync::oneshot;

use super::database::SharedDatabase;
use super::rows::{self, LastTime, RowsError};
use crate::frontier::contract::{Host, Lease, LeaseState, Now, Pending, SteadyClock, StoreError};
use crate::frontier::schedule::HostSchedule;

/// The maximum number of operations in one transaction, so that none waits too long.
const MAX_BATCH: usize = 4096;

/// The data of an operation: the schedule, and the transaction that all operations of a batch
/// share.
pub struct RedbTransaction<'a> {
    pub(super) schedule: &'a mut HostSchedule,
    pub(super) now: Now,
    database: &'a SharedDatabase,
    transaction: Option<WriteTransaction>,
}

impl RedbTransaction<'_> {
    /// Releases a lease as [`Store::release`] does.
    ///
    /// [`Store::release`]: crate::frontier::Store::release
    pub fn release(
        &mut self,
        lease: &Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> LeaseState {
        (self.schedule).release(self.now, lease, pause, next_in)
    }

    /// Queues a host as [`Store::add_host`] does.
    ///
    /// [`Store::add_host`]: crate::frontier::Store::add_host
    pub fn add_host(&mut self, host: &Host, after: Duration) {
        self.schedule.add_host(self.now, host, after);
    }

    /// Returns the tables of the file.
    ///
    /// # Errors
    ///
    /// If they cannot be written now.
    pub fn tables(&mut self) -> Result<&WriteTransaction, redb::Error> {
        if self.transaction.is_none() {
            self.transaction = Some(self.database.begin_write()?);
        }
        Ok(self.transaction.as_ref().expect("it was begun above"))
    }
}

/// Why a batch failed; each of its operations reports it.
type BatchError = Arc<RowsError>;

/// An operation and its caller, who is answered once the batch is durable or has failed.
trait WriteTask: Send {
    fn run(&mut self, batch: &mut RedbTransaction<'_>) -> Result<(), redb::Error>;
    fn answer(self: Box<Self>, outcome: Result<(), BatchError>);
}

struct OperationTask<F, T> {
    operation: Option<F>,
    result: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> WriteTask for OperationTask<F, T>
where
    F: FnOnce(&mut RedbTransaction<'_>) -> Result<T, redb::Error> + Send,
    T: Send,
{
    fn run(&mut self, batch: &mut RedbTransaction<'_>) -> Result<(), redb::Error> {
        let operation = self.operation.take().expect("it is run once");
        self.result = Some(operation(batch)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), BatchError>) {
        let result = match outcome {
            Ok(()) => Ok(self
                .result
                .expect("a batch succeeds if all that is in it has")),
            Err(failure) => Err(StoreError::Failed(failure.into())),
        };
        // A caller that does not wait any more is not an error.
        let _ = self.caller.send(result);
    }
}

/// The thread, and the way to it.
pub(super) struct Writer {
    tasks: Option<Sender<Box<dyn WriteTask>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread, which first ends all leases of the previous process.
    pub(super) fn start(
        database: Arc<SharedDatabase>,
        default_pause: Duration,
        mut schedule: HostSchedule,
        clock: SteadyClock,
    ) -> Result<Self, RowsError> {
        schedule.note_changes();
        let mut state = WriterState {
            database,
            must_reopen: false,
            default_pause,
            schedule: Some(schedule),
            clock,
        };
        state.end_leases()?;
        let (tasks, receiver) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("frontier".to_owned())
            .spawn(move || state.serve(&receiver))
            .map_err(|error| redb::Error::from(redb::StorageError::from(error)))?;
        Ok(Self {
            tasks: Some(tasks),
            thread: Some(thread),
        })
    }

    /// Does an operation in the next batch.
    pub(super) fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut RedbTransaction<'_>) -> Result<T, redb::Error> + Send + 'static,
    ) -> Pending<'_, T> {
        Box::pin(async move {
            let (caller, result) = oneshot::channel();
            let task = Box::new(OperationTask {
                operation: Some(operation),
                result: None,
                caller,
            });
            if let Some(tasks) = &self.tasks {
                // If the thread has ended, the task is dropped, which its caller notices.
                let _ = tasks.send(task);
            }
            let gone = |_| StoreError::Failed("the thread that writes has ended".into());
            result.await.unwrap_or_else(|ended| Err(gone(ended)))
        })
    }

    /// Completes the queued operations and ends the thread, which then no longer uses the database.
    pub(super) fn end(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was already reported.
            let _ = thread.join();
        }
    }
}

struct WriterState {
    database: Arc<SharedDatabase>,
    /// Whether an I/O error has made the database unusable until it is opened again.
    must_reopen: bool,
    default_pause: Duration,
    /// Missing after a failed batch, until the file is read again.
    schedule: Option<HostSchedule>,
    clock: SteadyClock,
}

impl WriterState {
    fn serve(&mut self, receiver: &Receiver<Box<dyn WriteTask>>) {
        while let Ok(first) = receiver.recv() {
            let more = iter::from_fn(|| receiver.try_recv().ok());
            let mut tasks: Vec<_> = iter::once(first).chain(more).take(MAX_BATCH).collect();
            let outcome = self.write(|batch| tasks.iter_mut().try_for_each(|task| task.run(batch)));
            let outcome = outcome.map_err(Arc::new);
            for task in tasks {
                task.answer(outcome.clone());
            }
        }
    }

    /// Ends the leases of a process that has ended: its requests may have just been sent.
    fn end_leases(&mut self) -> Result<(), RowsError> {
        self.write(|batch| {
            batch.schedule.end_all(batch.now);
            // Even without leases, because this creates the tables of a new file.
            batch.tables().map(drop)
        })
    }

    /// Does some work in one transaction, which becomes durable or is rolled back.
    fn write(
        &mut self,
        work: impl FnOnce(&mut RedbTransaction<'_>) -> Result<(), redb::Error>,
    ) -> Result<(), RowsError> {
        let written = self.try_write(work);
        if let Err(RowsError::Storage(redb::Error::Io(_) | redb::Error::PreviousIo)) = written {
            self.must_reopen = true;
        }
        written
    }

    fn try_write(
        &mut self,
        work: impl FnOnce(&mut RedbTransaction<'_>) -> Result<(), redb::Error>,
    ) -> Result<(), RowsError> {
        let mut schedule = match self.schedule.take() {
            Some(schedule) => schedule,
            None => {
                if self.must_reopen {
                    self.database.reopen()?;
                    self.must_reopen = false;
                }
                let (mut schedule, _) = rows::read(&self.database, self.default_pause)?;
                schedule.note_changes();
                schedule
            }
        };
        let mut batch = RedbTransaction {
            schedule: &mut schedule,
            now: self.clock.now(),
            database: &self.database,
            transaction: None,
        };
        work(&mut batch)?;
        let changes = batch.schedule.take_changes();
        if !changes.is_empty() {
            batch.tables()?;
        }
        let (now, transaction) = (batch.now, batch.transaction);
        if let Some(transaction) = transaction {
            let last = LastTime {
                time: now.time(),
                ahead: self.clock.ahead(),
            };
            rows::write(&transaction, &schedule, &changes, last)?;
            transaction.commit().map_err(redb::Error::from)?;
        }
        self.schedule = Some(schedule);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    use redb::backends::InMemoryBackend;
    use redb::{Builder, Database, DatabaseError, StorageBackend};

    use super::*;
    use crate::frontier::contract::SystemClock;

    /// A disk that is full for a while.
    #[derive(Clone, Debug, Default)]
    struct Disk {
        bytes: Arc<InMemoryBackend>,
        is_full: Arc<AtomicBool>,
    }

    impl Disk {
        fn open(&self) -> Result<Database, DatabaseError> {
            Builder::new().create_with_backend(self.clone())
        }

        fn has_space(&self) -> io::Result<()> {
            match self.is_full.load(Ordering::SeqCst) {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> io::Result<u64> {
            self.bytes.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.bytes.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.has_space()?;
            self.bytes.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.has_space()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.has_space()?;
            self.bytes.write(offset, data)
        }
    }

    #[tokio::test]
    async fn writing_resumes_when_the_disk_has_space_again() {
        let disk = Disk::default();
        let database = SharedDatabase::new(disk.open().unwrap(), {
            let disk = disk.clone();
            move || disk.open()
        });
        let database = Arc::new(database);
        let pause = Duration::from_secs(1);
        let (schedule, last) = rows::read(&database, pause).unwrap();
        let clock = SteadyClock::starting_at(Box::new(SystemClock::new()), last.time);
        let writer = Writer::start(Arc::clone(&database), pause, schedule, clock).unwrap();
        let add = |name: &str| {
            let host = Host::parse(name).unwrap();
            writer.run(move |batch| {
                batch.add_host(&host, Duration::ZERO);
                Ok(())
            })
        };
        add("one.example").await.unwrap();
        disk.is_full.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            add("two.example").await.unwrap_err();
        }
        disk.is_full.store(false, Ordering::SeqCst);
        // The first may be what finds the error.
        let _ = add("three.example").await;
        add("three.example").await.unwrap();
        let counts = writer.run(|batch| Ok(batch.schedule.counts(batch.now)));
        assert_eq!(counts.await.unwrap().queued, 2);
        let (read, _) = rows::read(&database, pause).unwrap();
        assert!(read.host(&Host::parse("one.example").unwrap()).is_some());
    }
}
