//! What Apache may answer to one path, depending on what else is requested.

use super::answer::{Answer, AnswerKind};
use super::rules::conditions::Client;
use super::rules::rule::Rule;

/// A rule that matches the path.
pub(super) struct Step<'s> {
    pub(super) rule: &'s Rule,
    /// What it answers; `None` if it only ends the list.
    pub(super) kind: Option<AnswerKind>,
}

/// The rules that match a path, in the order in which Apache applies them, up to one without conditions.
pub(super) struct Outcomes<'s> {
    /// The path, from the root.
    path: String,
    steps: Vec<Step<'s>>,
    /// What is answered if none of them is applied.
    rest: Answer,
}

impl<'s> Outcomes<'s> {
    pub(super) fn new(path: &str, steps: Vec<Step<'s>>, rest: Answer) -> Self {
        let path = format!("/{path}");
        Self { path, steps, rest }
    }

    pub(super) fn only(rest: Answer) -> Self {
        Self::new("", Vec::new(), rest)
    }

    pub(super) fn steps(&self) -> &[Step<'s>] {
        &self.steps
    }

    /// Returns whether the rules decide what is answered, or nothing is found without them.
    pub(super) fn are_all(&self) -> bool {
        let is_decided = self.steps.iter().any(|it| it.rule.condition.is_none());
        let rest = &self.rest.kind;
        is_decided || matches!(rest, AnswerKind::NotFound | AnswerKind::Slash)
    }

    /// Returns what is answered to every client, or that this depends on conditions.
    pub(super) fn to_anyone(&self) -> Answer {
        self.decided(None)
    }

    /// Returns what is answered to a client, or that this depends on other conditions.
    pub(super) fn to(&self, client: Client<'_>) -> Answer {
        self.decided(Some(client))
    }

    fn decided(&self, client: Option<Client<'_>>) -> Answer {
        // What is answered if a condition is fulfilled.
        let mut possible = Vec::new();
        let mut end = self.rest.clone();
        for step in &self.steps {
            match step.holds(&self.path, client) {
                Some(false) => continue,
                None => {
                    possible.push(step);
                    continue;
                }
                Some(true) => {}
            }
            if let Some(kind) = &step.kind {
                end = Answer {
                    line: Some(step.rule.line),
                    kind: kind.clone(),
                };
            }
            break;
        }
        let differs = |step: &&&Step<'_>| match &step.kind {
            Some(kind) => *kind != end.kind,
            None => end.kind != AnswerKind::NotFound,
        };
        match possible.iter().find(differs) {
            Some(step) => Answer {
                line: Some(step.rule.line),
                kind: AnswerKind::other(step.rule.condition.unwrap_or_default()),
            },
            None => end,
        }
    }
}

impl Step<'_> {
    fn holds(&self, path: &str, client: Option<Client<'_>>) -> Option<bool> {
        match (self.rule.condition, &self.rule.conditions) {
            (None, _) => Some(true),
            (Some(_), Some(conditions)) => conditions.hold(path, client),
            (Some(_), None) => None,
        }
    }
}
