//! The links of a server: each is accepted if the table answers as Apache does wherever the link
//! answers, that is to its code, to the code with a slash after it, and, with `forward: path` or `all`, to
//! all paths below. Only where Apache answers 404 may the code, with or without the slash, answer more.

use std::collections::{BTreeSet, HashSet};

use super::agreement::{Agreement, NEVER, is_merged};
use super::claims::{Claim, Claims, Reach};
use super::placed::Placed;
use super::rule::{Action, Rule, RuleKind};
use super::server::{Answer, AnswerKind, Server, refusal};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::rows::RowError;
use crate::mapping::Forward;

const PARTLY_DOT: RowError =
    RowError::NoLink("a dot that is not escaped matches any character: only the dot is imported");

const PARTLY_CODE: RowError = RowError::NoLink(
    "only the path itself is imported: what is below leads elsewhere, and so does the slash alone",
);

/// Decides on the links of all rules.
pub(super) struct Links<'s> {
    agreement: Agreement<'s>,
    claims: Claims<'s>,
}

impl<'s> Links<'s> {
    pub(super) fn new(
        server: &'s Server,
        place: &'s dyn Fn(usize) -> String,
        claims: Claims<'s>,
    ) -> Self {
        let agreement = Agreement {
            server,
            place,
            whole: HashSet::new(),
        };
        Self { agreement, claims }
    }

    /// Decides on all rules: first on single paths, then on all below a path, because there the
    /// exceptions must have been accepted.
    pub(super) fn decide(mut self) -> Claims<'s> {
        let server = self.agreement.server;
        for reach in [Reach::Path, Reach::Below] {
            for (directory, site) in &server.sites {
                for list in [&site.rewrites, &site.redirects] {
                    for number in 0..list.rules().len() {
                        let placed = Placed {
                            directory,
                            list,
                            number,
                        };
                        self.decide_rule(placed, reach);
                    }
                }
            }
        }
        self.claims
    }

    fn decide_rule(&mut self, placed: Placed<'s>, reach: Reach) {
        let rule = placed.rule();
        let Pattern::Known(known) = &rule.pattern else {
            return self.refuse_once(placed, reach);
        };
        let is_refused = matches!(rule.action, Action::Continue) || refusal(rule).is_some();
        if is_refused {
            return self.refuse_once(placed, reach);
        }
        let is_open = known.paths.is_open;
        if is_open != (reach == Reach::Below) {
            return;
        }
        let mut is_whole = !known.paths.has_dot;
        let mut errors = Vec::new();
        for code in self.codes(placed, &mut errors) {
            let decided = match is_open {
                true => self.agreement.below(placed, &code),
                false => self.path(placed, &code),
            };
            match decided.and_then(|claim| self.claims.accept(rule.line, &code, claim)) {
                Ok(()) => {}
                Err(error) => errors.push(error),
            }
        }
        if is_whole && is_open {
            let texts = known.paths.texts.iter().flatten();
            is_whole = texts.into_iter().all(|it| it.ends_with(b"/"));
        }
        if errors.is_empty() && rule.kind == RuleKind::Redirect && !is_open {
            is_whole = false;
            if !self.is_host(rule) {
                errors.push(PARTLY_CODE);
            }
        }
        if errors.is_empty() && known.paths.has_dot {
            errors.push(PARTLY_DOT);
        }
        if is_whole && errors.is_empty() {
            self.agreement.whole.insert(rule.line);
        }
        errors.dedup();
        for error in errors {
            self.claims.refuse(rule.line, error);
        }
    }

    fn refuse_once(&mut self, placed: Placed<'_>, reach: Reach) {
        let rule = placed.rule();
        if let (Some(error), Reach::Path) = (refusal(rule), reach) {
            self.claims.refuse(rule.line, error);
        }
    }

    /// Returns the paths of the codes that a rule was written for.
    fn codes(&self, placed: Placed<'_>, errors: &mut Vec<RowError>) -> BTreeSet<String> {
        let Pattern::Known(known) = &placed.rule().pattern else {
            return BTreeSet::new();
        };
        let mut codes = BTreeSet::new();
        for text in known.paths.texts.iter().flatten() {
            match self.agreement.path_of(placed, text) {
                Ok(path) if !is_merged(&path) => {}
                Ok(path) => {
                    codes.insert(path.strip_suffix('/').unwrap_or(&path).to_owned());
                }
                Err(error) => errors.push(error),
            }
        }
        if codes.is_empty() && errors.is_empty() {
            errors.push(NEVER);
        }
        codes
    }

    /// Decides on a link for one path.
    fn path(&self, placed: Placed<'_>, code: &str) -> Result<Claim, RowError> {
        let rule = placed.rule();
        let slashed = format!("{code}/");
        let answers = [
            self.agreement.server.answer(code),
            self.agreement.server.answer(&slashed),
        ];
        let own = [code, &slashed]
            .iter()
            .find_map(|path| self.agreement.of_rule(placed, path));
        let own = match own {
            Some(kind) if answers.iter().any(|it| it.kind == kind) => Answer {
                line: Some(rule.line),
                kind,
            },
            _ => return Err(self.agreement.never(&answers, rule)),
        };
        for (answer, path) in answers.iter().zip([code, &slashed]) {
            let is_below = path.ends_with('/') && rule.kind == RuleKind::Redirect;
            if !(is_below && answer.line == Some(rule.line)) {
                self.agreement.agrees(answer, &own.kind, rule)?;
            }
        }
        match own.kind {
            AnswerKind::Redirect(location) => {
                let is_host = rule.kind == RuleKind::Redirect && self.is_host(rule);
                let forward = match (is_host, location.with_query) {
                    (true, true) => Forward::PathAndQuery,
                    (true, false) => Forward::Path,
                    (false, true) => Forward::Query,
                    (false, false) => Forward::None,
                };
                if is_host {
                    self.agreement
                        .reaches_all_below(placed, code, &location, forward)?;
                }
                Ok(Claim::Redirect(location, forward))
            }
            AnswerKind::Gone => Ok(Claim::Gone),
            _ => Err(self.agreement.blame(&own, rule)),
        }
    }

    /// Returns whether a `Redirect` leads to a host without a path, and so all below to the same paths.
    fn is_host(&self, rule: &Rule) -> bool {
        let Action::Redirect(redirect) = &rule.action else {
            return false;
        };
        let url = redirect.substitution.expand(&Vec::new());
        let rest = url.splitn(4, |it| *it == b'/').skip(3).count();
        rest == 0 && !url.contains(&b'?') && !url.contains(&b'#')
    }
}
