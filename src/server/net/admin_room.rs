//! Places on the admin listener: idle connections never make a probe wait.
//!
//! There are few places, so that operators use few descriptors. One of them is always kept free:
//! whenever the last is taken, the connection that has been quiet longest is closed. So anyone who
//! can reach the listener may cut off other clients, but cannot prevent them from being answered.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// How long each connection has to send something before it may be closed for another. A probe
/// sends its request immediately; and with 64 places, all connections in the kernel's backlog
/// (4096) get their turn within a probe's timeout of a second.
const GRACE: Duration = Duration::from_millis(10);

/// The places of the admin listener, and the connections that have them.
pub(crate) struct AdminRoom {
    permits: Arc<Semaphore>,
    limit: u32,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    open: BTreeMap<u64, AdminConnection>,
}

struct AdminConnection {
    /// When it began, or last sent a request or got an answer.
    quiet_since: Instant,
    task: AbortHandle,
}

impl AdminRoom {
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(limit as usize)),
            limit,
            connections: Mutex::default(),
        }
    }

    /// Returns a place for the next connection, after closing another one if all are taken.
    pub(crate) async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            let permit = Arc::clone(&self.permits).acquire_owned();
            let permit = match self.make_room() {
                Ok(()) => permit.await,
                Err(left) => match timeout(left, permit).await {
                    Ok(permit) => permit,
                    Err(_) => continue,
                },
            };
            return permit.expect("the semaphore is never closed");
        }
    }

    /// Serves a connection in its place, which becomes free when the connection ends.
    pub(crate) fn serve<F>(
        self: &Arc<Self>,
        place: OwnedSemaphorePermit,
        connection: impl FnOnce(Arc<Activity>) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        // Locked until the connection is listed: it may end before.
        let mut connections = self.connections();
        let number = connections.next;
        connections.next += 1;
        let activity = Arc::new(Activity {
            room: Arc::clone(self),
            number,
        });
        let connection = connection(Arc::clone(&activity));
        let occupied = Occupied {
            activity,
            _place: place,
        };
        let task = tokio::spawn(async move {
            let _occupied = occupied;
            connection.await;
        });
        let connection = AdminConnection {
            quiet_since: Instant::now(),
            task: task.abort_handle(),
        };
        connections.open.insert(number, connection);
    }

    /// Waits until every connection has ended.
    pub(crate) async fn until_empty(&self) {
        // It fails only on a closed semaphore, and this one is never closed.
        let _ = self.permits.acquire_many(self.limit).await;
    }

    /// Closes the connection that has been quiet longest if all places are taken; if that one is
    /// too new, returns how long it still has as an error.
    fn make_room(&self) -> Result<(), Duration> {
        let mut connections = self.connections();
        if self.permits.available_permits() > 0 {
            return Ok(());
        }
        let open = connections.open.iter();
        let quiet = open.min_by_key(|(_, connection)| connection.quiet_since);
        let Some((&number, connection)) = quiet else {
            // All are being closed, and their places are about to be free.
            return Ok(());
        };
        let left = GRACE.saturating_sub(connection.quiet_since.elapsed());
        if !left.is_zero() {
            return Err(left);
        }
        connection.task.abort();
        connections.open.remove(&number);
        Ok(())
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's handle for reporting its activity.
pub(crate) struct Activity {
    room: Arc<AdminRoom>,
    number: u64,
}

impl Activity {
    /// Records that a request has arrived or was answered.
    pub(crate) fn note(&self) {
        // A connection that is being closed is no longer listed.
        if let Some(connection) = self.room.connections().open.get_mut(&self.number) {
            connection.quiet_since = Instant::now();
        }
    }
}

/// A place and its entry in the list. The entry is removed first: the next connection to get the
/// place must not choose this one to be closed.
struct Occupied {
    activity: Arc<Activity>,
    _place: OwnedSemaphorePermit,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let Activity { room, number } = &*self.activity;
        room.connections().open.remove(number);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::mpsc;

    use super::*;

    /// Reports its number when it is closed.
    struct OnClose(u32, mpsc::UnboundedSender<u32>);

    impl Drop for OnClose {
        fn drop(&mut self) {
            let _ = self.1.send(self.0);
        }
    }

    #[tokio::test]
    async fn the_connection_that_has_been_quiet_longest_makes_room() {
        let room = Arc::new(AdminRoom::new(3));
        let (sender, mut closed) = mpsc::unbounded_channel();
        let mut activities = Vec::new();
        for number in 0..3 {
            let place = room.place().await;
            let reported = OnClose(number, sender.clone());
            room.serve(place, |activity| {
                activities.push(activity);
                async move {
                    let _reported = reported;
                    pending::<()>().await;
                }
            });
        }
        activities[0].note();
        let place = room.place().await;
        assert_eq!(closed.recv().await, Some(1));
        activities[2].note();
        activities[1].note();
        let other = room.place().await;
        assert_eq!(closed.recv().await, Some(0));
        drop((place, other));

        // A connection that ends on its own leaves no entry.
        let place = room.place().await;
        room.serve(place, |_| async {});
        drop([room.place().await, room.place().await]);
        let places = [room.place().await, room.place().await, room.place().await];
        assert_eq!(closed.recv().await, Some(2));
        assert!(room.connections().open.is_empty());
        drop(places);
        room.until_empty().await;
    }
}
