//! The tutorial, followed from its first command to its last: each is run where the ones before have
//! left off, with a bare repository as the forge.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::console::{Example, Server, examples, run, waypost};
use crate::git::git;

/// The address of the forge in the tutorial, which is readable without an account.
const FORGE: &str = "https://github.com/";

/// How long a server may take to serve a pushed change.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A user with Git, and an account on a forge with an empty repository.
struct Reader {
    home: tempfile::TempDir,
    directory: PathBuf,
    server: Option<Server>,
}

impl Reader {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        git(root, "init --quiet --bare forge/you/links.git");
        let user = "[user]\nname = You\nemail = you@example.org\n";
        fs::write(root.join(".gitconfig"), user).unwrap();
        // Called as ssh is: the last argument is what Git runs on the forge, as it quotes it.
        let ssh = "for request; do :; done\n\
                   cd \"$HOME/forge\" && eval \"exec git ${request#git-}\"\n";
        fs::write(root.join("ssh"), ssh).unwrap();
        let directory = root.to_owned();
        Self {
            home,
            directory,
            server: None,
        }
    }

    /// Runs a command, and returns what it prints; a server runs until the next one starts.
    fn enter(&mut self, command: &str) -> String {
        let home = self.home.path().to_str().unwrap();
        let variables = [
            ("HOME", home),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_SSH_COMMAND", "sh \"$HOME/ssh\""),
            ("GIT_SSH_VARIANT", "ssh"),
            ("WAYPOST_PULL_INTERVAL", "100ms"),
        ];
        if let Some(directory) = command.strip_prefix("cd ") {
            self.directory.push(directory);
            String::new()
        } else if command.starts_with("waypost serve") {
            let command = command.replace(FORGE, &format!("{home}/forge/"));
            let mut serve = waypost(command.strip_prefix("waypost ").unwrap());
            serve.current_dir(&self.directory).envs(variables);
            self.server = None;
            self.server = Some(Server::start(&mut serve));
            String::new()
        } else if let Some(arguments) = command.strip_prefix("curl ") {
            self.server.as_ref().unwrap().curl(arguments)
        } else {
            run(command, &self.directory, &variables)
        }
    }
}

/// Returns a text without the parts that differ each time: the ids of commits, and dates.
fn constant(text: &str) -> String {
    let is_separator = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let is_id = |word: &str| {
        [12, 40].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_date = |word: &str| {
        let form = word.bytes().map(|byte| match byte {
            b'0'..=b'9' => '0',
            byte => char::from(byte),
        });
        form.eq("0000-00-00".chars())
    };
    let words = text.split_inclusive(is_separator).map(|part| {
        let word = part.trim_end_matches(is_separator);
        let (day, time) = word.split_at_checked(10).unwrap_or((word, ""));
        let constant = match word {
            _ if is_id(word) => "ID".to_owned(),
            _ if is_date(day) => format!("DATE{time}"),
            _ => word.to_owned(),
        };
        constant + &part[word.len()..]
    });
    words.collect()
}

#[test]
fn the_tutorial_shows_what_happens() {
    let mut reader = Reader::new();
    for Example { command, output } in examples("docs/tutorial.md") {
        let deadline = Instant::now() + TIMEOUT;
        let expected = constant(&output);
        loop {
            let printed = reader.enter(&command);
            // An example may show any version of the program.
            let printed = printed.replace(env!("CARGO_PKG_VERSION"), "0.1.0");
            let printed = constant(&printed);
            // A server fetches what was pushed a moment later.
            if printed == expected || !command.starts_with("curl ") || Instant::now() > deadline {
                assert_eq!(printed, expected, "{command}");
                break;
            }
            sleep(Duration::from_millis(20));
        }
    }
    assert!(reader.server.is_some(), "no server was started");
}

#[test]
fn ids_and_dates_are_all_that_differs() {
    for (text, expected) in [
        ("pushed to main as 6463b58813be\n", "pushed to main as ID\n"),
        (
            "(bd238de8c421:mapping.yaml:4, 2023-11-14)",
            "(ID:mapping.yaml:4, DATE)",
        ),
        (
            "\"since\":\"2026-11-22T00:00:00Z\"",
            "\"since\":\"DATET00:00:00Z\"",
        ),
        ("→ t0P0JMya, 302", "→ t0P0JMya, 302"),
    ] {
        assert_eq!(constant(text), expected);
    }
}
