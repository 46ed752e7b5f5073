//! What a site answers to a path, whatever the query, and which of its directives decide on paths below a code.

use std::collections::HashSet;

use super::actions::{Action, GroupKind};
use super::body::{Body, Route};
use super::candidates::Places;
use super::site::Site;
use crate::exchange::read::configuration::decision::{Answer, QUERY};
use crate::exchange::read::configuration::links::{Answering, Candidate, catch_all};
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;

/// Finds the answers of a site.
pub(super) struct Answers<'s> {
    site: &'s Site<'s>,
    /// The line of each directive, by its number.
    lines: &'s [usize],
    /// The directives that redirect all paths which no other directive names.
    catch_all: HashSet<usize>,
}

impl<'s> Answers<'s> {
    /// Takes a site, and where its directives redirect.
    pub(super) fn new(
        site: &'s Site<'s>,
        lines: &'s [usize],
        candidates: &[Candidate<Places>],
    ) -> Self {
        Self {
            site,
            lines,
            catch_all: catch_all(candidates),
        }
    }

    /// Checks that a directive decides only on paths of accepted links, as far as they begin with a text.
    fn is_whole(&self, route: &Route, start: &str, whole: &HashSet<usize>) -> Result<(), RowError> {
        let by = |number| RowError::Covered {
            by: self.place(number),
        };
        let of_map = |name: &String| self.site.variables.map(name)?.below(name, start);
        if let Some(keys) = route.matcher.set.iter().find_map(of_map) {
            let other = keys.into_iter().find(|it| !whole.contains(&it.number));
            return other.map_or(Ok(()), |it| Err(by(it.number)));
        }
        let is_whole = match (&route.action, &route.inner.routes[..]) {
            (Action::Group(_), [only]) => {
                only.matcher.is_any() && self.is_whole(only, start, whole).is_ok()
            }
            _ => route.matcher.is_of_paths() && whole.contains(&route.number),
        };
        match is_whole {
            true => Ok(()),
            false => Err(by(route.number)),
        }
    }

    fn check(
        &self,
        body: &Body,
        places: &[usize],
        start: &str,
        whole: &HashSet<usize>,
    ) -> Result<(), RowError> {
        let [place, inner @ ..] = places else {
            return Ok(());
        };
        let own = &body.routes[*place];
        for at in body.below(start).ok_or(TOO_MANY)? {
            let other = &body.routes[at];
            let is_before = at < *place || own.is_unordered && body.is_unordered_with(at, own);
            if at != *place && is_before && other.matcher.may_match_below(&start.to_lowercase()) {
                self.is_whole(other, start, whole)?;
            }
        }
        let removed = match (&own.action, own.matcher.only_path()) {
            (Action::Group(GroupKind::HandlePath), Some(path)) => {
                path.written.trim_end_matches('/').len()
            }
            _ => 0,
        };
        let start = start.get(removed..).unwrap_or("/");
        self.check(&own.inner, inner, start, whole)
    }
}

impl Answering for Answers<'_> {
    type Place = Places;

    fn answer(&self, path: &str) -> Answer {
        let [plain, asked] = ["", QUERY].map(|it| self.site.answer(path, it));
        Answer::of(plain, asked.kind)
    }

    fn is_rest(&self, line: Option<usize>) -> bool {
        line.is_some_and(|it| self.catch_all.contains(&it))
    }

    fn place(&self, line: usize) -> String {
        format!("line {}", self.lines[line])
    }

    fn interferes(
        &self,
        candidate: &Candidate<Places>,
        start: &str,
        whole: &HashSet<usize>,
    ) -> Result<(), RowError> {
        self.check(&self.site.body, &candidate.place, start, whole)
    }
}
