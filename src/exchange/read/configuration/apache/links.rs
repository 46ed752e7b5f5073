//! The links of a server: each is accepted if the table answers as Apache does wherever the link
//! answers, that is to its code, to the code with a slash after it, and, with `forward: path`, to all
//! paths below. Only where Apache answers 404 may the code, with or without the slash, answer more.

use std::collections::{BTreeSet, HashSet};

use super::claims::{Claim, Claims, Reach};
use super::pattern::Pattern;
use super::placed::Placed;
use super::rule::{Action, Rule, RuleKind};
use super::rule_list::RuleList;
use super::server::{Answer, AnswerKind, Location, Server, ancestors, refusal};
use crate::exchange::read::rows::RowError;
use crate::mapping::{Forward, Misfit};

/// What follows a code when it is found out where everything below it leads.
const BELOW: &str = "~a/~b";

const PARTLY_DOT: RowError =
    RowError::NoLink("a dot that is not escaped matches any character: only the dot is imported");

const PARTLY_CODE: RowError = RowError::NoLink(
    "only the path itself is imported: a table has no other target for what is below (below)",
);

const NEVER: RowError = RowError::NoLink("no path of this directory matches this");

/// Decides on the links of all rules.
pub(super) struct Links<'s> {
    server: &'s Server,
    /// Returns the name of the file and the line of a rule.
    place: &'s dyn Fn(usize) -> String,
    claims: Claims<'s>,
    /// The rules that match only paths of accepted links.
    whole: HashSet<usize>,
}

impl<'s> Links<'s> {
    pub(super) fn new(
        server: &'s Server,
        place: &'s dyn Fn(usize) -> String,
        claims: Claims<'s>,
    ) -> Self {
        Self {
            server,
            place,
            claims,
            whole: HashSet::new(),
        }
    }

