//! The queue of log lines that wait to be written, and the number of those that are missing.
//!
//! Invariants: the queue is bounded in lines and in bytes; no line is accepted after one that was
//! dropped, until a line that reports the missing ones precedes it.

use std::collections::VecDeque;
use std::io;

/// The maximum number of lines. A rejected table is 22 lines of some hundred bytes, and nothing
/// logs more at once.
pub(super) const MAX_LINES: usize = 4096;
/// The maximum size in bytes: the most that a process may keep for a reader that does not read.
const MAX_BYTES: usize = 1 << 20;

/// Lines that wait to be written.
#[derive(Debug, Default)]
pub(super) struct LogQueue {
    lines: VecDeque<Box<[u8]>>,
    /// The size of the lines, including the one that is being written.
    bytes: usize,
    /// Whether the last line had no room; then no more are accepted until all have been written.
    full: bool,
    /// The number of missing lines that are not yet reported.
    missing: u64,
    /// Whether a line is being written.
    writing: bool,
}

impl LogQueue {
    /// Appends a line if there is room for it; returns whether there was.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        let fits = self.lines.len() < MAX_LINES && self.bytes + line.len() <= MAX_BYTES;
        self.full |= !fits;
        if self.full {
            self.missing += 1;
            return false;
        }
        self.bytes += line.len();
        self.lines.push_back(line.into());
        true
    }

    /// Prepends a line, whether or not there is room.
    pub(super) fn push_first(&mut self, line: &[u8]) {
        self.bytes += line.len();
        self.lines.push_front(line.into());
    }

    /// Takes the next line, to be written.
    pub(super) fn pop(&mut self) -> Option<Box<[u8]>> {
        let line = self.lines.pop_front();
        self.writing = line.is_some();
        line
    }

    /// Records that a line was taken out and written, or is missing if that failed. Returns the
    /// number of missing lines if it is to be reported now.
    pub(super) fn done(&mut self, line: &[u8], written: &io::Result<()>) -> Option<u64> {
        self.bytes -= line.len();
        if written.is_err() {
            self.missing += 1;
        }
        if !self.lines.is_empty() {
            return None;
        }
        self.full = false;
        // If writing fails, a line that reports this cannot be written either.
        let is_reported = written.is_ok() && self.missing > 0;
        is_reported.then(|| std::mem::take(&mut self.missing))
    }

    /// Returns whether a line waits or is being written.
    pub(super) fn is_busy(&self) -> bool {
        self.writing || !self.lines.is_empty()
    }

    /// Returns whether no line waits.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_bounded_by_bytes() {
        let mut queue = LogQueue::default();
        let half = vec![b'x'; MAX_BYTES / 2];
        assert!(queue.push(&half) && queue.push(&half));
        // The line that is being written counts, too.
        let first = queue.pop().unwrap();
        assert!(!queue.push(b"x"));
        assert_eq!(queue.done(&first, &Ok(())), None);
        // There is room, but this line would precede the report of the missing one.
        assert!(!queue.push(b"x"));
        let second = queue.pop().unwrap();
        assert_eq!(queue.done(&second, &Ok(())), Some(2));
        assert!(queue.push(b"x"));
    }

    #[test]
    fn is_bounded_by_lines() {
        let mut queue = LogQueue::default();
        assert!((0..MAX_LINES).all(|_| queue.push(b"x")));
        assert!(!queue.push(b"x"));
    }
}
