//! The links of a server: each is accepted if the table answers as the server does wherever the link answers.
//!
//! Only where the server redirects nowhere, or where it redirects all paths that nothing else names, may a code,
//! with or without a slash after it, answer more.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::below::{BELOW, GONE_BELOW, OTHERWISE_USED, forward_below};
use super::decision::{Answer, AnswerKind};
use super::pattern::Pattern;
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError};
use crate::mapping::{Forward, Status, WrittenRetirement};

/// What a server answers.
pub(super) trait Answering {
    /// Where a directive is.
    type Place;

    /// Returns what is answered to a path, with any query or without.
    fn answer(&self, path: &str) -> Answer;

    /// Returns whether a line redirects all paths which no other line names.
    fn is_rest(&self, line: Option<usize>) -> bool;

    /// Returns how messages name the place of a line.
    fn place(&self, line: usize) -> String {
        format!("line {line}")
    }

    /// Checks that no directive but those of lines that decide only paths of accepted links decides some of the
    /// paths of a candidate that begin with a text.
    fn interferes(
        &self,
        candidate: &Candidate<Self::Place>,
        start: &str,
        whole: &HashSet<usize>,
    ) -> Result<(), RowError>;
}

/// Paths that a directive redirects, if nothing else decides them.
pub(super) struct Candidate<P> {
    pub(super) line: usize,
    pub(super) paths: Result<CandidatePaths, RowError>,
    /// Where the directive is.
    pub(super) place: P,
}

/// The paths, with the slash before them.
#[derive(Clone, Default)]
pub(super) struct CandidatePaths {
    pub(super) texts: Vec<String>,
    /// Whether anything may follow.
    pub(super) is_open: bool,
    /// Whether more paths match than these: a dot is any character, or letters of either case match.
    pub(super) is_partial: bool,
}

/// The reason for a directive for many paths, which are not all those below one.
pub(super) const MANY_PATHS: RowError = RowError::NoLink("this redirects more than one path");

const PARTLY_BELOW: RowError = RowError::partly(
    "only the path and what is below it are imported, not all paths that begin with this text",
);

const PARTLY_CASE: RowError = RowError::partly(
    "only the path as it is written is imported: a dot, or a letter, matches others, too",
);

impl CandidatePaths {
    /// Returns the paths that an expression was written for.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or was written for too many.
    pub(super) fn of(pattern: &Pattern) -> Result<Self, RowError> {
        let Pattern::Known(known) = pattern else {
            return Err(RowError::NoLink("this expression cannot be read"));
        };
        let texts = known.paths.texts.as_ref().ok_or(MANY_PATHS)?;
        let texts = texts.iter().map(|it| String::from_utf8(it.clone()));
        let texts: Result<_, _> = texts.collect();
        Ok(Self {
            texts: texts.map_err(|_| RowError::NotUtf8)?,
            is_open: known.paths.is_open,
            is_partial: known.paths.has_dot || known.folds(),
        })
    }

    /// Returns whether they are all paths.
    pub(super) fn are_all(&self) -> bool {
        self.is_open && self.texts.iter().all(|it| matches!(&**it, "" | "/"))
    }
}

/// Returns the lines that redirect all paths which no other line names.
pub(super) fn catch_all<P>(candidates: &[Candidate<P>]) -> HashSet<usize> {
    let is_all = |it: &&Candidate<P>| matches!(&it.paths, Ok(paths) if paths.are_all());
    candidates.iter().filter(is_all).map(|it| it.line).collect()
}

/// Decides on the links of one server.
pub(super) struct Links<'o, A> {
    answers: A,
    origin: LinkOrigin<'o>,
    /// The lines that decide only paths of accepted links.
    whole: HashSet<usize>,
    /// The lines that decide other paths, too.
    partial: HashSet<usize>,
    rows: Vec<Option<ImportedRow>>,
    accepted: HashMap<String, (usize, Option<Forward>)>,
}

impl<'o, A: Answering> Links<'o, A> {
    pub(super) fn new(answers: A, origin: LinkOrigin<'o>) -> Self {
        Self {
            answers,
            origin,
            whole: HashSet::new(),
            partial: HashSet::new(),
            rows: Vec::new(),
            accepted: HashMap::new(),
        }
    }

