//! What Caddy answers to a request, by the directives of a site.

use super::actions::{Action, GroupKind};
use super::body::{Body, Route};
use super::path_set::{PatternKind, Truth};
use super::placeholders::Variables;
use super::request::Request;
use crate::exchange::read::configuration::decision::{Decision, DecisionKind};
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::{LinkOrigin, RowError};
use crate::mapping::Status;

/// A site.
pub(super) struct Site<'o> {
    pub(super) body: Body,
    pub(super) variables: Variables,
    pub(super) origin: LinkOrigin<'o>,
}

/// What follows from directives.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Flow {
    /// The next ones are applied.
    Next,
    /// The next ones are applied to another path, which is not known.
    Rewritten,
    /// A decision.
    Decided(Decision),
}

const CONDITION: RowError = RowError::NoLink("a directive with conditions is not a link");

const ORDER: RowError = RowError::NoLink(
    "which of several directives precedes depends on the version of Caddy (route gives them an order)",
);

const REWRITTEN: RowError = RowError::NoLink("a path that is rewritten first is not known");

const MERGED: RowError =
    RowError::NoLink("Caddy may apply two of these handle blocks, one after the other");

const STRIPPED: RowError =
    RowError::NoLink("a path that does not begin with a slash any more is not known");

const NO_STATUS: RowError = RowError::NoLink("a table has no such status");

