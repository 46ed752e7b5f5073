//! The thread that writes: whatever waits becomes one transaction.
//!
//! An operation is answered once the transaction it belongs to is durable. Meanwhile others arrive,
//! and share the next one: the more workers there are, the less each waits for the disk.

use std::iter;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use redb::{Database, WriteTransaction};
use tokio::sync::oneshot;

use super::rows::{self, RowsError};
use crate::frontier::contract::{Host, Lease, LeaseState, Now, Pending, SteadyClock, StoreError};
use crate::frontier::schedule::HostSchedule;

/// The most operations in one transaction, so that none waits too long.
const MAX_BATCH: usize = 4096;

/// What an operation works on: the schedule, and the transaction that all operations of a batch share.
pub struct RedbTransaction<'a> {
    pub(super) schedule: &'a mut HostSchedule,
    pub(super) now: Now,
    database: &'a Database,
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
type Failure = Arc<RowsError>;

/// An operation and its caller, who is answered once the batch is durable or has failed.
trait WriteTask: Send {
    fn run(&mut self, batch: &mut RedbTransaction<'_>) -> Result<(), redb::Error>;
    fn answer(self: Box<Self>, outcome: Result<(), Failure>);
}

struct Operation<F, T> {
    operation: Option<F>,
    result: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> WriteTask for Operation<F, T>
where
    F: FnOnce(&mut RedbTransaction<'_>) -> Result<T, redb::Error> + Send,
    T: Send,
{
    fn run(&mut self, batch: &mut RedbTransaction<'_>) -> Result<(), redb::Error> {
        let operation = self.operation.take().expect("it is run once");
        self.result = Some(operation(batch)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), Failure>) {
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
    /// Starts the thread, and has it end all leases of the process before.
    pub(super) fn start(
        database: Arc<Database>,
        default_pause: Duration,
        mut schedule: HostSchedule,
        clock: SteadyClock,
    ) -> Result<Self, RowsError> {
        schedule.note_changes();
        let mut state = WriterState {
            database,
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
            let task = Box::new(Operation {
                operation: Some(operation),
                result: None,
                caller,
            });
            if let Some(tasks) = &self.tasks {
                // If the thread has ended, the task is dropped, and so is the way to its caller.
                let _ = tasks.send(task);
            }
            let gone = |_| StoreError::Failed("the thread that writes has ended".into());
            result.await.unwrap_or_else(|ended| Err(gone(ended)))
        })
    }

    /// Does what was asked for, and ends the thread, which does not use the database any more then.
    pub(super) fn end(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was reported then.
            let _ = thread.join();
        }
    }
}

struct WriterState {
    database: Arc<Database>,
    default_pause: Duration,
    /// Missing after a batch that failed, until what is in the file is read again.
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

    /// Ends the leases of a process that is no more: its requests may have been sent just now.
    fn end_leases(&mut self) -> Result<(), RowsError> {
        self.write(|batch| {
            batch.schedule.end_all(batch.now);
            // Also if there was none: it creates the tables of a new file.
            batch.tables().map(drop)
        })
    }

    /// Does some work in one transaction, and makes it durable or has it undone.
    fn write(
        &mut self,
        work: impl FnOnce(&mut RedbTransaction<'_>) -> Result<(), redb::Error>,
    ) -> Result<(), RowsError> {
        let mut schedule = match self.schedule.take() {
            Some(schedule) => schedule,
            None => {
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
            rows::write(&transaction, &schedule, &changes, now)?;
            transaction.commit().map_err(redb::Error::from)?;
        }
        self.schedule = Some(schedule);
        Ok(())
    }
}
