//! A real server on port 0, and clients that write and read bytes.
//!
//! Nothing here waits for a time to pass: it waits for a condition, and the whole test
//! fails after [`FOREVER`].

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use waypost::server::{self, Config, Files, Listeners, Server, Signal, Source};
use waypost::source::Rests;

/// Longer than any step takes, on the slowest machine.
pub(crate) const FOREVER: Duration = Duration::from_secs(60);

/// A configuration that checks its source only on request.
pub(crate) fn quiet() -> Config {
    Config {
        poll_interval: Duration::from_secs(3600),
        fast_path: std::env::var_os("WAYPOST_NO_FAST_PATH").is_none(),
        ..Config::default()
    }
}

/// A server that runs, and the table it serves.
pub(crate) struct Running {
    pub(crate) public: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) https_redirect: Option<SocketAddr>,
    pub(crate) signals: mpsc::Sender<Signal>,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) ended: JoinHandle<()>,
}

impl Running {
    /// Starts a server on a table of this text.
    pub(crate) async fn start(yaml: &str) -> Self {
        Self::configured(quiet(), yaml).await
    }

    pub(crate) async fn configured(config: Config, yaml: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("mapping.yaml"), yaml).unwrap();
        Self::in_directory(config, directory).await
    }

    pub(crate) async fn in_directory(config: Config, directory: tempfile::TempDir) -> Self {
        let path = directory.path().join("mapping.yaml");
        // Tests write a table whole before they say so.
        let source = Files::polled(vec![path], 1 << 20).resting(Rests::NONE);
        Self::on(config, directory, source).await
    }

    /// Starts a server on a source of whatever kind.
    pub(crate) async fn on(
        config: Config,
        directory: tempfile::TempDir,
        source: impl Source,
    ) -> Self {
        let speaks_tls = config.tls.is_some();
        let server = Server::load(config, source).await.unwrap();
        Self::run(server, directory, speaks_tls).await
    }

    /// Runs a server that has loaded its table.
    pub(crate) async fn run(
        server: Server,
        directory: tempfile::TempDir,
        speaks_tls: bool,
    ) -> Self {
        let any = "127.0.0.1:0".parse().unwrap();
        let https_redirect = speaks_tls.then(|| server::bind(any).unwrap());
        let listeners = Listeners {
            public: server::bind(any).unwrap(),
            admin: server::bind(any).unwrap(),
            https_redirect,
        };
        let public = listeners.public.local_addr().unwrap();
        let admin = listeners.admin.local_addr().unwrap();
        let https_redirect = listeners.https_redirect.as_ref();
        let https_redirect = https_redirect.map(|listener| listener.local_addr().unwrap());
        let (signals, signalled) = mpsc::channel(8);
        Self {
            public,
            admin,
            https_redirect,
            signals,
            directory,
            ended: tokio::spawn(async { server.run(listeners, signalled).await.unwrap() }),
        }
    }

    pub(crate) fn table(&self) -> PathBuf {
        self.directory.path().join("mapping.yaml")
    }

    /// Replaces the table by another one, as careful writers do.
    pub(crate) fn replace_table(&self, yaml: &str) {
        let new = self.directory.path().join(".new");
        std::fs::write(&new, yaml).unwrap();
        std::fs::rename(new, self.table()).unwrap();
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        soon(TcpStream::connect(self.public)).await.unwrap()
    }

    /// Sends bytes to the public listener and returns all that comes back.
    pub(crate) async fn say(&self, bytes: impl AsRef<[u8]>) -> Reply {
        say(self.public, bytes.as_ref()).await
    }

    /// Returns where a path redirects to.
    pub(crate) async fn location(&self, path: &str) -> String {
        let reply = self.get(path).await;
        reply
            .header("location")
            .unwrap_or_else(|| panic!("{reply}"))
    }

    /// Follows a path as `curl` would.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, "").await
    }

    /// Sends a request with further header lines, each ending in CRLF.
    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &str) -> Reply {
        let head = "Host: short.code\r\nConnection: close\r\n";
        self.say(format!("{method} {path} HTTP/1.1\r\n{head}{headers}\r\n"))
            .await
    }

    /// Sends a request to the admin listener.
    pub(crate) async fn operate(&self, method: &str, path: &str, headers: &str) -> Reply {
        let head = "Host: localhost\r\nConnection: close\r\n";
        let request = format!("{method} {path} HTTP/1.1\r\n{head}{headers}\r\n");
        say(self.admin, request.as_bytes()).await
    }

    pub(crate) async fn reload(&self) -> Reply {
        self.operate("POST", "/-/reload", "").await
    }

    pub(crate) async fn status(&self) -> serde_json::Value {
        self.operate("GET", "/-/status", "").await.json()
    }

    /// Returns the value of one line of the metrics, name and labels as written there.
    pub(crate) async fn metric(&self, name: &str) -> Option<f64> {
        let text = self.operate("GET", "/metrics", "").await.text();
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map(|value| value.parse().unwrap())
    }

    /// Returns how many requests were answered, whatever they got.
    pub(crate) async fn counted(&self) -> f64 {
        let text = self.operate("GET", "/metrics", "").await.text();
        let lines = text
            .lines()
            .filter(|line| line.starts_with("waypost_requests_total{"));
        lines
            .map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
            .sum()
    }

    /// Waits until the server has ended by itself.
    pub(crate) async fn until_ended(self) {
        soon(self.ended).await.unwrap();
    }
}

