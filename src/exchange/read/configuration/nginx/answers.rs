//! What a server answers to a path, whatever the query.

use std::collections::HashSet;

use super::instructions::DecisionKind;
use super::server::Server;
use super::variables::Variables;
use crate::exchange::read::rows::RowError;
use crate::mapping::Status;

/// The query when it is found out whether it is passed on.
const QUERY: &str = "~q=~r";

/// What is answered to a path, whatever its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) line: Option<usize>,
    pub(super) kind: AnswerKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Redirect {
        status: Option<Status>,
        url: String,
        with_query: bool,
    },
    Gone,
    NotFound,
    Other(RowError),
}

/// Finds the answers of a server.
pub(super) struct Answers<'s> {
    pub(super) server: &'s Server,
    pub(super) variables: &'s Variables,
    /// The lines that redirect all paths which no other line names.
    pub(super) catch_all: HashSet<usize>,
}

impl Answers<'_> {
    /// Returns what is answered to a path, with any query or without.
    pub(super) fn answer(&self, path: &str) -> Answer {
        let [plain, mut asked] = ["", QUERY].map(|it| self.server.answer(path, it, self.variables));
        let line = plain.line;
        if self.is_rest(asked.line) && !self.is_rest(line) {
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

    /// Returns whether a line redirects all paths which no other line names.
    pub(super) fn is_rest(&self, line: Option<usize>) -> bool {
        line.is_some_and(|it| self.catch_all.contains(&it))
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
