//! One push, run in a process of its own: connect, compare, upload, read the answer.
//!
//! The branch moves from the commit that is expected there to the pushed one, or not at all: both
//! sides compare, the remote under its lock. Not for remotes on the same file system: there libgit2
//! writes the reference by force and runs no hook, so the `git` program pushes.

use std::cell::RefCell;
use std::rc::Rc;

use git2::{Direction, ErrorCode, Oid, PushOptions, Repository};
use serde::{Deserialize, Serialize};

use super::failure::TransferFailure;
use super::job::{Job, PushOrder};
use super::session::{RemoteSession, failure, proxy};
use super::unwinding::caught;

/// The maximum number of bytes read of a remote's messages.
const MAX_HEARD: usize = 64 << 10;

/// The messages of remotes if a branch was moved by someone else meanwhile: those of git-push(1),
/// of Git's `receive-pack` about its locks, and of hosts in their stead.
const LOST: [&str; 9] = [
    "fetch first",
    "non-fast-forward",
    "stale info",
    "failed to update ref",
    "could not update ref",
    "cannot lock ref",
    "failed to lock",
    "incorrect old value",
    "reference already exists",
];

/// The result of a push. Its texts are in a form for people, and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pushed {
    /// The branch is at the commit.
    Landed {
        /// The remote's message about it.
        said: String,
    },
    /// Someone else moved the branch first.
    Lost,
    /// The remote refused it.
    Refused {
        /// Its message.
        reason: String,
    },
    /// The connection ended before the remote reported the result.
    Unclear {
        /// What was received of it.
        reason: String,
    },
}

impl Pushed {
    /// Parses a remote's answer about a branch that it did not move, and its other messages, both
    /// in a form for people.
    pub(crate) fn rejected(answer: &str, said: &str) -> Self {
        let lower = answer.to_ascii_lowercase();
        if LOST.iter().any(|words| lower.contains(words)) {
            return Self::Lost;
        }
        Self::Refused {
            reason: [answer, said]
                .join(": ")
                .trim_end_matches([':', ' '])
                .to_owned(),
        }
    }
}

/// The data received while pushing.
#[derive(Default)]
struct Heard {
    /// The answer about the branch: the error, if any.
    answer: Option<Option<String>>,
    said: Vec<u8>,
    /// Whether the branch was seen elsewhere than expected.
    moved: bool,
}

/// Runs one push. An error means that nothing was sent yet.
pub(crate) fn push(job: &Job, order: &PushOrder) -> Result<Pushed, TransferFailure> {
    let repository = Repository::open(&job.repository).map_err(|e| failure(&e))?;
    let expected = order.expected.map_or(Oid::ZERO_SHA1, |id| id.0);
    let mut session = RemoteSession::of(job);
    let mut remote = (repository.remote_anonymous(&job.remote)).map_err(|e| failure(&e))?;
    session.leads_to(&remote);
    let mut connection = remote
        .connect_auth(Direction::Push, Some(session.callbacks()), Some(proxy()))
        .map_err(|e| session.explain(failure(&e)))?;
    session.begin_transfer()?;

    let heard = Rc::new(RefCell::new(Heard::default()));
    let mut callbacks = session.callbacks();
    let hearing = Rc::clone(&heard);
    callbacks.push_negotiation(move |updates| {
        if updates.iter().all(|update| update.src() == expected) {
            return Ok(());
        }
        hearing.borrow_mut().moved = true;
        Err(git2::Error::from_str("the branch has moved"))
    });
    let hearing = Rc::clone(&heard);
    callbacks.push_update_reference(move |_, wrong| {
        hearing.borrow_mut().answer = Some(wrong.map(str::to_owned));
        Ok(())
    });
    let hearing = Rc::clone(&heard);
    callbacks.sideband_progress(move |bytes| {
        let said = &mut hearing.borrow_mut().said;
        let room = MAX_HEARD.saturating_sub(said.len());
        said.extend(bytes.iter().take(room));
        true
    });
    let mut options = PushOptions::new();
    options.remote_callbacks(callbacks).proxy_options(proxy());
    let specification = format!("{}:{}", order.commit, order.branch);
    let ended = caught(|| {
        let remote = connection.remote();
        remote.push(&[specification], Some(&mut options))
    });
    let heard = heard.borrow();
    let secrets = session.secrets();
    let said = secrets.readable(&String::from_utf8_lossy(words(&heard.said)));
    let Ok(ended) = ended else {
        // The commit was sent, and its result is in a text that git2 does not return.
        return Ok(Pushed::Unclear {
            reason: ["the remote's answer is not UTF-8", &said]
                .join(" ")
                .trim_end()
                .to_owned(),
        });
    };
    Ok(match (ended, &heard.answer) {
        _ if heard.moved => Pushed::Lost,
        (_, Some(Some(wrong))) => Pushed::rejected(&secrets.readable(wrong), &said),
        (Ok(()), Some(None)) => Pushed::Landed { said },
        (Err(error), _) if error.code() == ErrorCode::NotFastForward => Pushed::Lost,
        (Err(error), _) => Pushed::Unclear {
            reason: session.explain(failure(&error)).message,
        },
        (Ok(()), None) => Pushed::Unclear {
            reason: "the remote did not say whether it took the commit".to_owned(),
        },
    })
}

/// Returns the received messages, without a last word that may have been cut.
fn words(heard: &[u8]) -> &[u8] {
    let whole = || heard.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0);
    &heard[..if heard.len() < MAX_HEARD {
        heard.len()
    } else {
        whole()
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_lost_race_from_a_refusal() {
        for answer in [
            "[rejected] (fetch first)",
            "[remote rejected] (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
            "failed to update ref",
        ] {
            assert_eq!(Pushed::rejected(answer, ""), Pushed::Lost, "{answer}");
        }
        assert_eq!(
            Pushed::rejected("pre-receive hook declined", "GH006: Protected branch"),
            Pushed::Refused {
                reason: "pre-receive hook declined: GH006: Protected branch".to_owned()
            }
        );
    }

    #[test]
    fn a_word_that_was_cut_is_not_heard() {
        assert_eq!(words(b"a bc"), b"a bc");
        let long = [&b"a "[..], &[b'b'; MAX_HEARD - 2]].concat();
        assert_eq!(words(&long), b"a");
    }
}
