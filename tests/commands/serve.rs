//! `waypost serve` as people start it: with a path and a port, and the messages of a failed start.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://e.example/', short-code: x}\n";

fn serve(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command
        .current_dir(directory)
        .args([
            "serve",
            "--log-format",
            "json",
            "--admin-listen",
            "127.0.0.1:0",
        ])
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A server, killed when it is dropped.
struct Served {
    process: Child,
    log: BufReader<ChildStdout>,
    public: SocketAddr,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a server of a table at `links.yaml`.
fn started(arguments: &[&str], variables: &[(&str, &str)]) -> Served {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("links.yaml"), TABLE).unwrap();
    let mut process = serve(directory.path(), arguments, variables)
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stdout.take().unwrap());
    let mut served = Served {
        process,
        log,
        public: SocketAddr::from(([0, 0, 0, 0], 0)),
    };
    loop {
        let mut line = String::new();
        if served.log.read_line(&mut line).unwrap() == 0 {
            let mut errors = String::new();
            let stderr = served.process.stderr.as_mut().unwrap();
            stderr.read_to_string(&mut errors).unwrap();
            panic!("it does not serve: {errors}");
        }
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["message"] == "serving" {
            assert_eq!(event["links"], 1);
            served.public = event["public"].as_str().unwrap().parse().unwrap();
            return served;
        }
    }
}

fn ends(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = serve(directory, arguments, variables).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn answers(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let request = b"GET /x HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.starts_with("HTTP/1.1 302 ")
}

#[test]
fn a_path_is_the_table_and_a_port_is_of_this_machine() {
    let has_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    for listen in ["0", ":0", "localhost:0"] {
        let served = started(&["links.yaml", "--listen", listen], &[]);
        assert!(served.public.ip().is_loopback(), "{}", served.public);
        assert!(answers(served.public));
        let ipv6 = SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), served.public.port());
        assert_eq!(answers(ipv6), has_ipv6, "{listen}");
    }
    // A path overrides the variable, as the flag does.
    let elsewhere = [("WAYPOST_TABLE", "nowhere.yaml"), ("WAYPOST_LISTEN", "0")];
    let served = started(&["links.yaml"], &elsewhere);
    assert!(served.public.ip().is_loopback());
}

#[test]
fn only_the_variable_of_platforms_means_every_address() {
    let served = started(&["links.yaml"], &[("PORT", "0")]);
    assert!(served.public.ip().is_unspecified());
    let both = [("PORT", "0"), ("WAYPOST_LISTEN", "127.0.0.1:0")];
    let served = started(&["links.yaml"], &both);
    assert!(served.public.ip().is_loopback());

    let directory = tempfile::tempdir().unwrap();
    let (status, _, errors) = ends(directory.path(), &[], &[("PORT", "http")]);
    assert_eq!(status, 2);
    assert_eq!(errors, "waypost: the variable PORT is not a port number\n");
    let (status, _, errors) = ends(directory.path(), &["--port", "80"], &[]);
    assert_eq!(status, 2);
    assert!(errors.contains("unexpected argument '--port'"), "{errors}");
}

#[test]
fn wrong_numbers_and_addresses_are_explained() {
    let directory = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (["--threads", "0"], "write a whole number, at least 1"),
        (
            ["--listen", "e.org:80"],
            "write a port of this machine, as in 8080",
        ),
        (["links.yaml", "--repo=x"], "cannot be used with"),
    ] {
        let (status, _, errors) = ends(directory.path(), &arguments, &[]);
        assert_eq!(status, 2);
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn a_misspelt_variable_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let (status, _, errors) = ends(
        directory.path(),
        &["nowhere.yaml"],
        &[("WAYPOST_LISTN", "0")],
    );
    assert_eq!(status, 3);
    let note = "waypost: the variable WAYPOST_LISTN is not read: did you mean WAYPOST_LISTEN?\n";
    assert!(errors.starts_with(note), "{errors}");
}

#[test]
fn a_first_start_that_fails_keeps_no_commit() {
    let directory = tempfile::tempdir().unwrap();
    let remote = directory.path().join("nowhere.git");
    let remote = format!("file://{}", remote.display());
    let (status, log, _) = ends(directory.path(), &["--repo", &remote, "--listen", "0"], &[]);
    assert_eq!(status, 3);
    assert!(log.contains("and there is no earlier commit"), "{log}");
    assert!(!log.contains("keeping"), "{log}");
}

#[test]
fn the_short_help_fits_two_screens_and_begins_with_examples() {
    let help = |flag| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        let output = command.args(["serve", flag]).env_clear().output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (short, long) = (help("-h"), help("--help"));
    assert!(short.lines().count() <= 60, "{short}");
    for heading in ["Network:", "Limits:", "Shutdown:", "TLS:", "Git:"] {
        let is_there = |text: &str| text.lines().any(|line| line == heading);
        assert!(is_there(&short) && is_there(&long), "{heading} {short}");
    }
    for text in [&short, &long] {
        let examples = text.find("Examples:").unwrap();
        assert!(examples < text.find("Usage:").unwrap(), "{text}");
    }
    assert!(!short.contains("--max-staleness") && long.contains("--max-staleness"));
    assert!(long.contains("WAYPOST_HOOK_SECRET") && long.contains("LISTEN_FDS"));
}
