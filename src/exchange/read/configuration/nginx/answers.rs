//! What a server answers to a path, whatever the query.

use std::collections::HashSet;

use super::candidates::Place;
use super::interference::Interference;
use super::server::Server;
use super::variables::Variables;
use crate::exchange::read::configuration::decision::{Answer, DecisionKind, QUERY};
use crate::exchange::read::configuration::links::{Answering, Candidate, catch_all};
use crate::exchange::read::rows::RowError;

/// Finds the answers of a server.
pub(super) struct Answers<'s> {
    server: &'s Server,
    variables: &'s Variables,
    /// The lines that redirect all paths which no other line names.
    catch_all: HashSet<usize>,
}

impl<'s> Answers<'s> {
    /// Takes a server, and where its directives redirect.
    pub(super) fn new(
        server: &'s Server,
        variables: &'s Variables,
        candidates: &[Candidate<Place<'s>>],
    ) -> Self {
        Self {
            server,
            variables,
            catch_all: catch_all(candidates),
        }
    }
}

impl<'s> Answering for Answers<'s> {
    type Place = Place<'s>;

    fn answer(&self, path: &str) -> Answer {
        let [plain, mut asked] = ["", QUERY].map(|it| self.server.answer(path, it, self.variables));
        let line = plain.line;
        if self.is_rest(asked.line) && !self.is_rest(line) {
            asked.kind = DecisionKind::NotFound;
        }
        Answer::of(plain, asked.kind)
    }

    fn is_rest(&self, line: Option<usize>) -> bool {
        line.is_some_and(|it| self.catch_all.contains(&it))
    }

    fn interferes(
        &self,
        candidate: &Candidate<Place<'s>>,
        start: &str,
        whole: &HashSet<usize>,
    ) -> Result<(), RowError> {
        let interference = Interference {
            server: self.server,
            variables: self.variables,
            whole,
        };
        interference.check(candidate, start)
    }
}
