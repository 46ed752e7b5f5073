//! `waypost linkcheck --watch` as people run it, against a server on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Long enough for any machine; a test that passes does not wait for it.
const LIMIT: Duration = Duration::from_secs(60);

/// Starts a server that has nothing, and returns where it listens.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut request = [0; 4096];
            let length = connection.read(&mut request).unwrap_or_default();
            let is_gone = String::from_utf8_lossy(&request[..length]).contains(" /gone ");
            let status = if is_gone { "410 Gone" } else { "404 Not Found" };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    address
}

/// The lines of an output, as they come.
fn lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

#[track_caller]
fn until_line(lines: &Receiver<String>, parts: &[&str]) {
    loop {
        let line = (lines.recv_timeout(LIMIT)).unwrap_or_else(|_| panic!("no line has {parts:?}"));
        if parts.iter().all(|part| line.contains(part)) {
            return;
        }
    }
}

fn start(table: &Path, state: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(["linkcheck", "--allow-private", "--delay", "1ms"]);
    command.arg(table).arg("--state").arg(state).args(arguments);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("WAYPOST_")) {
        command.env_remove(name);
    }
    (command.stdout(Stdio::piped()).stderr(Stdio::piped()))
        .spawn()
        .unwrap()
}

#[test]
fn a_check_that_goes_on_follows_its_table_until_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    let address = server();
    let write = |entries: &str| {
        let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
        let new = directory.path().join("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &table).unwrap();
    };
    let missing = format!("- url: http://{address}/missing\n");
    let gone = format!("- url: http://{address}/gone\n");
    for signal in [Signal::TERM, Signal::INT] {
        let state = directory.path().join(format!("{signal:?}.redb"));
        write(&missing);
        let mut child = start(&table, &state, &["--watch"]);
        let (out, err) = (
            lines(child.stdout.take().unwrap()),
            lines(child.stderr.take().unwrap()),
        );
        until_line(&out, &["/missing", "unchecked -> failing", "404"]);
        write("- nonsense\n");
        until_line(&err, &["mapping.yaml:3", "error"]);
        until_line(&err, &["last good version is still checked"]);
        write(&(missing.clone() + &gone));
        until_line(&out, &["/gone", "unchecked -> gone", "410"]);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(child.wait().unwrap().success());
        // The next run has the results of this one.
        let next = start(&table, &state, &["--format", "github"]);
        let next = next.wait_with_output().unwrap();
        let annotations = String::from_utf8_lossy(&next.stdout);
        let title = "title=waypost linkcheck (link-gone)::";
        assert!(annotations.contains(title), "{annotations}");
        let summary = String::from_utf8_lossy(&next.stderr);
        let expected = "2 links: 1 failing, 1 gone; 0 requests";
        assert!(summary.contains(expected), "{summary}");
    }
}

#[test]
fn a_check_that_goes_on_has_a_longest_time_and_no_report() {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("mapping.yaml");
    let state = directory.path().join("state.redb");
    fs::write(&table, "base_url: https://short.code/\nmapping: []\n").unwrap();
    let ended = start(&table, &state, &["--watch", "--max-time", "1s"]).wait_with_output();
    let ended = ended.unwrap();
    assert!(ended.status.success());
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "");
    for [flag, value] in [["--format", "json"], ["--deny", "dead"], ["--base", "main"]] {
        let refused = start(&table, &state, &["--watch", flag, value]).wait_with_output();
        assert_eq!(refused.unwrap().status.code(), Some(2), "{flag}");
    }
}
