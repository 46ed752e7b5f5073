//! The conditions of a rule on what is requested: `Accept`, `User-Agent` and the path, evaluated as Apache does.

use std::rc::Rc;

use super::matchers::{Matcher, Matchers};
use crate::exchange::read::configuration::expression_text::is_refused;

/// What a client sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client<'c> {
    /// The value of `Accept`; empty without one.
    pub(crate) accept: &'c str,
    /// The expressions that match the value of `User-Agent`, by their numbers.
    pub(crate) agents: &'c [usize],
}

/// The conditions of one rule.
#[derive(Default)]
pub(crate) struct Conditions {
    tests: Vec<Test>,
}

struct Test {
    subject: Subject,
    matcher: Rc<Matcher>,
    is_negated: bool,
    /// Whether the next test is an alternative.
    has_alternative: bool,
}

/// What a test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Accept,
    Agent,
    Path,
    /// Something that is not known.
    Other,
}

impl Conditions {
    /// Adds the condition with these words; returns whether it is known when it is fulfilled,
    /// or `None` if Apache refuses it.
    pub(crate) fn add(&mut self, words: &[&str], matchers: &mut Matchers) -> Option<bool> {
        let (text, pattern, flags) = match words {
            [text, pattern] => (*text, *pattern, None),
            [text, pattern, flags, ..] => (*text, *pattern, Some(*flags)),
            _ => return None,
        };
        let (mut is_folded, mut has_alternative) = (false, false);
        if let Some(flags) = flags {
            let inner = flags.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            for flag in inner?.split(',') {
                match &*flag.trim().to_ascii_lowercase() {
                    "nc" | "nocase" => is_folded = true,
                    "or" | "ornext" => has_alternative = true,
                    "nv" | "novary" => {}
                    _ => return None,
                }
            }
        }
        let (is_negated, expression) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let is_expression = expression.len() < 2 || !expression.starts_with(['-', '<', '>', '=']);
        if is_expression && !text.eq_ignore_ascii_case("expr") && is_refused(expression) {
            return None;
        }
        let matcher = matchers.matcher(expression, is_folded);
        let subject = match &*text.to_ascii_uppercase() {
            _ if !is_expression || matcher.is_unknown() => Subject::Other,
            "%{HTTP_ACCEPT}" | "%{HTTP:ACCEPT}" => Subject::Accept,
            "%{HTTP_USER_AGENT}" | "%{HTTP:USER-AGENT}" => Subject::Agent,
            "%{REQUEST_URI}" => Subject::Path,
            _ => Subject::Other,
        };
        self.tests.push(Test {
            subject,
            matcher,
            is_negated,
            has_alternative,
        });
        Some(subject != Subject::Other)
    }

    /// Returns whether all are fulfilled by a request for a path, from the root; `None` if that is not
    /// known, as without a client.
    pub(crate) fn hold(&self, path: &str, client: Option<Client<'_>>) -> Option<bool> {
        let mut all = Some(true);
        let mut alternatives = Some(false);
        for test in &self.tests {
            alternatives = match (alternatives, test.holds(path, client)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
            if !test.has_alternative {
                all = match (all, alternatives) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                alternatives = Some(false);
            }
        }
        // Apache takes a last test with `[OR]` as fulfilled, whatever it finds.
        all
    }

    /// Returns the expressions with which `Accept` is compared.
    pub(crate) fn of_accept(&self) -> impl Iterator<Item = &Rc<Matcher>> {
        self.about(Subject::Accept)
    }

    /// Returns the expressions with which `User-Agent` is compared.
    pub(crate) fn of_agent(&self) -> impl Iterator<Item = &Rc<Matcher>> {
        self.about(Subject::Agent)
    }

    /// Returns whether the path that is requested is compared.
    pub(crate) fn has_path(&self) -> bool {
        self.about(Subject::Path).next().is_some()
    }

    fn about(&self, subject: Subject) -> impl Iterator<Item = &Rc<Matcher>> {
        let tests = self.tests.iter().filter(move |it| it.subject == subject);
        tests.map(|it| &it.matcher)
    }
}

impl Test {
    fn holds(&self, path: &str, client: Option<Client<'_>>) -> Option<bool> {
        let is_matched = match self.subject {
            Subject::Accept => self.matcher.matches(client?.accept),
            Subject::Agent => client?.agents.contains(&self.matcher.number),
            Subject::Path => self.matcher.matches(path),
            Subject::Other => return None,
        };
        Some(is_matched != self.is_negated)
    }
}
