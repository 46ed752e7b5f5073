//! One push, run in a process of its own: connect, compare, upload, read the answer.
//!
//! The branch moves from the expected commit to the pushed one, or not at all: both sides compare,
//! the remote under its lock. Not for remotes on the same file system: there libgit2 writes the
//! reference by force and runs no hook, so their `git receive-pack` is started instead
//! (`branch/receive_pack.rs`).

use std::cell::RefCell;
use std::rc::Rc;

use git2::{Direction, ErrorCode, Oid, PushOptions, RemoteCallbacks, Repository};
use serde::{Deserialize, Serialize};

use super::session::{RemoteSession, failure, proxy};
use crate::git::transport::orders::{Job, PushOrder};
use crate::git::transport::remote::TransferFailure;
use crate::git::unwinding::caught;
use crate::git::wire::RemoteMessages;

/// The messages of remotes if a branch was moved by someone else meanwhile: those of git-push(1),
/// of Git's `receive-pack`, and of hosts in their stead.
const MOVED_BRANCH: [&str; 6] = [
    "fetch first",
    "non-fast-forward",
    "stale info",
    "incorrect old value",
    "reference already exists",
    "but expected",
];

/// Their messages if the branch's lock could not be taken: someone else is moving the branch, unless
/// the lock is left over or cannot be made.
const LOCKED_BRANCH: [&str; 4] = [
    "failed to update ref",
    "could not update ref",
    "cannot lock ref",
    "failed to lock",
];

/// Why nothing is sent to a branch that is not where it was expected.
const MOVED: &str = "the branch has moved";

/// The result of a push. Its texts are in a form for people, and contain no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pushed {
    /// The branch is at the commit.
    Landed {
        /// The remote's message about it.
        said: String,
    },
    /// Someone else moved the branch first.
    Lost {
        /// The remote's message about it.
        reason: String,
    },
    /// The branch is locked: someone else may be moving it, and the branch shows whether that is so.
    Locked {
        /// The remote's message about it.
        reason: String,
    },
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
        let reason = [answer, said].join(": ");
        let reason = reason.trim_end_matches([':', ' ']).to_owned();
        let answer = answer.to_ascii_lowercase();
        let has = |text: &str, known: &[&str]| known.iter().any(|words| text.contains(words));
        if has(&answer, &MOVED_BRANCH) {
            return Self::Lost { reason };
        }
        if !has(&answer, &LOCKED_BRANCH) {
            return Self::Refused { reason };
        }
        // Git's short answer is the same for both; its message has the difference.
        match has(&said.to_ascii_lowercase(), &MOVED_BRANCH) {
            true => Self::Lost { reason },
            false => Self::Locked { reason },
        }
    }

    /// Reports that the branch was not where it was expected.
    pub(crate) fn moved() -> Self {
        Self::Lost {
            reason: MOVED.to_owned(),
        }
    }
}

/// The data received while pushing.
#[derive(Default)]
struct Heard {
    /// The answer about the branch: the error, if any.
    answer: Option<Option<String>>,
    said: RemoteMessages,
    /// Whether the branch was seen elsewhere than expected.
    moved: bool,
}

/// Keeps what the remote says, and sends nothing unless the branch is where it is expected.
fn hear(heard: &Rc<RefCell<Heard>>, expected: Oid, callbacks: &mut RemoteCallbacks<'_>) {
    let hearing = Rc::clone(heard);
    callbacks.push_negotiation(move |updates| {
        if updates.iter().all(|update| update.src() == expected) {
            return Ok(());
        }
        hearing.borrow_mut().moved = true;
        Err(git2::Error::from_str(MOVED))
    });
    let hearing = Rc::clone(heard);
    callbacks.push_update_reference(move |_, wrong| {
        hearing.borrow_mut().answer = Some(wrong.map(str::to_owned));
        Ok(())
    });
    let hearing = Rc::clone(heard);
    callbacks.sideband_progress(move |bytes| {
        hearing.borrow_mut().said.add(bytes);
        true
    });
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
    hear(&heard, expected, &mut callbacks);
    let mut options = PushOptions::new();
    options.remote_callbacks(callbacks).proxy_options(proxy());
    let specification = format!("{}:{}", order.commit, order.branch);
    let ended = caught(|| {
        let remote = connection.remote();
        remote.push(&[specification], Some(&mut options))
    });
    let heard = heard.borrow();
    let secrets = session.secrets();
    let said = secrets.readable(&heard.said.text());
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
        _ if heard.moved => Pushed::moved(),
        (_, Some(Some(wrong))) => Pushed::rejected(&secrets.readable(wrong), &said),
        (Ok(()), Some(None)) => Pushed::Landed { said },
        (Err(error), _) if error.code() == ErrorCode::NotFastForward => Pushed::moved(),
        (Err(error), _) => Pushed::Unclear {
            reason: session.explain(failure(&error)).message,
        },
        (Ok(()), None) => Pushed::Unclear {
            reason: "the remote did not say whether it took the commit".to_owned(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_a_lost_race_from_a_refusal() {
        for answer in [
            "[rejected] (fetch first)",
            "[remote rejected] (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
        ] {
            let reason = answer.to_owned();
            assert_eq!(Pushed::rejected(answer, ""), Pushed::Lost { reason });
        }
        let answer = "failed to update ref";
        let locked = Pushed::rejected(answer, "Unable to create 'main.lock': File exists.");
        assert!(matches!(locked, Pushed::Locked { .. }), "{locked:?}");
        let moved = Pushed::rejected(answer, "cannot lock ref 'main': is at 1 but expected 2");
        assert!(matches!(moved, Pushed::Lost { .. }), "{moved:?}");
        assert_eq!(
            Pushed::rejected("pre-receive hook declined", "GH006: Protected branch"),
            Pushed::Refused {
                reason: "pre-receive hook declined: GH006: Protected branch".to_owned()
            }
        );
    }
}