    /// Decides on all candidates: first on single paths, then on all below a path, from the longest one,
    /// because there the exceptions must have been accepted.
    pub(super) fn decide(mut self, mut all: Vec<Candidate<A::Place>>) -> Vec<ImportedRow> {
        let length = |it: &Candidate<A::Place>| match &it.paths {
            Ok(paths) if paths.is_open => {
                1 + usize::MAX / 2 - paths.texts.iter().map(String::len).min().unwrap_or(0)
            }
            _ => 0,
        };
        all.sort_by_key(length);
        for candidate in &all {
            self.decide_one(candidate);
        }
        self.rows.into_iter().flatten().collect()
    }

    fn decide_one(&mut self, candidate: &Candidate<A::Place>) {
        let line = candidate.line;
        let paths = match &candidate.paths {
            Ok(paths) => paths,
            Err(error) => {
                self.add_partial(line);
                return self.refuse(line, error.clone());
            }
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
        let mut are_some = false;
        for code in &codes {
            let link = match paths.is_open {
                true => self.below(candidate, code),
                false => self.path(line, code),
            };
            match link.and_then(ImportedLink::checked) {
                Ok(link) => {
                    are_some = true;
                    self.accept(line, link);
                }
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
        match is_whole && errors.is_empty() && !self.partial.contains(&line) {
            true => drop(self.whole.insert(line)),
            false => self.add_partial(line),
        }
        errors.dedup();
        for error in errors {
            self.refuse(line, error.for_part(are_some));
        }
    }

    /// Notes that a line decides other paths than those of accepted links.
    fn add_partial(&mut self, line: usize) {
        self.whole.remove(&line);
        self.partial.insert(line);
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
        let answers = [format!("/{code}"), format!("/{code}/")].map(|it| self.answers.answer(&it));
        let is_own = |it: &&Answer| it.line == Some(line) && it.kind != AnswerKind::NotFound;
        let own = answers.iter().find(is_own);
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
                code: Some(self.origin.code_of_decoded_path(code)?),
                retired: Some(WrittenRetirement::Always),
                ..ImportedLink::default()
            }),
            _ => Err(self.blame(own, line)),
        }
    }

    /// Decides on a link for all paths below one.
    fn below(&self, candidate: &Candidate<A::Place>, code: &str) -> Result<ImportedLink, RowError> {
        let line = candidate.line;
        let start = format!("/{code}/");
        let mut bases = Vec::new();
        for below in BELOW {
            let answer = self.answers.answer(&format!("{start}{below}"));
            let AnswerKind::Redirect {
                status,
                url,
                with_query,
            } = answer.kind.clone()
            else {
                return Err(match answer.kind {
                    AnswerKind::Gone => GONE_BELOW,
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
            return Err(OTHERWISE_USED);
        }
        let forward = forward_below(&base, is_appended, with_query)?;
        self.answers.interferes(candidate, &start, &self.whole)?;
        let own = AnswerKind::Redirect {
            status,
            url: base.clone(),
            with_query,
        };
        let answers = [format!("/{code}"), start].map(|it| self.answers.answer(&it));
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
            code: Some(self.origin.code_of_decoded_path(code)?),
            url: Some(url),
            status,
            forward: Some(forward),
            ..ImportedLink::default()
        })
    }

    fn agrees(&self, answer: &Answer, own: &AnswerKind, line: usize) -> Result<(), RowError> {
        let is_rest = self.answers.is_rest(answer.line);
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
            (_, Some(other)) if other != line => RowError::Covered {
                by: self.answers.place(other),
            },
            (AnswerKind::NotFound, _) => RowError::NoLink("this directive is never applied"),
            _ => RowError::NoLink("the path with a slash leads elsewhere than without (below)"),
        }
    }
}

/// Returns the error of a link that another line decides.
pub(super) fn covered(line: usize) -> RowError {
    RowError::Covered {
        by: format!("line {line}"),
    }
}
