//! Changes of verdicts, one line for each.

use std::io::{Write as _, stdout};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::cli::terminal::legible;
use crate::linkcheck::{Checker, LinkRecord, Verdict};

/// How long the command waits at its end for the reader of the lines.
const READER: Duration = Duration::from_secs(2);

/// Lines for standard output, so that no check waits for their reader; after the last one comes `None`.
pub(super) struct ChangeLines {
    sender: Sender<Option<String>>,
    lines: Receiver<Option<String>>,
}

impl ChangeLines {
    pub(super) fn new() -> Self {
        let (sender, lines) = channel();
        Self { sender, lines }
    }

    /// Starts to print.
    pub(super) fn print(self) -> Printing {
        let Self { sender, lines } = self;
        let printing = spawn_blocking(move || print(&lines));
        Printing { sender, printing }
    }

    /// Has a checker print a line for each link whose verdict changes, and for each new one that needs
    /// attention.
    pub(super) fn printed_by(&self, checker: Checker) -> Checker {
        let sender = self.sender.clone();
        checker.with_observer(move |url, before, after| {
            if let Some(line) = line(url, before, after) {
                // At the end, it is not printed any more.
                let _ = sender.send(Some(line));
            }
        })
    }
}

/// Returns the line about the changed verdict of a link, if it is to be printed.
fn line(url: &str, before: Option<&LinkRecord>, after: &LinkRecord) -> Option<String> {
    let (was, is) = (before.map(LinkRecord::verdict), after.verdict());
    if was == Some(is) || (was.is_none() && is.is_ok()) {
        return None;
    }
    let time = after.checked()?;
    let was = was.unwrap_or(Verdict::Unchecked);
    let detail = after.moved_to().map(|to| to.as_str().to_owned());
    let detail = detail.or_else(|| after.seen().map(|seen| seen.to_string()));
    let detail = detail.unwrap_or_default();
    let url = legible(url);
    Some(format!("{time} {url} {was} -> {is}: {}", legible(&detail)))
}

/// The task that prints the lines.
pub(super) struct Printing {
    sender: Sender<Option<String>>,
    printing: JoinHandle<()>,
}

impl Printing {
    /// Prints the remaining lines; it ends even if they are not read.
    pub(super) async fn end(self) {
        let _ = self.sender.send(None);
        let _ = timeout(READER, self.printing).await;
    }
}

fn print(lines: &Receiver<Option<String>>) {
    while let Ok(Some(line)) = lines.recv() {
        if writeln!(stdout(), "{line}").is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkcheck::{Failure, Observation, Policy, Seen};
    use crate::mapping::Timestamp;

    #[test]
    fn a_line_is_about_a_change_or_a_new_link_that_needs_attention() {
        let observed = |times: i64, seen| {
            let mut record = LinkRecord::default();
            for time in 0..times {
                let now = Timestamp::from_unix(1_795_219_200 + time * 400_000);
                record.observe(&Observation::without_request(seen), now, Policy::default());
            }
            record
        };
        let url = "https://a.example/\u{202e}";
        let good = observed(1, Seen::Answered(200));
        let [failing, again, dead] =
            [1, 2, 3].map(|times| observed(times, Seen::Failed(Failure::Refused)));
        assert_eq!(line(url, None, &good), None);
        assert_eq!(line(url, Some(&failing), &again), None);
        let new = line(url, None, &failing).unwrap();
        assert_eq!(
            new,
            "2026-11-21T00:00:00Z https://a.example/\\u{202e} unchecked -> failing: the connection was refused"
        );
        let changed = line(url, Some(&again), &dead).unwrap();
        assert!(changed.contains("failing -> dead: "), "{changed}");
    }
}
