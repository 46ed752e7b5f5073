//! The links of a server: each is accepted if the table answers as nginx does wherever the link answers.
//!
//! Only where nginx redirects nowhere, or where it redirects all paths that nothing else names, may a code,
//! with or without a slash after it, answer more.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::candidates::{Candidate, Place, PlacedLocation, candidates};
use super::instructions::{Condition, DecisionKind, Instruction, InstructionKind, TOO_MANY};
use super::maps::Value;
use super::server::{Location, Server};
use super::variables::Variables;
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError};
use crate::mapping::{Forward, Misfit, Status, WrittenRetirement};

/// What follows a code when it is found out where everything below it leads.
const BELOW: [&str; 2] = ["~a/~b", "~c"];

/// The query when it is found out whether it is passed on.
const QUERY: &str = "~q=~r";

const MANY_PATHS: RowError = RowError::NoLink("this redirects more than one path");

const PARTLY_BELOW: RowError = RowError::NoLink(
    "only the path and what is below it are imported, not all paths that begin with this text",
);

const PARTLY_CASE: RowError = RowError::NoLink(
    "only the path as it is written is imported: a dot, or a letter, matches others, too",
);

/// What is answered to a path, whatever its query.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    line: Option<usize>,
    kind: AnswerKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AnswerKind {
    Redirect {
        status: Option<Status>,
        url: String,
        with_query: bool,
    },
    Gone,
    NotFound,
    Other(RowError),
}

/// Decides on the links of one server.
pub(super) struct Links<'s, 'o> {
    pub(super) server: &'s Server,
    pub(super) variables: &'s Variables,
    pub(super) origin: LinkOrigin<'o>,
    /// The lines that decide only paths of accepted links.
    whole: HashSet<usize>,
    /// The lines that redirect all paths which no other line names.
    catch_all: HashSet<usize>,
    rows: Vec<Option<ImportedRow>>,
    accepted: HashMap<String, (usize, Option<Forward>)>,
}

impl<'s, 'o> Links<'s, 'o> {
    pub(super) fn new(
        server: &'s Server,
        variables: &'s Variables,
        origin: LinkOrigin<'o>,
    ) -> Self {
        Self {
            server,
            variables,
            origin,
            whole: HashSet::new(),
            catch_all: HashSet::new(),
            rows: Vec::new(),
            accepted: HashMap::new(),
        }
    }

