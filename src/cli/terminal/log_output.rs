//! The output of log lines: a bounded queue, which a separate thread writes to a descriptor.
//!
//! A pipe accepts nothing while it is not read, and neither does a paused terminal. Logging
//! would block with it, so lines for which there is no room are dropped and counted. Once
//! everything in the queue has been written, a line reports how many are missing.
//!
//! Invariants: logging never waits for the descriptor; lines are written in the order in which they
//! were logged.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::{Metadata, warn};
use tracing_subscriber::fmt::MakeWriter;

use crate::server::LogDrops;

use super::log_queue::LogQueue;
use super::log_sink::LogSink;

/// The target of the line that reports missing lines.
const NOTICE: &str = "waypost::log";

/// The output of log lines.
#[derive(Debug, Clone)]
pub(crate) struct LogOutput(Arc<LogShared>);

#[derive(Debug)]
struct LogShared {
    queue: Mutex<LogQueue>,
    /// Notified when there is something to write.
    filled: Condvar,
    /// Notified when everything has been written.
    drained: Condvar,
    drops: LogDrops,
}

impl LogOutput {
    /// Starts to write lines to `sink`, and to count dropped ones in `drops`.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub(crate) fn start(sink: impl Write + Send + 'static, drops: LogDrops) -> io::Result<Self> {
        let report = |missing| {
            warn!(target: NOTICE, missing, "log lines were dropped: standard output was not read in time");
        };
        Self::start_with(sink, drops, report)
    }

    /// Starts with a function that logs the number of missing lines.
    fn start_with(
        sink: impl Write + Send + 'static,
        drops: LogDrops,
        report: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(LogShared {
            queue: Mutex::default(),
            filled: Condvar::new(),
            drained: Condvar::new(),
            drops,
        });
        let writing = Arc::clone(&shared);
        let write = move || writing.write_all_to(sink, report);
        thread::Builder::new().name("log".to_owned()).spawn(write)?;
        Ok(Self(shared))
    }

    /// Waits until everything that was logged has been written, but no longer than `limit`.
    pub(crate) fn flush(&self, limit: Duration) {
        let drained = &self.0.drained;
        drop(drained.wait_timeout_while(self.0.queue(), limit, |queue| queue.is_busy()));
    }
}

impl LogShared {
    fn queue(&self) -> MutexGuard<'_, LogQueue> {
        // It is consistent at all times.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines forever.
    fn write_all_to(&self, sink: impl Write, report: impl Fn(u64)) {
        let mut sink = LogSink::new(sink);
        loop {
            let line = self.next();
            let written = sink.write_line(&line);
            if written.is_err() {
                self.drops.count();
            }
            let missing = self.queue().done(&line, &written);
            if let Some(missing) = missing {
                report(missing);
            }
        }
    }

