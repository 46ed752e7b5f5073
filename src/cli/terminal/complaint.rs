//! Complaints: what the person at the terminal is told on standard error.
//!
//! A command may wait there, for a signal ends it. A process that serves handles signals itself, so
//! it waits for a limited time, in all.

use std::io::{Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::source::redact;

/// Much longer than anybody who reads it takes.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether standard error is waited for only so long.
static LIMITED: AtomicBool = AtomicBool::new(false);

/// Whether it took too long.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Tells the person at the terminal what went wrong.
pub(crate) fn complain(message: &str) {
    write(format!("waypost: {}\n", redact(message, &[])));
}

/// From now on, waits for standard error for no longer than [`LIMIT`].
pub(crate) fn limit_waiting() {
    LIMITED.store(true, Ordering::Relaxed);
}

/// Writes lines to standard error. Nobody is left to tell if that fails.
pub(crate) fn write(text: String) {
    if !LIMITED.load(Ordering::Relaxed) {
        let _ = stderr().write_all(text.as_bytes());
        return;
    }
    if STUCK.load(Ordering::Relaxed) {
        return;
    }
    let (done, ended) = mpsc::channel();
    let writing = thread::Builder::new().spawn(move || {
        let _ = stderr().write_all(text.as_bytes());
        let _ = done.send(());
    });
    let waited = writing.map(|_| ended.recv_timeout(LIMIT));
    let is_stuck = matches!(waited, Ok(Err(mpsc::RecvTimeoutError::Timeout)));
    STUCK.store(is_stuck, Ordering::Relaxed);
}
