//! Opening files that an operator names, without ever blocking on them.
//!
//! Opening a named pipe blocks until something writes to it, and a device may have no end. A reader
//! of a secret or a record would block with it forever, and so would SIGTERM.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a file for reading, if it is a regular one.
///
/// # Errors
///
/// If it cannot be opened, or is something else, such as a named pipe or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Reads a whole regular file.
///
/// # Errors
///
/// Those of [`open_regular`]; or if the file cannot be read, or has more than `max` bytes.
pub fn read_regular(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut start = open_regular(path)?.take(max.saturating_add(1));
    start.read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= max => Ok(bytes),
        _ => Err(io::Error::other(format!("larger than {max} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn pipes_devices_and_directories_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        for path in [&*pipe, Path::new("/dev/zero"), dir.path()] {
            let error = read_regular(path, 10).unwrap_err().to_string();
            assert_eq!(error, "not a regular file", "{}", path.display());
        }
    }

    #[test]
    fn no_more_is_read_than_allowed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "0123456789").unwrap();
        assert_eq!(read_regular(file.path(), 10).unwrap(), b"0123456789");
        assert!(read_regular(file.path(), 9).is_err());
    }
}
