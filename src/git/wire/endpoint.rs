//! How to reach `upload-pack`: over TCP (git-daemon(1)), or through the program `git` for a
//! directory of this machine.

use std::env;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use percent_encoding::percent_decode_str;
use url::Url;

use super::packets;
use super::wire_error::WireError;

/// The default port (git-daemon(1)).
const PORT: u16 = 9418;

/// The settings of `upload-pack` on this machine: it sends any commit, because anyone who can run
/// it can read them all; it soon notices that its output is no longer read; its memory does not
/// grow with the number of processors; and it does not check again who owns the directory, which
/// libgit2 did by the same rules.
const SETTINGS: [&str; 4] = [
    "safe.directory=*",
    "uploadpack.allowAnySHA1InWant=true",
    "uploadpack.keepAlive=1",
    "pack.threads=1",
];

/// The variables that point Git to another repository than that of its directory (`git rev-parse
/// --local-env-vars`): set where a hook runs us.
pub(crate) const PLACE_VARIABLES: [&str; 8] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_WORK_TREE",
];

/// The limit for keeping the program's errors.
const MAX_ERRORS: u64 = 4 << 10;

/// How to reach `upload-pack`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A daemon.
    Daemon {
        host: String,
        port: u16,
        path: String,
    },
    /// A directory of this machine, which libgit2 agrees to open.
    Directory(PathBuf),
}

impl Endpoint {
    /// Parses the address of a daemon.
    pub(crate) fn daemon(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let host = url.host_str().filter(|_| url.scheme() == "git")?;
        let path = percent_decode_str(url.path()).decode_utf8().ok()?;
        // The form for home directories (git-daemon(1)).
        let path = match path.strip_prefix("/~") {
            Some(home) => format!("~{home}"),
            None => path.into_owned(),
        };
        Some(Self::Daemon {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(PORT),
            path,
        })
    }

    /// Connects. `hidden` are the variables that a program must not see.
    pub(super) fn connect<'v>(
        &self,
        hidden: impl IntoIterator<Item = &'v &'v str>,
    ) -> Result<WireConnection, WireError> {
        match self {
            Self::Daemon { host, port, path } => {
                let place = format!("{host}:{port}");
                let connected = TcpStream::connect((&**host, *port));
                let mut stream =
                    connected.map_err(|source| WireError::Unreachable { place, source })?;
                let mut request = Vec::new();
                packets::write(
                    &mut request,
                    &format!("git-upload-pack {path}\0host={host}\0"),
                );
                stream.write_all(&request)?;
                Ok(WireConnection {
                    input: Box::new(stream.try_clone()?),
                    output: Box::new(stream.try_clone()?),
                    peer: Peer::Daemon(stream),
                })
            }
            Self::Directory(directory) => {
                let mut command = Command::new("git");
                for variable in hidden.into_iter().chain(&PLACE_VARIABLES) {
                    command.env_remove(variable);
                }
                for setting in SETTINGS {
                    command.args(["-c", setting]);
                }
                let mut child = command
                    .arg("upload-pack")
                    .arg(directory)
                    .env_remove("GIT_PROTOCOL")
                    .env("LC_ALL", "C")
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .map_err(WireError::Program)?;
                let missing = || WireError::Program(io::ErrorKind::BrokenPipe.into());
                let output = child.stdin.take().ok_or_else(missing)?;
                let input = child.stdout.take().ok_or_else(missing)?;
                let errors = child.stderr.take().ok_or_else(missing)?;
                Ok(WireConnection {
                    input: Box::new(input),
                    output: Box::new(output),
                    peer: Peer::Program {
                        child,
                        errors: Some(thread::spawn(move || beginning(errors))),
                    },
                })
            }
        }
    }
}

/// An open connection.
pub(super) struct WireConnection {
    pub(super) input: Box<dyn Read>,
    pub(super) output: Box<dyn Write>,
    pub(super) peer: Peer,
}

/// The other side of a connection, which ends when this is dropped.
pub(super) enum Peer {
    Daemon(TcpStream),
    Program {
        child: Child,
        errors: Option<JoinHandle<String>>,
    },
}

impl Peer {
    /// Ends the other side, and returns its reason for that if it gave one.
    pub(super) fn end(&mut self) -> Option<String> {
        match self {
            Self::Daemon(stream) => {
                let _ = stream.shutdown(Shutdown::Both);
                None
            }
            Self::Program { child, errors } => {
                let _ = child.kill();
                let _ = child.wait();
                let said = errors.take()?.join().ok()?;
                let said = said.trim().trim_start_matches("fatal: ").to_owned();
                (!said.is_empty()).then_some(said)
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads to the end, and returns the beginning.
fn beginning(mut errors: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = (&mut errors).take(MAX_ERRORS).read_to_end(&mut bytes);
    let _ = io::copy(&mut errors, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether the program `git` is in one of the directories for programs.
pub(crate) fn has_git_program() -> bool {
    let directories = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&directories).any(|directory| directory.join("git").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_addresses_of_daemons() {
        let daemon = |host: &str, port, path: &str| {
            Some(Endpoint::Daemon {
                host: host.to_owned(),
                port,
                path: path.to_owned(),
            })
        };
        for (address, expected) in [
            ("git://h.example/r.git", daemon("h.example", 9418, "/r.git")),
            ("git://[::1]:29/a%20b", daemon("::1", 29, "/a b")),
            ("git://h/~ada/r", daemon("h", 9418, "~ada/r")),
            ("https://h/r", None),
            ("/srv/r", None),
        ] {
            assert_eq!(Endpoint::daemon(address), expected, "{address}");
        }
    }
}
