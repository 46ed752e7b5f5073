//! A real Redis server, which a test can kill and start again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long anything may take that is waited for; it only matters when a test fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A server with a directory of its own, which ends with the test.
pub(crate) struct Server {
    process: Child,
    arguments: Vec<String>,
    directory: TempDir,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let arguments: Vec<_> = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        let process = spawn(directory.path(), &arguments);
        let server = Self {
            process,
            arguments,
            directory,
        };
        server.wait();
        server
    }

    /// Ends the server at once, as `kill -9` and a loss of power of its machine do.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.process = spawn(self.directory.path(), &self.arguments);
        self.wait();
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("server")
    }

    pub(crate) fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// Waits until the server answers; a refusal is an answer, and so is that it is still loading.
    fn wait(&self) {
        let client = redis::Client::open(self.url()).unwrap();
        let since = Instant::now();
        while let Err(error) = client.get_connection() {
            if error.kind() == redis::ErrorKind::AuthenticationFailed {
                return;
            }
            assert!(since.elapsed() < LIMIT, "{error}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[allow(dead_code, reason = "not every test program needs it")]
    pub(crate) fn run(&self, command: &[&str]) {
        let mut all = redis::cmd(command[0]);
        all.arg(&command[1..]);
        let client = redis::Client::open(self.url()).unwrap();
        all.exec(&mut client.get_connection().unwrap()).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(directory: &Path, arguments: &[String]) -> Child {
    // A socket that a killed server left would seem to be one that listens.
    let _ = std::fs::remove_file(directory.join("server"));
    let mut command = Command::new("redis-server");
    command
        .args([
            "--unixsocket",
            "server",
            "--save",
            "",
            "--appendonly",
            "yes",
        ])
        .args(["--appendfsync", "always", "--dir"])
        .arg(directory)
        .args(arguments)
        .current_dir(directory)
        .stdout(Stdio::null());
    command
        .spawn()
        .expect("redis-server is installed by tests/e2e/frontier")
}
