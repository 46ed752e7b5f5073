//! Shutdown: the signals that move a server through the phases of its life.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tracing::{info, warn};

use super::Config;
use super::net::{Lifecycle, Phase};
use super::ops::ServiceManager;

/// A signal to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: drain, then stop. If repeated: stop draining now.
    Terminate,
    /// SIGINT: stop, without the drain delay.
    Interrupt,
    /// SIGHUP: reload the table.
    Hangup,
}

/// Returns the signals that this process receives from now on.
///
/// # Errors
///
/// Fails if the operating system refuses a handler.
pub fn signals() -> io::Result<mpsc::Receiver<Signal>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                _ = terminate.recv() => Signal::Terminate,
                _ = interrupt.recv() => Signal::Interrupt,
                _ = hangup.recv() => Signal::Hangup,
            };
            if sender.send(signal).await.is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

/// Moves a server through its phases as signals arrive, and returns when it must stop.
pub(super) async fn conduct(
    lifecycle: &Lifecycle,
    config: &Config,
    mut signals: mpsc::Receiver<Signal>,
    manager: &ServiceManager,
) {
    let delay = loop {
        match next(&mut signals).await {
            Signal::Hangup => manager.reload(),
            Signal::Terminate => break config.drain_delay,
            Signal::Interrupt => break Duration::ZERO,
        }
    };
    info!(delay = ?delay, "draining");
    lifecycle.advance(Phase::Draining);
    tokio::select! {
        () = sleep(delay) => {}
        () = stop_requested(&mut signals) => {}
    }
    info!(timeout = ?config.drain_timeout, "finishing requests in flight");
    lifecycle.advance(Phase::Closing);
    sleep(config.drain_timeout).await;
    warn!("drain timeout reached, closing the connections that are still open");
    lifecycle.advance(Phase::Closed);
}

/// Waits for a signal to stop; reload signals are received and ignored.
pub async fn stop_requested(signals: &mut mpsc::Receiver<Signal>) {
    while next(signals).await == Signal::Hangup {}
}

async fn next(signals: &mut mpsc::Receiver<Signal>) -> Signal {
    match signals.recv().await {
        Some(signal) => signal,
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn phases(said: &[Signal], delay: Duration) -> Vec<Phase> {
        let lifecycle = Lifecycle::default();
        let mut watch = lifecycle.phase.subscribe();
        let (sender, signals) = mpsc::channel(8);
        for signal in said {
            sender.send(*signal).await.unwrap();
        }
        let config = Config {
            drain_delay: delay,
            drain_timeout: Duration::ZERO,
            ..Config::default()
        };
        let manager = ServiceManager::from_env();
        let mut seen = vec![*watch.borrow()];
        let conducted = conduct(&lifecycle, &config, signals, &manager);
        let seeing = async {
            while *seen.last().unwrap() < Phase::Closed {
                watch.changed().await.unwrap();
                seen.push(*watch.borrow_and_update());
            }
        };
        tokio::join!(conducted, seeing);
        seen
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn an_interrupt_skips_the_delay() {
        let seen = phases(&[Signal::Hangup, Signal::Interrupt], HOUR).await;
        assert_eq!(seen.last(), Some(&Phase::Closed));
    }

    #[tokio::test]
    async fn a_second_signal_ends_the_delay_and_a_hangup_does_not() {
        for second in [Signal::Terminate, Signal::Interrupt] {
            let said = [Signal::Terminate, Signal::Hangup, second];
            assert_eq!(phases(&said, HOUR).await.last(), Some(&Phase::Closed));
        }
    }
}
