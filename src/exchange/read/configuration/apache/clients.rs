//! What Apache answers to a path for each value of `Accept`, whatever the `User-Agent` is.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::answer::{Answer, AnswerKind, Location};
use super::outcomes::Outcomes;
use super::probes::BROWSERS;
use super::rules::conditions::{Client, Conditions};
use super::server::Server;
use crate::exchange::read::rows::{Deviation, RowError};

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
    /// The expressions for `User-Agent` that only browsers match, by their numbers.
    browsers: Vec<usize>,
    /// All others for `User-Agent`.
    agents: Vec<usize>,
    answers: RefCell<HashMap<String, Result<Option<Location>, RowError>>>,
}

impl<'s> Clients<'s> {
    /// Takes paths without a slash before them.
    pub(super) fn new(server: &'s Server, paths: &[&str]) -> Self {
        let outcomes = paths.iter().map(|path| server.outcomes(path));
        let mut clients = Self {
            outcomes: outcomes.collect(),
            browsers: Vec::new(),
            agents: Vec::new(),
            answers: RefCell::default(),
        };
        let of_agent = clients.conditions().flat_map(Conditions::of_agent);
        let (browsers, others): (BTreeSet<_>, BTreeSet<_>) = of_agent
            .map(|it| (it.is_for_browsers, it.number))
            .partition(|(is_for_browsers, _)| *is_for_browsers);
        let numbers = |of: BTreeSet<(bool, usize)>| of.into_iter().map(|(_, it)| it).collect();
        (clients.browsers, clients.agents) = (numbers(browsers), numbers(others));
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
        of_accept.next().is_some() || !self.agents.is_empty() || !self.browsers.is_empty()
    }

    /// Returns where a request with this `Accept` leads, whatever its `User-Agent`; `None` if nothing
    /// is found, or nothing is acceptable. What a browser sends for a page may come from a browser or
    /// a program, and anything else only from a program.
    pub(super) fn answer(&self, accept: &str) -> Result<Option<Location>, RowError> {
        if let Some(known) = self.answers.borrow().get(accept) {
            return known.clone();
        }
        if self.agents.len() > MOST_AGENTS {
            return Err(TOO_MANY);
        }
        let mut found: Option<Option<Location>> = None;
        let mut result = Ok(());
        for agents in self.clients(accept) {
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

    /// Returns the expressions for `User-Agent` that each client matches that may send this `Accept`.
    fn clients(&self, accept: &str) -> Vec<Vec<usize>> {
        let mut clients = Vec::new();
        for fulfilled in 0..1_u32 << self.agents.len() {
            let agents = self.agents.iter().enumerate();
            let agents = agents.filter(|(at, _)| fulfilled & (1 << at) != 0);
            let agents: Vec<_> = agents.map(|(_, number)| *number).collect();
            if !self.browsers.is_empty() && BROWSERS.contains(&accept) {
                clients.push([&agents[..], &self.browsers[..]].concat());
            }
            clients.push(agents);
        }
        clients
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
        }
        Ok(found)
    }

    /// Returns whether a request without `Accept` leads elsewhere than one that accepts anything.
    pub(super) fn has_default(&self) -> Result<bool, RowError> {
        let answers = [self.answer("")?, self.answer("*/*")?];
        Ok(matches!(answers, [Some(none), Some(any)] if none != any))
    }

    /// Returns whether each path leads a request that accepts anything somewhere, if it does so for one without
    /// `Accept`.
    pub(super) fn answer_anything(&self) -> bool {
        let leads = |outcomes: &Outcomes<'_>, accept| {
            let agents = &[];
            matches!(
                outcomes.to(Client { accept, agents }).kind,
                AnswerKind::Redirect(_)
            )
        };
        let mut paths = self.outcomes.iter();
        paths.all(|it| !leads(it, "") || leads(it, "*/*"))
    }

    /// Returns how an entry for these paths with the status of a location answers otherwise than Apache, in
    /// the order of the deviations.
    pub(super) fn deviations(&self, location: &Location) -> Result<Vec<Deviation>, RowError> {
        let mut found = Vec::new();
        if !self.browsers.is_empty() {
            found.push(Deviation::MixedClient);
        }
        if self.has_default()? {
            found.push(Deviation::NothingNamed);
        }
        if self.has_redirect(|it| it.status != location.status) {
            found.push(Deviation::Status);
        }
        if location.with_query && self.has_redirect(Location::has_fragment) {
            found.push(Deviation::Fragment);
        }
        Ok(found)
    }

    /// Returns whether one of the requests that were compared leads to a location like this.
    fn has_redirect(&self, is_it: impl Fn(&Location) -> bool) -> bool {
        let answers = self.answers.borrow();
        let mut found = answers.values().filter_map(|it| it.as_ref().ok()?.as_ref());
        found.any(is_it)
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
