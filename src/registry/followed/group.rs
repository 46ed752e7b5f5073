//! Groups of submitted changes, decided together: first the registrations, then the edits of the
//! resulting table.
//!
//! Invariant: the result is as if the changes had been made one by one.

use std::sync::Arc;

use crate::mapping::{SoundTable, Timestamp};
use crate::registry::decide::{
    MayShadow, ProvedTable, Registered, RegistrationRefusal, RegistrationRequest, register_all,
    with,
};
use crate::registry::edits::{EditRefusal, EditedEntry, EntryEdit, edit_entries};
use crate::registry::publish::Edit;
use crate::registry::text::TextFile;

/// A requested change, and its submitter.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The change.
    pub change: SubmittedChange,
    /// The name in the commit, and the owner whose links it may shadow; without white space.
    pub by: Arc<str>,
}

/// A requested change.
#[derive(Debug, Clone)]
pub enum SubmittedChange {
    /// A new link.
    Registration(RegistrationRequest),
    /// New content of an entry.
    Edit(EntryEdit),
}

/// The outcome of a change.
#[derive(Debug)]
pub enum ChangeOutcome {
    /// The new link, or why there is none.
    Registration(Result<Registered, RegistrationRefusal>),
    /// The current entry, or why it was not changed.
    Edit(Result<Box<EditedEntry>, EditRefusal>),
}

impl ChangeOutcome {
    /// Returns whether the table has the requested link or content now.
    pub fn is_done(&self) -> bool {
        match self {
            Self::Registration(outcome) => outcome.is_ok(),
            Self::Edit(outcome) => outcome.is_ok(),
        }
    }
}

/// The decision on a group.
#[derive(Debug)]
pub(super) struct GroupDecision {
    /// The outcome of each submission, in order: at least one is known.
    pub(super) outcomes: Vec<Option<ChangeOutcome>>,
    /// The files that change, with their new text.
    changed: Vec<TextFile>,
    /// The table with these files: none if nothing changes.
    pub(super) proved: Option<ProvedTable>,
}

/// Decides on submissions for a table that was compiled from these files, so that it has at most
/// `max_bytes` in total.
pub(super) fn decide_all(
    files: &[TextFile],
    compiled: &SoundTable,
    submissions: &[Submission],
    max_bytes: u64,
    now: Timestamp,
) -> GroupDecision {
    let (mut requests, mut edits) = (Vec::new(), Vec::new());
    for Submission { change, by } in submissions {
        let may_shadow = MayShadow::OwnedBy(Arc::clone(by));
        match change {
            SubmittedChange::Registration(request) => requests.push(RegistrationRequest {
                may_shadow,
                ..request.clone()
            }),
            SubmittedChange::Edit(edit) => edits.push(EntryEdit {
                may_shadow,
                ..edit.clone()
            }),
        }
    }
    let registered = register_all(files, compiled, &requests, max_bytes, now);
    let (files, compiled) = match &registered.proved {
        Some(proved) => (&proved.files[..], &proved.table),
        None => (files, compiled),
    };
    let edited = edit_entries(files, compiled, &edits, max_bytes, now);
    let (mut registrations, mut edits) =
        (registered.outcomes.into_iter(), edited.outcomes.into_iter());
    let outcomes = submissions
        .iter()
        .map(|submission| match submission.change {
            SubmittedChange::Registration(_) => {
                let outcome = registrations.next().expect("each request has one");
                outcome.map(ChangeOutcome::Registration)
            }
            SubmittedChange::Edit(_) => {
                match edits.next().expect("each edit has one") {
                    // It is decided after the preceding one.
                    Err(EditRefusal::Repeated { .. } | EditRefusal::Undecided) => None,
                    outcome => Some(ChangeOutcome::Edit(outcome.map(Box::new))),
                }
            }
        });
    GroupDecision {
        outcomes: outcomes.collect(),
        changed: with(&registered.changed, &edited.changed),
        proved: edited.proved.or(registered.proved),
    }
}

impl GroupDecision {
    /// Returns the path of a file whose text was needed and is not there any more, if there is one: then
    /// nothing was decided.
    pub(super) fn lost_text(&self) -> Option<String> {
        self.outcomes
            .iter()
            .flatten()
            .find_map(|outcome| match outcome {
                ChangeOutcome::Registration(Err(RegistrationRefusal::TextLost { path }))
                | ChangeOutcome::Edit(Err(EditRefusal::TextLost { path })) => Some(path.clone()),
                _ => None,
            })
    }