    /// Waits for the next line, and returns it.
    fn next(&self) -> Box<[u8]> {
        let mut queue = self.queue();
        loop {
            if let Some(line) = queue.pop() {
                return line;
            }
            self.drained.notify_all();
            let filled = self.filled.wait(queue);
            queue = filled.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The writer for one event, which is one line in one call.
pub(crate) struct LogEntry<'a> {
    shared: &'a LogShared,
    is_notice: bool,
}

impl Write for LogEntry<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut queue = self.shared.queue();
        if self.is_notice {
            queue.push_first(line);
        } else if !queue.push(line) {
            self.shared.drops.count();
        }
        drop(queue);
        self.shared.filled.notify_one();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogOutput {
    type Writer = LogEntry<'a>;

    fn make_writer(&'a self) -> LogEntry<'a> {
        LogEntry {
            shared: &self.0,
            is_notice: false,
        }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> LogEntry<'a> {
        LogEntry {
            shared: &self.0,
            is_notice: event.target() == NOTICE,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{OnceLock, mpsc};

    use tracing::subscriber::with_default;

    use super::super::log_queue::MAX_LINES;
    use super::*;

    /// A timeout that no test reaches.
    const FOREVER: Duration = Duration::from_secs(60);

    /// A sink that accepts a line each time it is allowed to, and passes it on.
    struct Gate {
        open: mpsc::Receiver<io::Result<()>>,
        written: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Gate {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.open
                .recv()
                .unwrap_or(Err(io::ErrorKind::BrokenPipe.into()))?;
            let _ = self.written.send(line.to_owned());
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Fixture {
        output: LogOutput,
        drops: LogDrops,
        open: mpsc::Sender<io::Result<()>>,
        written: mpsc::Receiver<Vec<u8>>,
    }

    fn fixture() -> Fixture {
        let (open, opened) = mpsc::channel();
        let (written, lines) = mpsc::channel();
        let gate = Gate {
            open: opened,
            written,
        };
        let drops = LogDrops::default();
        let own = Arc::new(OnceLock::<LogOutput>::new());
        let output = Arc::clone(&own);
        let report = move |missing| {
            let log = tracing_subscriber::fmt().with_ansi(false);
            let log = log.with_writer(output.get().unwrap().clone()).finish();
            with_default(log, || warn!(target: NOTICE, missing, "dropped"));
        };
        let output = LogOutput::start_with(gate, drops.clone(), report).unwrap();
        own.set(output.clone()).unwrap();
        Fixture {
            output,
            drops,
            open,
            written: lines,
        }
    }

    impl Fixture {
        fn log(&self, line: &str) {
            let mut entry = self.output.make_writer();
            entry.write_all(line.as_bytes()).unwrap();
        }

        /// Allows `count` lines to be written.
        fn open(&self, count: usize) {
            (0..count).for_each(|_| self.open.send(Ok(())).unwrap());
        }

        fn next(&self) -> String {
            String::from_utf8(self.written.recv_timeout(FOREVER).unwrap()).unwrap()
        }

        /// Logs a line, and waits until only this line is being written.
        fn hold(&self, line: &str) {
            self.log(line);
            while !self.output.0.queue().is_empty() {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn everything_is_written_in_order() {
        let fixture = fixture();
        fixture.open(1000);
        (0..1000).for_each(|number| fixture.log(&number.to_string()));
        fixture.output.flush(FOREVER);
        let written: Vec<_> = fixture.written.try_iter().collect();
        assert!((0..1000).map(|it| it.to_string().into_bytes()).eq(written));
        assert_eq!(fixture.drops.total(), 0);
    }

    #[test]
    fn what_a_stuck_sink_does_not_take_is_dropped_and_reported_in_its_place() {
        let fixture = fixture();
        fixture.hold("first");
        (0..MAX_LINES + 3).for_each(|_| fixture.log("x"));
        assert_eq!(fixture.drops.total(), 3);
        fixture.output.flush(Duration::ZERO);
        fixture.open(MAX_LINES);
        assert_eq!(fixture.next(), "first");
        (1..MAX_LINES).for_each(|_| assert_eq!(fixture.next(), "x"));
        // There is room, but this line would precede the report of missing ones.
        fixture.log("y");
        assert_eq!(fixture.drops.total(), 4);
        fixture.open(1);
        assert_eq!(fixture.next(), "x");
        fixture.open(1);
        let notice = fixture.next();
        assert!(notice.contains("dropped missing=4"), "{notice}");
        fixture.open(1);
        fixture.log("z");
        assert_eq!(fixture.next(), "z");
        assert_eq!(fixture.drops.total(), 4);
    }

    #[test]
    fn a_sink_that_fails_costs_its_line_alone() {
        let fixture = fixture();
        let gone = || Err(io::ErrorKind::BrokenPipe.into());
        for answer in [gone(), Err(io::ErrorKind::WouldBlock.into()), gone()] {
            fixture.open.send(answer).unwrap();
        }
        fixture.log("lost");
        fixture.log("lost, too");
        fixture.output.flush(FOREVER);
        assert_eq!(fixture.drops.total(), 2);
        fixture.open(2);
        fixture.log("found");
        assert_eq!(fixture.next(), "found");
        let notice = fixture.next();
        assert!(notice.contains("dropped missing=2"), "{notice}");
    }
}
