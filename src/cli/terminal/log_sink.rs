//! The destination of log lines: a descriptor that may fail within a line.
//!
//! Invariant: each log line begins on a new line, even if the previous one was cut.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// The retry interval for a descriptor that another process has made non-blocking.
const RETRY: Duration = Duration::from_millis(10);

/// A destination of lines.
pub(super) struct LogSink<W> {
    sink: W,
    /// Whether only a part of the last line was written.
    is_cut: bool,
}

impl<W: Write> LogSink<W> {
    pub(super) fn new(sink: W) -> Self {
        let is_cut = false;
        Self { sink, is_cut }
    }

    /// Writes a whole line, after ending one that was cut.
    pub(super) fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        if self.is_cut {
            self.write_whole(b"\n").map_err(|(_, error)| error)?;
            self.is_cut = false;
        }
        self.write_whole(line).map_err(|(written, error)| {
            self.is_cut = written > 0;
            error
        })
    }

    /// Writes everything, or fails with the number of bytes written.
    fn write_whole(&mut self, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
        let mut written = 0;
        while written < bytes.len() {
            match self.sink.write(&bytes[written..]) {
                Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
                Ok(count) => written += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => thread::sleep(RETRY),
                    _ => return Err((written, error)),
                },
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that accepts as many bytes as are left, like a disk that fills up.
    struct FillingDisk {
        left: usize,
        file: Vec<u8>,
    }

    impl Write for FillingDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.left);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.left -= count;
            self.file.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_was_cut_is_ended_before_the_next() {
        let (left, file) = (9, Vec::new());
        let mut sink = LogSink::new(FillingDisk { left, file });
        assert!(sink.write_line(b"first\n").is_ok());
        assert!(sink.write_line(b"second\n").is_err());
        assert!(sink.write_line(b"third\n").is_err());
        sink.sink.left = 100;
        assert!(sink.write_line(b"fourth\n").is_ok());
        assert!(sink.write_line(b"fifth\n").is_ok());
        assert_eq!(sink.sink.file, b"first\nsec\nfourth\nfifth\n");
    }
}
