//! What Apache answers to a path for each value of `Accept`, whatever the `User-Agent` is.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::answer::{Answer, AnswerKind, Location};
use super::outcomes::Outcomes;
use super::rules::conditions::{Client, Conditions};
use super::server::Server;
use crate::exchange::read::rows::RowError;

/// The maximum number of expressions for `User-Agent` of one path, which bounds the effort.
const MOST_AGENTS: usize = 3;

const AGENT: RowError = RowError::NoLink(
    "a short link leads every program to the same target, whatever its User-Agent",
);

/// The reason for a path with more conditions than are tried.
pub(super) const TOO_MANY: RowError = RowError::NoLink("the conditions of this path are too many");

/// The answers to some paths, which must lead alike: such as a code with and without a slash after it.
pub(super) struct Clients<'s> {
    outcomes: Vec<Outcomes<'s>>,
    agents: Vec<usize>,
    answers: RefCell<HashMap<String, Result<Option<Location>, RowError>>>,
    lines: RefCell<HashSet<usize>>,
}

impl<'s> Clients<'s> {
    /// Takes paths without a slash before them.
    pub(super) fn new(server: &'s Server, paths: &[&str]) -> Self {
        let outcomes = paths.iter().map(|path| server.outcomes(path));
        let mut clients = Self {
            outcomes: outcomes.collect(),
            agents: Vec::new(),
            answers: RefCell::default(),
            lines: RefCell::default(),
        };
        let of_agent = clients.conditions().flat_map(Conditions::of_agent);
        let mut agents: Vec<_> = of_agent.map(|it| it.number).collect();
        agents.sort_unstable();
        agents.dedup();
        clients.agents = agents;
        clients
    }

    /// Returns the conditions of the rules that match the path.
    pub(super) fn conditions(&self) -> impl Iterator<Item = &Conditions> {
        let steps = self.outcomes.iter().flat_map(Outcomes::steps);
        steps.filter_map(|it| it.rule.conditions.as_ref())
    }

    /// Returns whether an answer may depend on what a client sends.
    pub(super) fn differ(&self) -> bool {
        let mut of_accept = self.conditions().flat_map(Conditions::of_accept);
        of_accept.next().is_some() || !self.agents.is_empty()
    }

    /// Returns the lines of the rules that have decided an answer so far.
    pub(super) fn lines(&self) -> HashSet<usize> {
        self.lines.borrow().clone()
    }

    /// Returns where a request with this `Accept` leads, whatever its `User-Agent`; `None` if nothing
    /// is found, or nothing is acceptable.
    pub(super) fn answer(&self, accept: &str) -> Result<Option<Location>, RowError> {
        if let Some(known) = self.answers.borrow().get(accept) {
            return known.clone();
        }
        if self.agents.len() > MOST_AGENTS {
            return Err(TOO_MANY);
        }
        let mut found: Option<Option<Location>> = None;
        let mut result = Ok(());
        for fulfilled in 0..1_u32 << self.agents.len() {
            let agents = self.agents.iter().enumerate();
            let agents = agents.filter(|(at, _)| fulfilled & (1 << at) != 0);
            let agents: Vec<_> = agents.map(|(_, number)| *number).collect();
            match (self.answer_to(accept, &agents), &found) {
                (Ok(now), None) => found = Some(now),
                (Ok(now), Some(before)) if now == *before => {}
                (Ok(_), Some(_)) => result = Err(AGENT),
                (Err(error), _) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let result = result.map(|()| found.flatten());
        let mut answers = self.answers.borrow_mut();
        answers.insert(accept.to_owned(), result.clone());
        result
    }

    fn answer_to(&self, accept: &str, agents: &[usize]) -> Result<Option<Location>, RowError> {
        let client = Client { accept, agents };
        let mut found: Option<Location> = None;
        for outcomes in &self.outcomes {
            let answer = outcomes.to(client);
            let Some(location) = redirect(&answer)? else {
                continue;
            };
            if found.as_ref().is_some_and(|it| it != location) {
                return Err(RowError::NoLink(
                    "the path with a slash leads elsewhere than without (below)",
                ));
            }
            found = Some(location.clone());
            self.lines.borrow_mut().extend(answer.line);
        }
        Ok(found)
    }

    /// Returns the line of the rule that decides where a request with this `Accept` leads.
    pub(super) fn line(&self, accept: &str) -> Option<usize> {
        let client = Client {
            accept,
            agents: &[],
        };
        let mut answers = self.outcomes.iter().map(|it| it.to(client));
        let found = answers.find(|it| matches!(it.kind, AnswerKind::Redirect(_)));
        found.and_then(|it| it.line)
    }
}

/// Returns where an answer leads, if anything is found.
fn redirect(answer: &Answer) -> Result<Option<&Location>, RowError> {
    match &answer.kind {
        AnswerKind::Redirect(location) => Ok(Some(location)),
        AnswerKind::NotFound | AnswerKind::Slash => Ok(None),
        AnswerKind::Other(error) => Err(RowError::clone(error)),
        AnswerKind::Gone => Err(RowError::NoLink("this is gone for some clients only")),
        AnswerKind::File => Err(RowError::NoLink("a file or a directory has this path")),
    }
}
