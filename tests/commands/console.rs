//! The commands in the `console` blocks of documents, and how they are run.
//!
//! Tests need no program but Git: what documents do with curl is done here.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The address at which servers listen in documents.
const PUBLIC: &str = "http://127.0.0.1:8080";

/// A command in a document, and what it prints there.
pub(crate) struct Example {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// Returns the commands of all `console` blocks of a document.
pub(crate) fn examples(document: &str) -> Vec<Example> {
    let text = fs::read_to_string(document).unwrap();
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => examples.push(Example {
                command: command.to_owned(),
                output: String::new(),
            }),
            _ if inside => {
                let output = &mut examples.last_mut().unwrap().output;
                output.push_str(line);
                output.push('\n');
            }
            _ => {}
        }
    }
    assert!(!examples.is_empty(), "no example in {document}");
    examples
}

/// Returns the program, with arguments that hold no spaces.
pub(crate) fn waypost(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
    command.args(args.split(' ')).env_clear();
    command
}

/// Runs a command in a shell that has the program in its path, and returns both outputs.
pub(crate) fn run(command: &str, directory: &Path, variables: &[(&str, &str)]) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_waypost"));
    let programs = program.parent().unwrap().to_str().unwrap();
    let got = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(directory)
        .env_clear()
        .env("PATH", format!("{programs}:/usr/bin:/bin"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    String::from_utf8(got.stdout).unwrap()
}

/// A server that a document starts, on ports of its own.
pub(crate) struct Server {
    child: Child,
    public: String,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .env("WAYPOST_LISTEN", "127.0.0.1:0")
            .env("WAYPOST_ADMIN_LISTEN", "127.0.0.1:0")
            .env("WAYPOST_LOG_FORMAT", "json")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stdout.take().unwrap());
        let serving = log.lines().map(Result::unwrap).find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            Some(line["public"].as_str()?.to_owned())
        });
        Self {
            child,
            public: serving.unwrap(),
        }
    }

    /// Returns what curl prints: the head of an answer with `-i`, its body with `-H`.
    pub(crate) fn curl(&self, arguments: &str) -> String {
        let (options, path) = arguments.split_once(PUBLIC).unwrap();
        match options.trim_end() {
            "-i" => self.get(path, "Accept: */*").0,
            option => {
                let header = option.strip_prefix("-H '").unwrap();
                self.get(path, header.strip_suffix('\'').unwrap()).1
            }
        }
    }

    /// Returns the head of an answer, with the date of the documentation, and its body.
    fn get(&self, path: &str, header: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.public).unwrap();
        let host = &self.public;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let undated = head.split("\r\n").map(|line| match line.split_once(": ") {
            Some(("Date", _)) => "Date: Sat, 21 Nov 2026 12:00:00 GMT\n".to_owned(),
            _ => format!("{line}\n"),
        });
        (undated.collect(), body.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