impl Site<'_> {
    /// Returns what is answered to a path and a query.
    pub(super) fn answer(&self, path: &str, query: &str) -> Decision {
        let request = Request::of(path, query);
        let mut possible = Vec::new();
        let end = match self.run(&self.body, &request, &mut possible) {
            Flow::Decided(decision) => decision,
            Flow::Next | Flow::Rewritten => Decision {
                line: None,
                kind: DecisionKind::NotFound,
            },
        };
        match possible.into_iter().find(|it| it.kind != end.kind) {
            Some(other) => Decision {
                line: other.line,
                kind: DecisionKind::Other(CONDITION),
            },
            None => end,
        }
    }

    fn run(&self, body: &Body, request: &Request<'_>, possible: &mut Vec<Decision>) -> Flow {
        let Some(near) = body.near(request.path) else {
            return decided(None, DecisionKind::Other(TOO_MANY));
        };
        let mut handled: Option<&Route> = None;
        let mut at = 0;
        while at < near.len() {
            let route = &body.routes[near[at]];
            let mut others = Vec::new();
            if route.is_unordered {
                let is_other = |it: &&usize| body.is_unordered_with(**it, route);
                others.extend(near[at + 1..].iter().take_while(is_other));
            } else if let Some(rival) = route.rival.filter(|_| is_exactly(route, request)) {
                others.push(rival);
            }
            let skipped = if route.is_unordered { others.len() } else { 0 };
            at += 1;
            if let Some(handled) = handled.filter(|_| route.is_handle()) {
                // Only others are exclusive.
                if body.is_route || handled.matcher == route.matcher {
                    return decided(Some(route.number), DecisionKind::Other(MERGED));
                }
                continue;
            }
            let truth = route.matcher.matches(request, &self.variables);
            if truth == Truth::No {
                continue;
            }
            let flow = self.apply(route, request, possible);
            let is_other = |it: &usize| {
                let other = &body.routes[*it];
                let truth = other.matcher.matches(request, &self.variables);
                truth != Truth::No && kind(&self.apply(other, request, possible)) != kind(&flow)
            };
            if others.iter().any(is_other) {
                return decided(Some(route.number), DecisionKind::Other(ORDER));
            }
            at += skipped;
            if truth == Truth::Unknown {
                possible.push(match flow {
                    Flow::Decided(decision) => decision,
                    _ if route.is_handle() || flow == Flow::Rewritten => Decision {
                        line: Some(route.number),
                        kind: DecisionKind::Other(CONDITION),
                    },
                    _ => continue,
                });
                continue;
            }
            handled = handled.or(Some(route).filter(|it| it.is_handle()));
            match flow {
                Flow::Next => {}
                Flow::Rewritten if body.is_decisive_after(near[at - 1]) => {
                    return decided(Some(route.number), DecisionKind::Other(REWRITTEN));
                }
                Flow::Rewritten | Flow::Decided(_) => return flow,
            }
        }
        Flow::Next
    }

    /// Returns what follows from a directive that matches.
    fn apply(&self, route: &Route, request: &Request<'_>, possible: &mut Vec<Decision>) -> Flow {
        let number = Some(route.number);
        match &route.action {
            Action::Redirect { to, status } => {
                let number = self.variables.mapping(to, request).or(number);
                let kind = self.redirect(to, status, request);
                decided(number, kind.unwrap_or_else(DecisionKind::Other))
            }
            Action::Respond { status } => {
                let number = self.variables.mapping(status, request).or(number);
                let kind = self.respond(status, request);
                decided(number, kind.unwrap_or_else(DecisionKind::Other))
            }
            Action::Nothing => decided(number, DecisionKind::NotFound),
            Action::Other(error) => decided(number, DecisionKind::Other(error.clone())),
            Action::Rewrite => Flow::Rewritten,
            Action::Group(GroupKind::HandlePath) => {
                let Some(path) = stripped(route, request.path) else {
                    return decided(number, DecisionKind::Other(STRIPPED));
                };
                let request = Request {
                    path,
                    ..request.clone()
                };
                match self.run(&route.inner, &request, possible) {
                    // The prefix stays removed.
                    Flow::Next => Flow::Rewritten,
                    flow => flow,
                }
            }
            Action::Group(_) => self.run(&route.inner, request, possible),
        }
    }

    fn redirect(
        &self,
        to: &str,
        status: &str,
        request: &Request<'_>,
    ) -> Result<DecisionKind, RowError> {
        let url = self.variables.expand(to, request)?;
        if url.is_empty() {
            return Ok(DecisionKind::NotFound);
        }
        let url = match url.starts_with('/') && !url.starts_with("//") {
            true => self.origin.url_of_path(&url),
            false => url,
        };
        if !["http://", "https://"].iter().any(|it| url.starts_with(it)) {
            return Err(RowError::NoLink("this does not lead to a URL or to a path"));
        }
        let status = self.variables.expand(status, request)?;
        let known = status.parse().ok().and_then(Status::from_code);
        Ok(DecisionKind::Redirect(Some(known.ok_or(NO_STATUS)?), url))
    }

    fn respond(&self, status: &str, request: &Request<'_>) -> Result<DecisionKind, RowError> {
        match &*self.variables.expand(status, request)? {
            "410" => Ok(DecisionKind::Gone),
            "404" => Ok(DecisionKind::NotFound),
            _ => Err(NO_STATUS),
        }
    }
}

fn decided(line: Option<usize>, kind: DecisionKind) -> Flow {
    Flow::Decided(Decision { line, kind })
}

/// Returns what is decided, whichever directive does it.
fn kind(flow: &Flow) -> Result<&DecisionKind, &Flow> {
    match flow {
        Flow::Decided(decision) => Ok(&decision.kind),
        other => Err(other),
    }
}

/// Returns whether the path of a request is the text with which the paths of a directive begin.
fn is_exactly(route: &Route, request: &Request<'_>) -> bool {
    let path = route.matcher.only_path();
    path.is_some_and(|it| it.start == request.path.to_lowercase())
}

/// Returns a path without the prefix that a `handle_path` removes.
fn stripped<'r>(route: &Route, path: &'r str) -> Option<&'r str> {
    let pattern = route.matcher.only_path()?;
    let prefix = pattern
        .written
        .strip_suffix('/')
        .unwrap_or(&pattern.written);
    let start = path.get(..prefix.len())?;
    let rest = &path[prefix.len()..];
    let is_known = pattern.kind != PatternKind::Unknown && start.eq_ignore_ascii_case(prefix);
    (is_known && rest.starts_with('/')).then_some(rest)
}
