//! Complaints: messages to the user on standard error.
//!
//! A command may block there, because a signal ends it. A serving process handles signals itself,
//! so it waits for a limited time in total.

use std::io::{Write as _, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::git::redact;

/// The total limit: much longer than any reader needs.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether waiting for standard error is limited.
static LIMITED: AtomicBool = AtomicBool::new(false);

/// Whether the limit was exceeded.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Reports an error to the user.
pub(crate) fn complain(message: &str) {
    write(format!("waypost: {}\n", redact(message, &[])));
}

/// Limits all waiting for standard error to [`LIMIT`] from now on.
pub(crate) fn limit_waiting() {
    LIMITED.store(true, Ordering::Relaxed);
}

/// Writes lines to standard error. A failure of that cannot be reported.
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
