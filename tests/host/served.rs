//! The program, started as a service manager would.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any step takes, on the slowest machine.
pub(crate) const FOREVER: Duration = Duration::from_secs(60);

pub(crate) const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                                - {url: 'https://e.example/', short-code: x}\n";

/// A directory for a table and a manager's socket.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.write(TABLE);
        place
    }

    pub(crate) fn write(&self, table: &str) {
        let new = self.0.path().join("new");
        fs::write(&new, table).unwrap();
        fs::rename(new, self.0.path().join("mapping.yaml")).unwrap();
    }

    /// Returns the program, to be started in this place with nothing in its environment.
    pub(crate) fn waypost(&self) -> Command {
        let mut command = Command::new("sh");
        command
            .current_dir(&self.0)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("WAYPOST", env!("CARGO_BIN_EXE_waypost"))
            .env("WAYPOST_LISTEN", "127.0.0.1:0")
            .env("WAYPOST_ADMIN_LISTEN", "127.0.0.1:0")
            .env("WAYPOST_LOG_FORMAT", "json")
            .env("WAYPOST_POLL_INTERVAL", "1h")
            .stdout(Stdio::piped());
        command
    }

    /// Returns the program with a manager's socket, and the manager's end of it.
    pub(crate) fn managed(&self) -> (Command, Manager) {
        let path = self.0.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(FOREVER)).unwrap();
        let mut command = self.waypost();
        command.env("NOTIFY_SOCKET", path);
        (command, Manager(socket))
    }

    /// Uses a manager that listens at an abstract address.
    #[cfg(target_os = "linux")]
    pub(crate) fn managed_without_a_file(&self) -> (Command, Manager) {
        use std::os::linux::net::SocketAddrExt as _;
        let name = self.0.path().display().to_string();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        socket.set_read_timeout(Some(FOREVER)).unwrap();
        let mut command = self.waypost();
        command.env("NOTIFY_SOCKET", format!("@{name}"));
        (command, Manager(socket))
    }
}

/// The messages that the manager receives.
pub(crate) struct Manager(UnixDatagram);

impl Manager {
    /// Returns the lines of the next message that is no heartbeat.
    pub(crate) fn hear(&self) -> Vec<String> {
        loop {
            let lines = self.hear_all();
            if lines != ["WATCHDOG=1"] {
                return lines;
            }
        }
    }

    pub(crate) fn hear_all(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let length = self.0.recv(&mut buffer).unwrap();
        let text = String::from_utf8(buffer[..length].to_vec()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// A running program; killed when dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) public: String,
    pub(crate) admin: String,
}

impl Served {
    pub(crate) fn start(command: Command) -> Self {
        Self::start_with(command, "")
    }

    /// Starts the program from a shell that first does something else.
    pub(crate) fn start_with(command: Command, first: &str) -> Self {
        let mut server = Self::begin(command, first);
        let log = BufReader::new(server.child.stdout.take().unwrap());
        let serving = log.lines().map(Result::unwrap).find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            let address = |name: &str| Some(line[name].as_str()?.to_owned());
            address("public").zip(address("admin"))
        });
        let Some((public, admin)) = serving else {
            panic!("it never served: {:?}", server.child.wait());
        };
        (server.public, server.admin) = (public, admin);
        server
    }

    /// Starts the program, and does not wait until it serves.
    pub(crate) fn begin(mut command: Command, first: &str) -> Self {
        command.args(["-c", &format!("{first}\nexec \"$WAYPOST\" serve")]);
        Self {
            child: command.spawn().unwrap(),
            public: String::new(),
            admin: String::new(),
        }
    }

    /// Starts a program that is sure to refuse, and returns its status and messages.
    pub(crate) fn refused(mut command: Command, first: &str) -> (Option<i32>, String) {
        command.args(["-c", &format!("{first}\nexec \"$WAYPOST\" serve")]);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(status.unwrap().success());
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        until(|| self.child.try_wait().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the shell commands that hand on the standard input, and if asked for the standard error,
/// as a manager hands on sockets.
pub(crate) fn handing_on(sockets: usize) -> String {
    let second = if sockets == 2 { "exec 4<&2 2>&1" } else { "" };
    format!("exec 3<&0 </dev/null\n{second}\nexport LISTEN_FDS={sockets} LISTEN_PID=$$")
}

pub(crate) fn socket() -> (TcpListener, String) {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    (socket, address)
}

/// Returns another descriptor of a socket, as a child's standard stream.
pub(crate) fn copy(socket: &TcpListener) -> Stdio {
    OwnedFd::from(socket.try_clone().unwrap()).into()
}

/// Requests a path, and returns the status line of the answer.
pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    ask(&mut stream, path);
    answer(stream)
}

pub(crate) fn ask(stream: &mut TcpStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
}

pub(crate) fn answer(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(FOREVER)).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Waits until there is something.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + FOREVER;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never happened");
        sleep(Duration::from_millis(5));
    }
}