    /// Returns the content of the commit, if anything changes.
    pub(super) fn edit(&self, submissions: &[Submission]) -> Option<Edit> {
        if self.changed.is_empty() {
            return None;
        }
        let (mut added, mut edited, mut trailers) = (Vec::new(), Vec::new(), String::new());
        for (Submission { by, .. }, outcome) in submissions.iter().zip(&self.outcomes) {
            let (short_url, action, stated) = match outcome {
                Some(ChangeOutcome::Registration(Ok(it))) => {
                    added.push(&*it.code);
                    (&it.short_url, "Registered-By", &it.trailers)
                }
                Some(ChangeOutcome::Edit(Ok(it))) if it.is_changed => {
                    edited.push(&*it.content.code);
                    (&it.short_url, "Edited-By", &it.trailers)
                }
                _ => continue,
            };
            trailers += &format!("Short-Link: {short_url}\n{action}: {by}\n");
            for trailer in stated {
                trailers += trailer;
                trailers.push('\n');
            }
        }
        let subject = match (&added[..], &edited[..]) {
            ([only], []) => format!("Add {only}"),
            ([], [only]) => format!("Edit {only}"),
            (added, []) => format!("Add {} short links", added.len()),
            ([], edited) => format!("Edit {} short links", edited.len()),
            (added, edited) => format!("Add {} and edit {} short links", added.len(), edited.len()),
        };
        Some(Edit {
            files: self.changed.clone(),
            message: format!("{subject}\n\n{trailers}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::SourceFile;
    use crate::registry::edits::{EditRight, EntryValue, ExpectedContent};
    use crate::registry::text::compile_text;

    fn registration(url: &str) -> SubmittedChange {
        SubmittedChange::Registration(RegistrationRequest {
            url: url.to_owned(),
            ..RegistrationRequest::default()
        })
    }

    fn titled(link: &str, title: &str) -> SubmittedChange {
        SubmittedChange::Edit(EntryEdit {
            site: None,
            link: link.to_owned(),
            right: EditRight::OwnedBy("ada".into()),
            expected: ExpectedContent::Any,
            values: vec![EntryValue::Title(Some(title.to_owned()))],
            may_shadow: MayShadow::None,
            may_lose_aliases: false,
            may_share_target: false,
        })
    }

    fn decide(changes: Vec<SubmittedChange>) -> (GroupDecision, Option<Edit>) {
        let text = "base_url: https://s.code/\nmapping:\n\
                    - {url: https://a.example/, short-code: a, owner: ada}\n\
                    - {url: https://b.example/, short-code: b, owner: bob}\n";
        let files = [SourceFile::new("t.yaml".into(), text.into()).into()];
        let compiled = compile_text(&files, None).unwrap().into_sound().unwrap();
        let submissions = changes.into_iter().map(|change| Submission {
            change,
            by: "ada".into(),
        });
        let submissions: Vec<_> = submissions.collect();
        let decision = decide_all(&files, &compiled, &submissions, 1 << 20, Timestamp::MIN);
        let edit = decision.edit(&submissions);
        (decision, edit)
    }

    #[test]
    fn links_and_edits_share_a_commit() {
        let (decision, edit) = decide(vec![
            titled("a", "A"),
            registration("https://c.example/"),
            titled("b", "B"),
            titled("a", "again"),
            titled("nosuch", "N"),
        ]);
        let edit = edit.unwrap();
        let (subject, trailers) = edit.message.split_once("\n\n").unwrap();
        assert_eq!(subject, "Add 1 and edit 1 short links");
        let trailers: Vec<_> = trailers.lines().collect();
        assert_eq!(
            trailers[..2],
            ["Short-Link: https://s.code/a", "Edited-By: ada"]
        );
        assert_eq!(trailers[3], "Registered-By: ada");
        let text = String::from_utf8(edit.files[0].whole().unwrap().bytes).unwrap();
        assert!(text.contains("title: A") && text.contains("- url: https://c.example/"));
        assert_eq!(decision.proved.unwrap().files, edit.files);
        let outcomes = &decision.outcomes;
        assert!(matches!(
            outcomes[2],
            Some(ChangeOutcome::Edit(Err(EditRefusal::NotOwned)))
        ));
        assert!(outcomes[3].is_none());
        assert!(matches!(
            outcomes[4],
            Some(ChangeOutcome::Edit(Err(EditRefusal::NoSuchLink { .. })))
        ));
    }

    #[test]
    fn no_commit_is_made_if_nothing_changes() {
        let (decision, edit) = decide(vec![titled("b", "B"), registration("https://a.example/")]);
        assert!(edit.is_none() && decision.proved.is_none());
        assert!(decision.outcomes.iter().all(Option::is_some));
    }
}
