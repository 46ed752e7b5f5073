//! What a server answers: to one request, and to a path, whatever the query.

use crate::exchange::read::rows::RowError;
use crate::mapping::Status;

/// The query when it is found out whether it is passed on.
pub(super) const QUERY: &str = "~q=~r";

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

/// What is answered to a request, and the line that decides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) line: Option<usize>,
    pub(super) kind: DecisionKind,
}

/// What is answered to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DecisionKind {
    /// A redirect; without a status if the configuration does not say which.
    Redirect(Option<Status>, String),
    Gone,
    /// Nothing, or a file or another server's answer, of which nothing is known.
    NotFound,
    /// Something that a table does not answer, or that is not known.
    Other(RowError),
}

impl Answer {
    /// Returns the answer to a path from those to it without a query and with [`QUERY`].
    pub(super) fn of(plain: Decision, asked: DecisionKind) -> Self {
        let line = plain.line;
        let kind = match (plain.kind, asked) {
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
        Self { line, kind }
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
        // The query is appended to the fragment, which no server receives.
        let is_appended = matches!(rest, "?" | "&") || plain.ends_with(['?', '&']);
        return is_appended.then(|| (plain.to_owned(), false));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_after_a_fragment_is_dropped_only_if_it_is_appended_as_a_query() {
        let kept = |url: &str| Some((url.to_owned(), false));
        for (plain, asked, link) in [
            (
                "https://e.org/u#f",
                "https://e.org/u#f?~q=~r",
                kept("https://e.org/u#f"),
            ),
            (
                "https://e.org/u#f?",
                "https://e.org/u#f?~q=~r",
                kept("https://e.org/u#f?"),
            ),
            (
                "https://e.org/u?x=1#f",
                "https://e.org/u?x=1#f&~q=~r",
                kept("https://e.org/u?x=1#f"),
            ),
            // The fragment itself depends on the query.
            ("https://e.org/u#", "https://e.org/u#~q=~r", None),
            ("https://e.org/u#f", "https://e.org/u?~q=~r#f", None),
        ] {
            assert_eq!(forwarded(plain, asked), link, "{plain} {asked}");
        }
    }
}