    /// Decides on all candidates: first on single paths, then on all below a path, from the longest one,
    /// because there the exceptions must have been accepted.
    pub(super) fn decide(mut self) -> Vec<ImportedRow> {
        let mut all = candidates(self.server, self.variables);
        let length = |it: &Candidate<'_>| match &it.paths {
            Ok(paths) if paths.is_open => {
                1 + usize::MAX / 2 - paths.texts.iter().map(String::len).min().unwrap_or(0)
            }
            _ => 0,
        };
        all.sort_by_key(length);
        let catch_all = all
            .iter()
            .filter(|it| matches!(&it.paths, Ok(paths) if paths.are_all()));
        self.catch_all = catch_all.map(|it| it.line).collect();
        for candidate in &all {
            self.decide_one(candidate);
        }
        self.rows.into_iter().flatten().collect()
    }

    fn decide_one(&mut self, candidate: &Candidate<'s>) {
        let line = candidate.line;
        let paths = match &candidate.paths {
            Ok(paths) => paths,
            Err(error) => return self.refuse(line, error.clone()),
        };
        let mut errors = Vec::new();
        let mut is_whole = !paths.is_partial;
        let mut codes = BTreeSet::new();
        for text in &paths.texts {
            match text.strip_prefix('/') {
                Some("") | None => errors.push(MANY_PATHS),
                Some(path) => {
                    let code = path.strip_suffix('/').unwrap_or(path);
                    is_whole &= !paths.is_open || code.len() < path.len();
                    if !code.is_empty() && !format!("/{path}").contains("//") {
                        codes.insert(code.to_owned());
                    }
                }
            }
        }
        for code in &codes {
            let link = match paths.is_open {
                true => self.below(candidate, code),
                false => self.path(line, code),
            };
            match link.and_then(ImportedLink::checked) {
                Ok(link) => self.accept(line, link),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() && codes.is_empty() {
            errors.push(MANY_PATHS);
        }
        if errors.is_empty() && paths.is_partial {
            errors.push(PARTLY_CASE);
        } else if errors.is_empty() && paths.is_open && !is_whole {
            errors.push(PARTLY_BELOW);
        }
        if is_whole && errors.is_empty() {
            self.whole.insert(line);
        }
        errors.dedup();
        for error in errors {
            self.refuse(line, error);
        }
    }

    fn refuse(&mut self, line: usize, error: RowError) {
        let link = Err(error);
        self.rows.push(Some(ImportedRow { line, link }));
    }

    fn accept(&mut self, line: usize, link: ImportedLink) {
        let takes_below = |it: Option<Forward>| it.is_some_and(Forward::takes_below);
        let code = link.code.clone().unwrap_or_default();
        if let Some((row, before)) = self.accepted.get(&code) {
            if takes_below(*before) || !takes_below(link.forward) {
                return;
            }
            self.rows[*row] = None;
        }
        self.accepted.insert(code, (self.rows.len(), link.forward));
        let link = Ok(link);
        self.rows.push(Some(ImportedRow { line, link }));
    }

    /// Decides on a link for one path.
    fn path(&self, line: usize, code: &str) -> Result<ImportedLink, RowError> {
        let answers = [format!("/{code}"), format!("/{code}/")].map(|it| self.answer(&it));
        let own = answers.iter().find(|it| it.line == Some(line));
        let own = own.ok_or_else(|| self.blame(&answers[0], line))?;
        for answer in &answers {
            self.agrees(answer, &own.kind, line)?;
        }
        match &own.kind {
            AnswerKind::Redirect {
                status,
                url,
                with_query,
            } => {
                let forward = match with_query {
                    true => Forward::Query,
                    false => Forward::None,
                };
                self.link(code, url.clone(), *status, forward)
            }
            AnswerKind::Gone => Ok(ImportedLink {
                code: Some(self.origin.code_of_path(&encoded(code))?),
                retired: Some(WrittenRetirement::Always),
                ..ImportedLink::default()
            }),
            _ => Err(self.blame(own, line)),
        }
    }

    /// Decides on a link for all paths below one.
    fn below(&self, candidate: &Candidate<'s>, code: &str) -> Result<ImportedLink, RowError> {
        let line = candidate.line;
        let start = format!("/{code}/");
        let mut bases = Vec::new();
        for below in BELOW {
            let answer = self.answer(&format!("{start}{below}"));
            let AnswerKind::Redirect {
                status,
                url,
                with_query,
            } = answer.kind.clone()
            else {
                return Err(match answer.kind {
                    AnswerKind::Gone => {
                        RowError::NoLink("a table has no paths below a code that are gone")
                    }
                    _ => self.blame(&answer, line),
                });
            };
            if answer.line != Some(line) {
                return Err(self.blame(&answer, line));
            }
            let (base, is_appended) = match url.strip_suffix(below) {
                Some(base) => (base.to_owned(), true),
                None => (url, false),
            };
            bases.push((status, base, is_appended, with_query));
        }
        let (status, base, is_appended, with_query) = bases.swap_remove(0);
        if bases != [(status, base.clone(), is_appended, with_query)] {
            return Err(RowError::NoLink(
                "a path below a code is only appended to the URL, or not used at all",
            ));
        }
        let forward = match (is_appended, with_query) {
            (true, true) => Forward::PathAndQuery,
            (true, false) => Forward::Path,
            (false, true) => Forward::AllAndQuery,
            (false, false) => Forward::All,
        };
        if Misfit::of(forward, &base).is_some() {
            return Err(RowError::NoLink(
                "a path cannot be appended to a URL that ends like this",
            ));
        }
        self.interferes(candidate.place, &start)?;
        self.keys_before(candidate, &start)?;
        let own = AnswerKind::Redirect {
            status,
            url: base.clone(),
            with_query,
        };
        let answers = [format!("/{code}"), start].map(|it| self.answer(&it));
        for answer in &answers {
            self.agrees(answer, &own, line)?;
        }
        if answers.iter().all(|it| it.kind != own) {
            return Err(RowError::NoLink(
                "a table does not lead what is below a code, and not the code itself (below)",
            ));
        }
        self.link(code, base, status, forward)
    }

    fn link(
        &self,
        code: &str,
        url: String,
        status: Option<Status>,
        forward: Forward,
    ) -> Result<ImportedLink, RowError> {
        Ok(ImportedLink {
            code: Some(self.origin.code_of_path(&encoded(code))?),
            url: Some(url),
            status,
            forward: Some(forward),
            ..ImportedLink::default()
        })
    }

    /// Returns what is answered to a path, with any query or without.
    fn answer(&self, path: &str) -> Answer {
        let [plain, mut asked] = ["", QUERY].map(|it| self.server.answer(path, it, self.variables));
        let line = plain.line;
        let is_rest = |it: Option<usize>| it.is_some_and(|it| self.catch_all.contains(&it));
        if is_rest(asked.line) && !is_rest(line) {
            asked.kind = DecisionKind::NotFound;
        }
        let kind = match (plain.kind, asked.kind) {
            (DecisionKind::Redirect(status, url), DecisionKind::Redirect(other, asked))
                if status == other =>
            {
                match forwarded(&url, &asked) {
                    Some((url, with_query)) => AnswerKind::Redirect {
                        status,
                        url,
                        with_query,
                    },
                    None => AnswerKind::Other(RowError::NoLink(
                        "a short link does not depend on the query",
                    )),
                }
            }
            // A path with a query is no key of the map.
            (DecisionKind::Redirect(status, url), DecisionKind::NotFound) => AnswerKind::Redirect {
                status,
                url,
                with_query: false,
            },
            (DecisionKind::Gone, DecisionKind::Gone | DecisionKind::NotFound) => AnswerKind::Gone,
            (DecisionKind::NotFound, DecisionKind::NotFound) => AnswerKind::NotFound,
            (DecisionKind::Other(error), _) | (_, DecisionKind::Other(error)) => {
                AnswerKind::Other(error)
            }
            _ => AnswerKind::Other(RowError::NoLink(
                "a short link does not depend on the query",
            )),
        };
        Answer { line, kind }
    }

    fn agrees(&self, answer: &Answer, own: &AnswerKind, line: usize) -> Result<(), RowError> {
        let is_rest = answer.line.is_some_and(|it| self.catch_all.contains(&it));
        match answer.kind == AnswerKind::NotFound || is_rest || answer.kind == *own {
            true => Ok(()),
            false => Err(self.blame(answer, line)),
        }
    }

    /// Returns why a directive does not decide what is answered.
    fn blame(&self, answer: &Answer, line: usize) -> RowError {
        match (&answer.kind, answer.line) {
            (AnswerKind::Other(error), None) => error.clone(),
            (AnswerKind::Other(error), Some(other)) if other == line => error.clone(),
            (_, Some(other)) if other != line => covered(other),
            (AnswerKind::NotFound, _) => RowError::NoLink("this directive is never applied"),
            _ => RowError::NoLink("the path with a slash leads elsewhere than without (below)"),
        }
    }

    /// Checks that no other key of the same map that precedes this one decides some of the paths that
    /// begin with a text.
    fn keys_before(&self, candidate: &Candidate<'s>, start: &str) -> Result<(), RowError> {
        let map = candidate.map.as_ref();
        let Some(map) = map.and_then(|name| self.variables.maps.get(name)) else {
            return Ok(());
        };
        let values = map.below(start).ok_or(TOO_MANY)?;
        let before = values
            .into_iter()
            .filter(|it| it.is_exact || it.line < candidate.line);
        self.keys_are_whole(before.filter(|it| it.line != candidate.line), start)
    }

    fn keys_are_whole<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
        start: &str,
    ) -> Result<(), RowError> {
        let is_whole = |value: &Value| {
            let is_inside = !value.is_exact || value.key.starts_with(start);
            self.whole.contains(&value.line) && is_inside
        };
        match values.into_iter().find(|value| !is_whole(value)) {
            Some(value) => Err(covered(value.line)),
            None => Ok(()),
        }
    }

    /// Checks that no other directive decides some of the paths that begin with a text.
    fn interferes(&self, place: Place<'s>, start: &str) -> Result<(), RowError> {
        let server = self.server;
        let end = match place.location {
            Some(_) => usize::MAX,
            None => place.number,
        };
        let before = server.body.before_below(end, start).ok_or(TOO_MANY)?;
        self.all_whole(&before, start)?;
        let Some(placed) = place.location else {
            return Ok(());
        };
        let own = &placed.location().body;
        let before = own.before_below(place.number, start).ok_or(TOO_MANY)?;
        self.all_whole(&before, start)?;
        let inside = server.exact.range(start.to_owned()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(start));
        for (_, location) in inside {
            self.is_whole(location)?;
        }
        let inside = server.prefixes.range(start.to_owned()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(start));
        for (_, prefix) in inside {
            if prefix.is_final || matches!(placed, PlacedLocation::Prefix(..)) {
                let is_own = std::ptr::eq(&raw const prefix.location, placed.location());
                if !is_own {
                    self.is_whole(&prefix.location)?;
                }
            }
        }
        let end = match placed {
            PlacedLocation::Prefix(_, true) => 0,
            PlacedLocation::Pattern(_, number) => number,
            _ => usize::MAX,
        };
        for location in server.patterns_below(end, start).ok_or(TOO_MANY)? {
            self.is_whole(location)?;
        }
        Ok(())
    }

    /// Checks that a location is only for accepted links.
    fn is_whole(&self, location: &Location) -> Result<(), RowError> {
        match location.body.instructions.first() {
            Some(first) if self.whole.contains(&first.line) => Ok(()),
            Some(first) => Err(covered(first.line)),
            None => Err(RowError::NoLink(
                "a location below has directives of its own",
            )),
        }
    }

    /// Checks that directives decide only paths of accepted links, as far as they begin with a text.
    fn all_whole(&self, directives: &[&Instruction], start: &str) -> Result<(), RowError> {
        for directive in directives {
            let line = directive.line;
            let may_apply = |pattern: &Pattern| pattern.may_match_below(start.as_bytes());
            match &directive.kind {
                _ if self.whole.contains(&line) => {}
                InstructionKind::Rewrite { pattern, .. } if !may_apply(pattern) => {}
                InstructionKind::If(Condition::IsPath(path), _) if !path.starts_with(start) => {}
                InstructionKind::If(Condition::Matches(pattern), _) if !may_apply(pattern) => {}
                InstructionKind::If(Condition::IsSet(name), _) => {
                    let map = self.variables.maps.get(name);
                    let map = map.ok_or_else(|| covered(line))?;
                    let values = map.below(start).ok_or_else(|| covered(line))?;
                    self.keys_are_whole(values, start)?;
                }
                InstructionKind::If(_, body) => {
                    let inner: Vec<_> = body.instructions.iter().collect();
                    self.all_whole(&inner, start)?;
                }
                _ => return Err(covered(line)),
            }
        }
        Ok(())
    }
}

