//! Reports of a transfer's progress, as they go through the pipe from its process, before the
//! answer.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::Serialize;

/// The shortest time between two reports of received bytes.
const INTERVAL: Duration = Duration::from_millis(100);

/// The report that everything has arrived.
const COMPLETE: &str = "complete";

/// A report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressReport {
    /// So many bytes have arrived.
    Received(u64),
    /// Everything has arrived, and is processed now.
    Complete,
}

impl ProgressReport {
    /// Parses a line. One that is no report is the answer.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        match line {
            COMPLETE => Some(Self::Complete),
            number => number.parse().ok().map(Self::Received),
        }
    }
}

/// The output of the process of a transfer.
#[derive(Clone)]
pub(crate) struct Progress(Rc<RefCell<ProgressOutput>>);

struct ProgressOutput {
    output: Box<dyn Write>,
    reported: Option<Instant>,
    is_complete: bool,
}

impl Progress {
    pub(crate) fn new(output: impl Write + 'static) -> Self {
        Self(Rc::new(RefCell::new(ProgressOutput {
            output: Box::new(output),
            reported: None,
            is_complete: false,
        })))
    }

    /// Reports the number of received bytes, at intervals.
    pub(crate) fn received(&self, bytes: u64) {
        let mut to = self.0.borrow_mut();
        let is_due = to.reported.is_none_or(|it| it.elapsed() >= INTERVAL);
        if is_due || to.is_complete {
            to.reported = Some(Instant::now());
            to.is_complete = false;
            to.line(&bytes.to_string());
        }
    }

    /// Reports that everything has arrived.
    pub(crate) fn complete(&self) {
        let mut to = self.0.borrow_mut();
        if !to.is_complete {
            to.is_complete = true;
            to.line(COMPLETE);
        }
    }

    /// Writes the answer.
    pub(crate) fn answer(&self, answer: &impl Serialize) -> io::Result<()> {
        let mut to = self.0.borrow_mut();
        serde_json::to_writer(&mut to.output, answer)?;
        to.output.flush()
    }
}

impl ProgressOutput {
    /// Writes a line. If it is not read, the process is about to be killed.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.output, "{text}").and_then(|()| self.output.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_progress_from_answers() {
        assert_eq!(
            ProgressReport::parse(b"12\n"),
            Some(ProgressReport::Received(12))
        );
        assert_eq!(
            ProgressReport::parse(b"complete\n"),
            Some(ProgressReport::Complete)
        );
        for answer in ["{\"Ok\":1}", "{}\n", "", "12", "-1\n"] {
            assert_eq!(ProgressReport::parse(answer.as_bytes()), None, "{answer}");
        }
    }
}
