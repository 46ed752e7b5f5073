//! The links of a server: each is accepted if the table answers as nginx does wherever the link answers.
//!
//! Only where nginx redirects nowhere, or where it redirects all paths that nothing else names, may a code,
//! with or without a slash after it, answer more.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::answers::{Answer, AnswerKind, Answers};
use super::candidates::{Candidate, candidates};
use super::server::Server;
use super::variables::Variables;
use crate::exchange::read::configuration::below::{
    BELOW, GONE_BELOW, OTHERWISE_USED, forward_below,
};
use crate::exchange::read::rows::{ImportedLink, ImportedRow, LinkOrigin, RowError};
use crate::mapping::{Forward, Status, WrittenRetirement};

const MANY_PATHS: RowError = RowError::NoLink("this redirects more than one path");

const PARTLY_BELOW: RowError = RowError::NoLink(
    "only the path and what is below it are imported, not all paths that begin with this text",
);

const PARTLY_CASE: RowError = RowError::NoLink(
    "only the path as it is written is imported: a dot, or a letter, matches others, too",
);

/// Decides on the links of one server.
pub(super) struct Links<'s, 'o> {
    pub(super) answers: Answers<'s>,
    origin: LinkOrigin<'o>,
    /// The lines that decide only paths of accepted links.
    pub(super) whole: HashSet<usize>,
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
            answers: Answers {
                server,
                variables,
                catch_all: HashSet::new(),
            },
            origin,
            whole: HashSet::new(),
            rows: Vec::new(),
            accepted: HashMap::new(),
        }
    }

    /// Decides on all candidates: first on single paths, then on all below a path, from the longest one,
    /// because there the exceptions must have been accepted.
    pub(super) fn decide(mut self) -> Vec<ImportedRow> {
        let mut all = candidates(self.answers.server, self.answers.variables);
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
        self.answers.catch_all = catch_all.map(|it| it.line).collect();
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
    fn below(&self, candidate: &Candidate<'s>, code: &str) -> Result<ImportedLink, RowError> {
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
        self.interferes(candidate.place, &start)?;
        self.keys_before(candidate, &start)?;
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
            (_, Some(other)) if other != line => covered(other),
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