    /// Decides on all rules: first on single paths, then on all below a path, because there the
    /// exceptions must have been accepted.
    pub(super) fn decide(mut self) -> Claims<'s> {
        let server = self.server;
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
                true => self.below(placed, &code),
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
            self.whole.insert(rule.line);
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
            match self.path_of(placed, text) {
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

    /// Returns the path of a text that an expression matches, without a slash before it.
    fn path_of(&self, placed: Placed<'_>, text: &[u8]) -> Result<String, RowError> {
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

    /// Returns what a rule itself answers to a path, if it matches.
    fn of_rule(&self, placed: Placed<'_>, path: &str) -> Option<AnswerKind> {
        let relative = match (placed.rule().kind, placed.directory) {
            (RuleKind::Rewrite, "") => format!("{}{path}", self.server.slash),
            (RuleKind::Rewrite, directory) => path.get(directory.len() + 1..)?.to_owned(),
            _ => format!("/{path}"),
        };
        let found = self
            .server
            .of_rule(placed.list, placed.number, relative.as_bytes());
        found.flatten()
    }

    /// Decides on a link for one path.
    fn path(&self, placed: Placed<'_>, code: &str) -> Result<Claim, RowError> {
        let rule = placed.rule();
        let slashed = format!("{code}/");
        let answers = [self.server.answer(code), self.server.answer(&slashed)];
        let own = [code, &slashed]
            .iter()
            .find_map(|path| self.of_rule(placed, path));
        let own = match own {
            Some(kind) if answers.iter().any(|it| it.kind == kind) => Answer {
                line: Some(rule.line),
                kind,
            },
            _ => return Err(self.never(&answers, rule)),
        };
        for (answer, path) in answers.iter().zip([code, &slashed]) {
            let is_below = path.ends_with('/') && rule.kind == RuleKind::Redirect;
            if !(is_below && answer.line == Some(rule.line)) {
                self.agrees(answer, &own.kind, rule)?;
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
                    self.reaches_all_below(placed, code, &location)?;
                }
                Ok(Claim::Redirect(location, forward))
            }
            AnswerKind::Gone => Ok(Claim::Gone),
            _ => Err(self.blame(&own, rule)),
        }
    }

    /// Decides on a link for all paths below one.
    fn below(&self, placed: Placed<'_>, code: &str) -> Result<Claim, RowError> {
        let rule = placed.rule();
        let Pattern::Known(known) = &rule.pattern else {
            return Err(RowError::NoLink("this expression cannot be read"));
        };
        let start = format!("{code}/");
        let texts = known.paths.texts.iter().flatten();
        let paths = texts.filter_map(|text| self.path_of(placed, text).ok());
        let paths: Vec<_> = paths.filter(|path| is_merged(path)).collect();
        if !paths.contains(&start) {
            return Err(RowError::NoLink(
                "this redirects all paths that begin with a text, not only those below it",
            ));
        }
        if paths
            .iter()
            .any(|it| it.len() > start.len() && it.starts_with(&start))
        {
            return Err(RowError::NoLink("this redirects more than one path"));
        }
        let below = self.server.answer(&format!("{start}{BELOW}"));
        if self.of_rule(placed, &format!("{start}{BELOW}")).as_ref() != Some(&below.kind) {
            return Err(self.blame(&below, rule));
        }
        let found = match &below.kind {
            AnswerKind::Redirect(found) => found,
            AnswerKind::Gone => {
                return Err(RowError::NoLink(
                    "a table has no paths below a code that are gone",
                ));
            }
            _ => return Err(self.blame(&below, rule)),
        };
        let Some(base) = found.url.strip_suffix(BELOW) else {
            return Err(RowError::NoLink(
                "a table does not lead all that is below a code to one URL (forward: all)",
            ));
        };
        let forward = match found.with_query {
            true => Forward::PathAndQuery,
            false => Forward::Path,
        };
        if Misfit::of(forward, base).is_some() {
            return Err(RowError::NoLink(
                "a path cannot be appended to a URL that ends like this",
            ));
        }
        let location = Location {
            url: base.to_owned(),
            ..found.clone()
        };
        self.reaches_all_below(placed, code, &location)?;
        let own = AnswerKind::Redirect(location.clone());
        let answers = [code, &start].map(|path| self.server.answer(path));
        for answer in &answers {
            self.agrees(answer, &own, rule)?;
        }
        if answers.iter().all(|it| it.kind != own) {
            return Err(RowError::NoLink(
                "a table does not lead what is below a code, and not the code itself (below)",
            ));
        }
        Ok(Claim::Redirect(location, forward))
    }

    /// Checks that every path below a code leads below a URL.
    fn reaches_all_below(
        &self,
        placed: Placed<'_>,
        code: &str,
        location: &Location,
    ) -> Result<(), RowError> {
        let (server, rule) = (self.server, placed.rule());
        let start = format!("{code}/");
        let path = format!("{start}{BELOW}");
        let expected = Location {
            url: format!("{}{BELOW}", location.url),
            ..location.clone()
        };
        let below = server.answer(&path);
        if below.kind != AnswerKind::Redirect(expected.clone()) {
            return Err(self.blame(&below, rule));
        }
        let inside = server.sites.range(start.clone()..);
        let mut inside = inside.take_while(|(it, _)| it.starts_with(&start));
        if inside.any(|(_, it)| {
            it.has_rewriting || it.broken.is_some() || !it.redirects.rules().is_empty()
        }) {
            return Err(RowError::NoLink("a directory below has rules of its own"));
        }
        let relative_start = |directory: &str| match directory {
            "" => format!("{}{start}", server.slash),
            _ => start
                .get(directory.len() + 1..)
                .unwrap_or_default()
                .to_owned(),
        };
        if rule.kind == RuleKind::Rewrite {
            self.agree_below(
                placed.list,
                placed.number,
                &relative_start(placed.directory),
                &expected,
            )?;
            return self.is_unchanged(placed, &location.url);
        }
        if let Some((directory, site, _)) = server.rewriting(&path) {
            let start = relative_start(directory);
            self.agree_below(&site.rewrites, usize::MAX, &start, &expected)?;
        }
        for directory in ancestors(&path).take_while(|it| *it != placed.directory) {
            if let Some(site) = server.sites.get(directory) {
                let start = format!("/{start}");
                self.agree_below(&site.redirects, usize::MAX, &start, &expected)?;
            }
        }
        self.agree_below(placed.list, placed.number, &format!("/{start}"), &expected)
    }

    /// Checks that the rules before one lead all paths that begin with `start` where a link does, or
    /// have links of their own.
    fn agree_below(
        &self,
        list: &RuleList,
        number: usize,
        start: &str,
        expected: &Location,
    ) -> Result<(), RowError> {
        const MANY: RowError = RowError::NoLink("too many rules apply to similar paths");
        let near = list.before_below(number, start.as_bytes()).ok_or(MANY)?;
        for number in near {
            let other = &list.rules()[number];
            let relative = format!("{start}{BELOW}");
            let is_same = || {
                let Pattern::Known(known) = &other.pattern else {
                    return false;
                };
                let texts = known.paths.texts.as_ref();
                let is_uniform = known.paths.is_open
                    && !known.is_negated()
                    && texts.is_some_and(|texts| {
                        let mut inside = texts.iter().filter(|it| it.starts_with(start.as_bytes()));
                        inside.all(|it| it.len() == start.len())
                    });
                let found = self.server.of_rule(list, number, relative.as_bytes());
                is_uniform && found == Some(Some(AnswerKind::Redirect(expected.clone())))
            };
            if !self.whole.contains(&other.line) && !is_same() {
                return Err(self.covered(other.line));
            }
        }
        Ok(())
    }

    /// Checks that no later rule applies to the result of a rule that does not end the list.
    fn is_unchanged(&self, placed: Placed<'_>, base: &str) -> Result<(), RowError> {
        if placed.rule().is_last {
            return Ok(());
        }
        let near = placed.list.before_below(usize::MAX, base.as_bytes());
        let is_later = |it: &usize| *it > placed.number;
        match near.is_some_and(|near| !near.iter().any(is_later)) {
            true => Ok(()),
            false => Err(RowError::NoLink(
                "a later rule changes where this one leads, which has no [L]",
            )),
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

    fn agrees(&self, answer: &Answer, own: &AnswerKind, rule: &Rule) -> Result<(), RowError> {
        match &answer.kind {
            AnswerKind::NotFound | AnswerKind::Slash => Ok(()),
            kind if kind == own => Ok(()),
            _ => Err(self.blame(answer, rule)),
        }
    }

    fn never(&self, answers: &[Answer], rule: &Rule) -> RowError {
        let other = answers
            .iter()
            .find(|it| it.kind != AnswerKind::NotFound && it.kind != AnswerKind::Slash);
        match other {
            Some(answer) => self.blame(answer, rule),
            None => RowError::NoLink("this rule is never applied"),
        }
    }

    /// Returns why a rule does not decide what is answered.
    fn blame(&self, answer: &Answer, rule: &Rule) -> RowError {
        if let Some(reason) = rule.condition {
            return RowError::NoLink(reason);
        }
        match (&answer.kind, answer.line) {
            (AnswerKind::Other(error), Some(line)) if line == rule.line => (**error).clone(),
            (AnswerKind::Other(error), None) => (**error).clone(),
            (AnswerKind::File, _) => RowError::NoLink("a file or a directory has this path"),
            (_, Some(line)) if line != rule.line => self.covered(line),
            _ => RowError::NoLink("the path with a slash leads elsewhere than without (below)"),
        }
    }

    fn covered(&self, line: usize) -> RowError {
        RowError::Covered {
            by: (self.place)(line),
        }
    }
}

/// Returns whether a path, without a slash before it, has no two slashes after each other: Apache merges
/// slashes before it compares a path with an expression.
fn is_merged(path: &str) -> bool {
    !path.starts_with('/') && !path.contains("//")
}
