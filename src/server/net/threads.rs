//! The serving threads: each has its own connections, and a runtime that does nothing else.
//!
//! Connections are accepted elsewhere, and each is given to the thread with the fewest. There it
//! stays, so it shares nothing with other threads: no queue, no lock, no counter.
//!
//! Invariant: only clients are served here. Reloads, operators and signals use another runtime, and
//! delay no redirect.

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::server::http::RequestCounts;

/// The name of each thread that serves clients.
pub const SERVING_THREAD: &str = "serving";

/// Threads that serve until this is dropped; connections that are still open then are cut off.
pub(crate) struct Threads(Vec<Thread>);

/// One serving thread.
pub(crate) struct Thread {
    runtime: Handle,
    /// Also held by each [`ThreadPlace`].
    connections: Arc<()>,
    /// The counts of its requests.
    pub(crate) counts: Arc<RequestCounts>,
    /// Ends the thread when dropped.
    _end: oneshot::Sender<()>,
}

/// A connection's place on a thread.
pub(crate) struct ThreadPlace {
    _one: Arc<()>,
}

impl Threads {
    /// Starts the given number of threads.
    ///
    /// # Errors
    ///
    /// Fails if the operating system has run out of threads or file descriptors.
    pub(crate) fn start(
        count: NonZeroUsize,
        mut counts: impl FnMut() -> Arc<RequestCounts>,
    ) -> io::Result<Self> {
        (0..count.get())
            .map(|_| Thread::start(counts()))
            .collect::<io::Result<_>>()
            .map(Self)
    }

    /// Returns the thread that has the fewest connections.
    pub(crate) fn least_busy(&self) -> &Thread {
        let connections = |thread: &&Thread| Arc::strong_count(&thread.connections);
        let thread = self.0.iter().min_by_key(connections);
        thread.expect("at least one was started")
    }

    /// Waits until each thread has run a new task.
    pub(crate) async fn all_alive(&self) {
        for thread in &self.0 {
            // It fails only when the server ends.
            let _ = thread.runtime.spawn(async {}).await;
        }
    }
}

impl Thread {
    fn start(counts: Arc<RequestCounts>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let run = move || {
            // Nothing is ever sent.
            let _ = runtime.block_on(ended);
        };
        thread::Builder::new()
            .name(SERVING_THREAD.to_owned())
            .spawn(run)?;
        Ok(Self {
            runtime: handle,
            connections: Arc::new(()),
            counts,
            _end: end,
        })
    }

    /// Returns a guard that counts as one connection of this thread until it is dropped.
    pub(crate) fn place(&self) -> ThreadPlace {
        ThreadPlace {
            _one: Arc::clone(&self.connections),
        }
    }

    /// Serves a connection on this thread; it should hold a [`place`](Self::place) there.
    pub(crate) fn serve(&self, connection: impl Future<Output = ()> + Send + 'static) {
        // Not wrapped in another future, which would reserve space for it twice.
        self.runtime.spawn(connection);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::mpsc;

    use super::*;
    use crate::server::http::Requests;

    #[tokio::test]
    async fn shares_connections_out_and_cuts_them_off_at_the_end() {
        let requests = Requests::default();
        let threads = Threads::start(NonZeroUsize::new(2).unwrap(), || requests.counts()).unwrap();
        let (sender, mut receiver) = mpsc::channel(4);
        for _ in 0..4 {
            let sender = sender.clone();
            let thread = threads.least_busy();
            let place = thread.place();
            thread.serve(async move {
                let _place = place;
                let thread = thread::current().id();
                sender.send(thread).await.unwrap();
                pending::<()>().await;
            });
        }
        let mut served = Vec::new();
        for _ in 0..4 {
            served.push(receiver.recv().await.unwrap());
        }
        for thread in &served {
            let connections = served.iter().filter(|other| *other == thread).count();
            assert_eq!(connections, 2);
        }
        threads.all_alive().await;
        drop((threads, sender));
        assert_eq!(receiver.recv().await, None);
    }
}