/// Waits for something that is sure to happen.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(FOREVER, future).await;
    waited.expect("it never happened")
}

/// Waits until a condition holds.
pub(crate) async fn until<F: Future<Output = bool>>(mut holds: impl FnMut() -> F) {
    let looking = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    soon(looking).await;
}

/// Sends bytes and returns all that comes back until the server closes.
pub(crate) async fn say(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = soon(TcpStream::connect(address)).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    rest(&mut stream).await
}

/// Returns all that comes until the server closes.
pub(crate) async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> Reply {
    let mut bytes = Vec::new();
    soon(stream.read_to_end(&mut bytes)).await.unwrap();
    Reply(bytes)
}

/// Reads one answer without content off a connection that stays open.
pub(crate) async fn head_of(stream: &mut (impl AsyncRead + Unpin)) -> Reply {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(soon(stream.read_u8()).await.unwrap());
    }
    Reply(bytes)
}

/// The answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply(pub(crate) Vec<u8>);

impl Reply {
    fn parts(&self) -> (String, &[u8]) {
        let end = self.0.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no whole answer: {self}"));
        let head = String::from_utf8(self.0[..end].to_vec()).unwrap();
        (head, &self.0[end + 4..])
    }

    pub(crate) fn status_line(&self) -> String {
        self.parts().0.lines().next().unwrap().to_owned()
    }

    /// Returns the status line and all headers but the date, in the order they came.
    pub(crate) fn head(&self) -> Vec<String> {
        let (head, _) = self.parts();
        head.split("\r\n")
            .filter(|line| !line.starts_with("Date: "))
            .map(str::to_owned)
            .collect()
    }

    /// Returns all of it but the date.
    pub(crate) fn undated(&self) -> (Vec<String>, Vec<u8>) {
        (self.head(), self.body().to_vec())
    }

    /// Returns the only header of this name, whatever its case.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let (head, _) = self.parts();
        let mut found = head
            .split("\r\n")
            .filter_map(|line| line.split_once(": "))
            .filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let value = found.next().map(|(_, value)| value.to_owned());
        assert_eq!(found.next(), None, "{name} came twice");
        value
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.parts().1
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body().to_vec()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(self.body()).unwrap_or_else(|_| panic!("no JSON: {self}"))
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(&self.0))
    }
}
