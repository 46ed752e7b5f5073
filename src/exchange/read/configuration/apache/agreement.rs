//! What is compared for a link: what Apache answers to a path, what one rule answers to it, and why the
//! link is refused if they differ.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::answer::{Answer, AnswerKind};
use super::below_variants::NegotiatedBelow;
use super::negotiation::{Negotiated, negotiated};
use super::rules::placed::Placed;
use super::rules::rule::{Rule, RuleKind};
use super::server::{Server, ancestors};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::rows::RowError;

/// Why a rule has no link if it matches no path of its directory.
pub(super) const NEVER: RowError = RowError::NoLink("no path of this directory matches this");

/// The rules of a server, and those that have become links.
pub(super) struct Agreement<'s> {
    pub(super) server: &'s Server,
    /// Returns the name of the file and the line of a rule.
    pub(super) place: &'s dyn Fn(usize) -> String,
    /// The rules that match only paths of accepted links.
    pub(super) whole: HashSet<usize>,
    /// The entries of paths whose rules have conditions, or why there is none.
    pub(super) negotiated: RefCell<HashMap<String, Negotiation>>,
    /// The same of paths below a code.
    pub(super) below: RefCell<HashMap<String, NegotiationBelow>>,
}

type Negotiation = Option<Rc<Result<Negotiated, RowError>>>;

/// The entry of a code and all paths below it, or why there is none.
pub(super) type NegotiationBelow = Option<Rc<Result<NegotiatedBelow, RowError>>>;

impl Agreement<'_> {
    /// Returns the path of a text that an expression matches, without a slash before it.
    pub(super) fn path_of(&self, placed: Placed<'_>, text: &[u8]) -> Result<String, RowError> {
        let text = std::str::from_utf8(text).map_err(|_| RowError::NotUtf8)?;
        let directory = placed.directory;
        let slash = match placed.rule().kind {
            RuleKind::Rewrite => self.server.slash,
            _ => "/",
        };
        let relative = text.strip_prefix(slash).ok_or(NEVER)?;
        let path = match (placed.rule().kind, directory) {
            (RuleKind::Rewrite, "") => relative.to_owned(),
            (RuleKind::Rewrite, _) => format!("{directory}/{relative}"),
            _ => relative.to_owned(),
        };
        let is_inside = ancestors(&path).any(|it| it == directory);
        match is_inside {
            true => Ok(path),
            false => Err(NEVER),
        }
    }

    /// Returns the paths that a rule was written for.
    pub(super) fn paths(&self, placed: Placed<'_>) -> Vec<String> {
        let Pattern::Known(known) = &placed.rule().pattern else {
            return Vec::new();
        };
        let texts = known.written_texts().into_iter().flatten();
        let paths = texts.filter_map(|text| self.path_of(placed, text).ok());
        paths.filter(|path| is_merged(path)).collect()
    }

    /// Returns the entry of a path whose rules have conditions on what a client sends.
    pub(super) fn negotiated(&self, code: &str) -> Negotiation {
        let mut known = self.negotiated.borrow_mut();
        if let Some(known) = known.get(code) {
            return known.clone();
        }
        let found = negotiated(self.server, code).map(Rc::new);
        known.insert(code.to_owned(), found.clone());
        found
    }

    /// Returns what a rule itself answers to a path, if it matches.
    pub(super) fn of_rule(&self, placed: Placed<'_>, path: &str) -> Option<AnswerKind> {
        let relative = match (placed.rule().kind, placed.directory) {
            (RuleKind::Rewrite, "") => format!("{}{path}", self.server.slash),
            (RuleKind::Rewrite, directory) => path.get(directory.len() + 1..)?.to_owned(),
            _ => format!("/{path}"),
        };
        let (list, number) = (placed.list, placed.number);
        let server = self.server;
        server
            .of_rule_at(list, number, relative.as_bytes(), path)
            .flatten()
    }

    pub(super) fn agrees(
        &self,
        answer: &Answer,
        own: &AnswerKind,
        rule: &Rule,
    ) -> Result<(), RowError> {
        match &answer.kind {
            AnswerKind::NotFound | AnswerKind::Slash => Ok(()),
            kind if kind == own => Ok(()),
            _ => Err(self.blame(answer, rule)),
        }
    }

    pub(super) fn never(&self, answers: &[Answer], rule: &Rule) -> RowError {
        let other = answers
            .iter()
            .find(|it| it.kind != AnswerKind::NotFound && it.kind != AnswerKind::Slash);
        match other {
            Some(answer) => self.blame(answer, rule),
            None => RowError::NoLink("this rule is never applied"),
        }
    }

    /// Returns why a rule does not decide what is answered.
    pub(super) fn blame(&self, answer: &Answer, rule: &Rule) -> RowError {
        let is_decided = matches!(answer.kind, AnswerKind::Redirect(_) | AnswerKind::Gone);
        match (rule.condition, answer.line) {
            // The rule is never applied, whatever its conditions are.
            (Some(_), Some(line)) if is_decided && line < rule.line => return self.covered(line),
            (Some(reason), _) => return RowError::NoLink(reason),
            (None, _) => {}
        }
        match (&answer.kind, answer.line) {
            (AnswerKind::Other(error), Some(line)) if line == rule.line => (**error).clone(),
            (AnswerKind::Other(error), None) => (**error).clone(),
            (AnswerKind::File, _) => RowError::NoLink("a file or a directory has this path"),
            (_, Some(line)) if line != rule.line => self.covered(line),
            _ => RowError::NoLink("the path with a slash leads elsewhere than without (below)"),
        }
    }

    pub(super) fn covered(&self, line: usize) -> RowError {
        RowError::Covered {
            by: (self.place)(line),
        }
    }
}

/// Returns whether a rule leads a path with a slash after it to the URL of the path itself with a slash
/// after it.
pub(super) fn appends_slash(answer: &Answer, own: &AnswerKind, rule: &Rule) -> bool {
    match (&answer.kind, own) {
        (AnswerKind::Redirect(found), AnswerKind::Redirect(own)) => {
            answer.line == Some(rule.line)
                && found.url.strip_suffix('/') == Some(&own.url)
                && (found.status, found.with_query) == (own.status, own.with_query)
        }
        _ => false,
    }
}

/// Returns whether a path, without a slash before it, has no two slashes after each other: Apache merges
/// slashes before it compares a path with an expression.
pub(super) fn is_merged(path: &str) -> bool {
    !path.starts_with('/') && !path.contains("//")
}
