//! A server that is killed while it registers, and the next one.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bare_remote::{self, hook};
use crate::fixture::{ADA, EMPTY, TOKENS};
use crate::git::git;
use crate::support::FOREVER;

/// A process that serves; killed when dropped.
struct Served {
    child: Child,
    public: String,
}

impl Served {
    /// Starts the program on `remote.git`, with the state directory `state`.
    fn start(root: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--admin-listen", "127.0.0.1:0", "--repo", "remote.git"])
            .args(["--state-dir", "state", "--pull-interval", "1h"])
            .args(["--registrations", "--registrations-tokens", "tokens"])
            .args(["--git-author", "W <w@example.org>"])
            .current_dir(root)
            .env_clear()
            .env("HOME", root)
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stdout.take().unwrap());
        let public = log.lines().map(Result::unwrap).find_map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            Some(line["public"].as_str()?.to_owned())
        });
        fs::write(root.join("pid"), child.id().to_string()).unwrap();
        Self {
            child,
            public: public.unwrap(),
        }
    }

    /// Returns what comes back until the server closes, or is gone.
    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.public).unwrap();
        stream.set_read_timeout(Some(FOREVER)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn register(&self) -> String {
        let body = r#"{"url": "https://e.org/", "short_code": "e"}"#;
        let length = body.len();
        self.ask(&format!(
            "POST /-/api/links HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\
             Authorization: Bearer {ADA}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        ))
    }

    fn redirects(&self) -> bool {
        let head = "GET /e HTTP/1.1\r\nHost: short.code\r\nConnection: close\r\n\r\n";
        self.ask(head).starts_with("HTTP/1.1 302 ")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lists the packs of the only clone in the state directory.
fn packs(root: &Path) -> Vec<String> {
    let names = |path: &Path| {
        let entries = fs::read_dir(path).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let state = root.join("state");
    let mut clones = names(&state);
    clones.retain(|name| name.starts_with("clone-"));
    assert_eq!(clones.len(), 1, "{clones:?}");
    let mut packs = names(&state.join(&clones[0]).join("objects/pack"));
    packs.sort();
    packs
}

#[test]
fn a_commit_that_was_pushed_is_found_in_the_clone_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    bare_remote::create(root);
    bare_remote::push(root, &[("mapping.yaml", EMPTY)]);
    fs::write(root.join("tokens"), TOKENS).unwrap();
    // The branch has moved, but the server has not noticed yet.
    let pid = root.join("pid");
    hook(
        root,
        "post-receive",
        &format!("kill -9 $(cat {})", pid.display()),
    );

    let server = Served::start(root);
    assert_eq!(server.register(), "");
    drop(server);
    assert_eq!(git(&root.join("remote.git"), "rev-list --count main"), "2");
    let before = packs(root);

    let left = root.join("state/clone-0");
    fs::create_dir(&left).unwrap();
    let server = Served::start(root);
    let began = Instant::now();
    while !server.redirects() || left.exists() {
        assert!(began.elapsed() < FOREVER, "the link is not live");
        sleep(Duration::from_millis(10));
    }
    // No object was fetched again.
    assert_eq!(packs(root), before);
    let again = server.register();
    assert!(again.starts_with("HTTP/1.1 409 "), "{again}");
}
