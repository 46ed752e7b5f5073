//! What a long command shows on a terminal while it works.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Longer than any step takes, on the slowest machine.
const FOREVER: Duration = Duration::from_secs(60);

/// Returns a terminal for a program, and what the program will write to it.
fn terminal() -> (File, Receiver<Vec<u8>>) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let (sender, written) = channel();
    let mut controller = File::from(controller);
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        // Linux reports the end as an error.
        while let Ok(count @ 1..) = controller.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    (terminal, written)
}

#[test]
fn a_waiting_command_shows_why_and_clears_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    fs::write(&table, "base_url: https://short.code/\nmapping: []\n").unwrap();
    let pipe = directory.path().join("links.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let (terminal, written) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(["import", "links.csv", "--format", "csv"]);
    command.current_dir(&directory).env_clear();
    command.env("TERM", "xterm").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    // The program's end is the end of the terminal.
    drop(command);

    let mut text = String::new();
    let read = |text: &mut String| match written.recv_timeout(FOREVER) {
        Ok(bytes) => {
            text.push_str(&String::from_utf8_lossy(&bytes));
            true
        }
        Err(_) => false,
    };
    // The other end of the pipe is not open yet.
    while !text.contains("reading links.csv") {
        assert!(read(&mut text), "{text:?}");
    }
    let mut rows = File::options().write(true).open(&pipe).unwrap();
    rows.write_all(b"code,url\na,https://a.example/\n").unwrap();
    drop(rows);
    while read(&mut text) {}
    assert!(child.wait().unwrap().success());
    let (shown, rest) = text.rsplit_once("\u{1b}[2K").unwrap();
    assert!(shown.contains("reading links.csv"), "{text:?}");
    assert_eq!(rest.trim(), "added 1 link to mapping.yaml");
}