fn covered(line: usize) -> RowError {
    RowError::Covered {
        by: format!("line {line}"),
    }
}

/// Returns the URL of a link, and whether it takes the query, from where nginx leads without a query and
/// with one.
fn forwarded(plain: &str, asked: &str) -> Option<(String, bool)> {
    if plain == asked {
        return Some((plain.to_owned(), false));
    }
    let rest = asked.strip_prefix(plain)?.strip_suffix(QUERY)?;
    if plain.contains('#') {
        // The query is in the fragment, which no server receives.
        return Some((plain.to_owned(), false));
    }
    match (rest, plain.contains('?')) {
        ("&", true) if plain.ends_with(['?', '&']) => None,
        ("?", false) | ("&", true) => Some((plain.to_owned(), true)),
        ("", true) => {
            let is_first = plain.ends_with('?');
            let url = plain.strip_suffix(['?', '&'])?;
            let is_whole = url.contains('?') != is_first && !url.ends_with(['?', '&']);
            is_whole.then(|| (url.to_owned(), true))
        }
        _ => None,
    }
}

/// Returns a code as a path.
fn encoded(code: &str) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let encoded = utf8_percent_encode(code, NON_ALPHANUMERIC).to_string();
    format!("/{}", encoded.replace("%2F", "/"))
}
