//! The service manager: notifications to systemd about this server, as sd_notify(3) describes.
//!
//! They report that the server is ready, what it serves, when a reload requested by signal begins
//! and ends, that the server stops, and, if the manager asks for it, that the server is alive. They
//! are sent to `NOTIFY_SOCKET`; without that variable nothing is sent.
//!
//! Invariant: a manager that does not read its socket delays no request and no reload.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::notify_socket::{NotifySocket, Outbox, outbox};
use crate::server::net::{Phase, Threads};
use crate::server::reload::Reloads;
use crate::server::state::{LoadError, Shared};

/// The longest status that is sent, in characters: the manager accepts 4 KiB, and people read less.
const STATUS_CHARS: usize = 400;

/// Notifies the service manager, if there is one.
pub(crate) struct ServiceManager {
    socket: Option<NotifySocket>,
    reload: Notify,
}

impl ServiceManager {
    /// Finds the manager from the environment.
    pub(crate) fn from_env() -> Self {
        Self {
            socket: env::var_os("NOTIFY_SOCKET").map(|path| NotifySocket::at(path.into())),
            reload: Notify::new(),
        }
    }

    /// Requests a reload from [`inform`](Self::inform), which also reports it.
    pub(crate) fn reload(&self) {
        self.reload.notify_one();
    }

    /// Reports the state of a server, from when it accepts connections until it drains.
    ///
    /// A server that waits for its first table is ready too: otherwise the manager would give up on
    /// it.
    pub(crate) async fn inform(&self, shared: &Shared, reloads: Reloads) {
        let (messages, queued) = outbox();
        let send = async {
            if let Some(socket) = &self.socket {
                socket.send_all(queued).await;
            }
        };
        tokio::join!(self.report(shared, reloads, messages), send);
    }

    /// Reports the state of a server as [`inform`](Self::inform) does, and never waits for the
    /// manager.
    async fn report(&self, shared: &Shared, reloads: Reloads, messages: Outbox) {
        let mut phases = shared.lifecycle.phases();
        let mut said = status(shared);
        messages.queue(message(&[NotifyState::Ready], &said));
        loop {
            tokio::select! {
                biased;
                () = phases.reached(Phase::Draining) => break,
                () = self.reload.notified() => {
                    let now = NotifyState::monotonic_usec_now();
                    let begun = [NotifyState::Reloading].into_iter().chain(now.ok());
                    messages.queue(message(&Vec::from_iter(begun), "reloading"));
                    tokio::select! {
                        biased;
                        () = phases.reached(Phase::Draining) => break,
                        _ = reloads.now() => {}
                    }
                    said = status(shared);
                    messages.queue(message(&[NotifyState::Ready], &said));
                }
                // The status reads the clone of a followed repository, after each change.
                () = shared.live.looked_at(), if self.socket.is_some() => {
                    let new = status(shared);
                    if new != said {
                        messages.queue(message(&[], &new));
                        said = new;
                    }
                }
            }
        }
        messages.queue(message(&[NotifyState::Stopping], "draining"));
    }

    /// Reports repeatedly that the server is alive, if the manager asks for that; until dropped.
    ///
    /// Each beat goes through all serving threads: if one hangs, so does the beat.
    pub(crate) fn beat(self: &Arc<Self>, threads: &Arc<Threads>) -> JoinSet<()> {
        let mut beat = JoinSet::new();
        let limit = sd_notify::watchdog_enabled().filter(|limit| !limit.is_zero());
        if let Some(limit) = limit {
            let (manager, threads) = (Arc::clone(self), Arc::clone(threads));
            beat.spawn(async move {
                // Twice as often as required, as sd_watchdog_enabled(3) recommends.
                let mut beats = interval((limit / 2).max(Duration::from_millis(1)));
                beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    beats.tick().await;
                    threads.all_alive().await;
                    if let Some(socket) = &manager.socket {
                        socket.send(&format!("{}\n", NotifyState::Watchdog)).await;
                    }
                }
            });
        }
        beat
    }
}

/// Returns a message that reports these states and a status, which replaces the previous one.
fn message(states: &[NotifyState<'_>], status: &str) -> String {
    let status = one_line(status);
    let status = NotifyState::Status(&status);
    let states = states.iter().chain([&status]);
    states.map(|state| format!("{state}\n")).collect()
}

/// Returns a status with the most important facts for a person first.
fn status(shared: &Shared) -> String {
    let live = shared.live.load();
    let history = shared.live.history().clone();
    let served = live.as_ref().map(|live| {
        let links = live.table.len();
        let plural = if links == 1 { "" } else { "s" };
        let commit = live.revision.commit().map_or("", |_| "commit ");
        format!("{links} link{plural} of {commit}{}", live.short)
    });
    let problem = history.last_error.map(|last| problem(&last.error));
    let mut status = match (served, problem) {
        (Some(served), None) => format!("serving {served}"),
        (Some(served), Some(problem)) => format!("{problem}, keeping {served}"),
        (None, Some(problem)) => format!("waiting for a table: {problem}"),
        (None, None) => "waiting for a table".to_owned(),
    };
    let last_fetch = shared.source.fetching().and_then(|fetching| fetching.last);
    if let Some(error) = last_fetch.and_then(|fetch| fetch.error) {
        status = format!("{status}; the last fetch failed: {error}");
    }
    status
}

fn problem(error: &LoadError) -> String {
    let mut errors = error.diagnostics().iter().filter(|one| one.is_error());
    let Some(first) = errors.next() else {
        return error.chain();
    };
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("table rejected: {}: {}{more}", first.place, first.message)
}

/// Returns a text as one line: a line break would begin another message.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(STATUS_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_cannot_become_another_message() {
        assert_eq!(one_line("a\nMAINPID=1\r\u{85}"), "a MAINPID=1  ");
        assert_eq!(one_line(&"\u{1f517}".repeat(5000)).len(), 4 * STATUS_CHARS);
    }
}
