//! What the server logs, and what it does not.
//!
//! A program of its own: which log events are on at all is known once to a whole process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::level_filters::LevelFilter;
use waypost::server::{Config, HookSecret};

use crate::support::{FOREVER, Running, say, until};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n";

/// Where a test's own log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

// The test runtime has one thread, and so everything the server does on it is in its log.
#[tokio::test]
async fn a_problem_is_logged_once_and_clients_are_not() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let config = Config {
        poll_interval: Duration::from_millis(2),
        hook: HookSecret::new("secret of ours"),
        ..Config::default()
    };
    let server = Running::configured(config, TABLE).await;
    let entry = "- {url: 'nothing'}\n";
    server.replace_table(&format!("{TABLE}{}", entry.repeat(30)));
    let looked = "waypost_reload_duration_seconds_count";
    let rejected = "waypost_reloads_total{result=\"rejected\"}";
    until(async || server.metric(rejected).await > Some(5.0)).await;
    std::fs::remove_file(server.table()).unwrap();
    let failed = "waypost_reloads_total{result=\"failed\"}";
    until(async || server.metric(failed).await > Some(2.0)).await;
    let request = "GET /secret HTTP/1.1\r\nHost: secret\r\nUser-Agent: secret\r\n\
                   Connection: close\r\n\r\n";
    server.say(request).await;
    for nonsense in [
        "secret",
        "GET /x HTTP/1.1\r\nsecret: secret\r\n\r\n",
        "GET /secret\nsecret\n\n",
        "POST /-/hook HTTP/1.1\r\nHost: a\r\nX-Gitlab-Token: secret\r\n\r\n",
        "POST /-/hook HTTP/1.1\r\nHost: a\r\nX-Gitea-Signature: aa\r\nContent-Length: 9\r\n\r\n",
    ] {
        for address in [server.public, server.admin] {
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all(nonsense.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut reply = Vec::new();
            // Whether it is answered or cut off does not matter.
            let _ = stream.read_to_end(&mut reply).await;
        }
    }
    assert!(server.metric(looked).await.is_some());

    let text = log.text();
    assert_eq!(text.matches("table loaded").count(), 1, "{text}");
    assert_eq!(text.matches("table rejected").count(), 1, "{text}");
    assert_eq!(text.matches("in the rejected table").count(), 20, "{text}");
    assert_eq!(text.matches("more=").count(), 1, "{text}");
    assert_eq!(text.matches("cannot load the table").count(), 1, "{text}");
    assert!(!text.contains("secret"), "{text}");
    let addresses: Vec<_> = text
        .lines()
        .filter(|line| line.contains("127.0.0.1"))
        .collect();
    assert_eq!(addresses.len(), 1, "{addresses:?}");
    let own = format!(
        "serving public=\"{}\" admin=\"{}\"",
        server.public, server.admin
    );
    assert!(addresses[0].contains(&own), "{addresses:?}");
    assert!(addresses[0].ends_with(" links=1"), "{addresses:?}");
}

/// A process that is killed if the test fails before it has ended.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Asks it to terminate, and returns its exit status.
    fn terminate(&mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.0), Signal::TERM).unwrap();
        let began = Instant::now();
        while began.elapsed() < FOREVER {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it does not end");
    }
}

#[tokio::test]
async fn a_blocked_log_does_not_block_requests() {
    let directory = tempfile::tempdir().unwrap();
    let (pipe, table) = (directory.path().join("log"), directory.path().join("table"));
    fs::write(&table, TABLE).unwrap();
    let mkfifo = Command::new("mkfifo").arg(&pipe).status();
    assert!(mkfifo.unwrap().success());
    let open = |flags| {
        OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(&pipe)
    };
    let (reader, writer) = (open(0).unwrap(), open(0).unwrap());
    let mut server = Process(
        Command::new(env!("CARGO_BIN_EXE_waypost"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--admin-listen",
                "127.0.0.1:0",
            ])
            .args(["--threads", "2", "--log-format", "json", "--table"])
            .arg(&table)
            .env_clear()
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap(),
    );
    let mut log = BufReader::new(reader);
    let serving: serde_json::Value = loop {
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        if line.contains("\"serving\"") {
            break serde_json::from_str(&line).unwrap();
        }
    };
    let address = |name: &str| serving[name].as_str().unwrap().parse().unwrap();
    let (public, admin) = (address("public"), address("admin"));
    // From here on, the log is not read, and there is no room for one more byte.
    let mut filler = open(libc::O_NONBLOCK).unwrap();
    for piece in [&[b'\n'; 4096][..], b"\n"] {
        while filler.write_all(piece).is_ok() {}
        assert_eq!(
            filler.write(piece).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
    }

    let ask = async |address, request: &str| {
        let head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        say(address, format!("{request} {head}").as_bytes()).await
    };
    // Each check of the table is logged, and there are more checks than threads.
    for number in 0..4 {
        let entries = "- {url: nothing}\n".repeat(30 + number);
        fs::write(&table, format!("{TABLE}{entries}")).unwrap();
        let report = ask(admin, "POST /-/reload").await;
        assert!(report.text().contains("rejected"), "{report}");
        let redirect = ask(public, "GET /x").await;
        assert_eq!(redirect.status_line(), "HTTP/1.1 302 Found");
        let ready = ask(admin, "GET /readyz").await;
        assert_eq!(ready.status_line(), "HTTP/1.1 200 OK");
    }
    assert_eq!(server.terminate(), Some(0));
}
