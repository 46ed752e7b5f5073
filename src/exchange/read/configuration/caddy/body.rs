//! The directives of a block in the order in which Caddy applies them.
//!
//! Caddy sorts by the kind of directive, and those of one kind by the length of their path, the longest first,
//! if each has exactly one. If only some have one, the order depends on the version of Caddy, and so does that of
//! `/x` and `/x*`: then, only what does not depend on the order is known.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::actions::{Action, GroupKind, rank};
use super::expanded::Directive;
use super::matchers::{Matcher, Named};
use super::path_set::PatternKind;
use crate::exchange::read::rows::RowError;

/// The maximum number of directives that are compared with a path, which bounds the effort.
const MOST: usize = 1000;

/// A directive.
pub(super) struct Route {
    /// Its number in the file.
    pub(super) number: usize,
    pub(super) matcher: Matcher,
    pub(super) action: Action,
    /// What it contains.
    pub(super) inner: Body,
    /// Whether it is meant to redirect.
    pub(super) is_redirect: bool,
    /// The place of its kind in Caddy's order.
    pub(super) rank: usize,
    /// Whether other directives of this kind may precede it, whatever their places here.
    pub(super) is_unordered: bool,
    /// The place of the directive for exactly the path with which the paths of this one begin: either may
    /// precede the other.
    pub(super) rival: Option<usize>,
}

/// Directives in order.
#[derive(Default)]
pub(super) struct Body {
    pub(super) routes: Vec<Route>,
    /// The places of directives by their path in lower case.
    exact: BTreeMap<String, Vec<usize>>,
    /// The places of those for all paths that begin with a text in lower case.
    prefixes: BTreeMap<String, Vec<usize>>,
    /// The places of all others.
    others: Vec<usize>,
    /// The last place of a directive that answers a request otherwise than with an unknown page.
    last_decisive: Option<usize>,
    /// Whether these are the directives of a `route`.
    pub(super) is_route: bool,
}

/// What directives need to be read.
#[derive(Clone)]
pub(super) struct Scope<'s> {
    pub(super) host: &'s str,
    pub(super) named: Named,
    pub(super) has_error_pages: bool,
}

impl Body {
    /// Reads directives; `is_sorted` if Caddy sorts them.
    pub(super) fn of(directives: &[Directive], scope: &Scope<'_>, kind: GroupKind) -> Self {
        let mut scope = scope.clone();
        for directive in directives.iter().filter(|it| it.name().starts_with('@')) {
            let matcher = Matcher::of(directive, scope.host);
            let name = directive.name().to_owned();
            scope.named.insert(name, matcher);
        }
        let routes = directives.iter().filter(|it| !it.name().starts_with('@'));
        let mut routes: Vec<_> = routes.filter_map(|it| Route::of(it, &scope)).collect();
        if kind != GroupKind::Route {
            sort(&mut routes);
        }
        let is_route = kind == GroupKind::Route;
        Self {
            is_route,
            ..Self::new(routes)
        }
    }

    fn new(routes: Vec<Route>) -> Self {
        let mut body = Self::default();
        for (at, route) in routes.iter().enumerate() {
            let patterns = match &route.matcher.paths {
                Some(paths) => paths.patterns(),
                None => {
                    body.others.push(at);
                    &[]
                }
            };
            for pattern in patterns {
                let places = match pattern.kind {
                    PatternKind::Exact => &mut body.exact,
                    _ => &mut body.prefixes,
                };
                places.entry(pattern.start.clone()).or_default().push(at);
            }
            if route.is_decisive() {
                body.last_decisive = Some(at);
            }
        }
        body.routes = routes;
        body
    }

    /// Returns the places of the directives that may match a path, in order; `None` if there are too many.
    pub(super) fn near(&self, path: &str) -> Option<Vec<usize>> {
        let folded = path.to_lowercase();
        let exact = self.exact.get(&folded);
        let ends = (0..=folded.len()).filter(|end| folded.is_char_boundary(*end));
        let prefixes = ends.filter_map(|end| self.prefixes.get(&folded[..end]));
        let all = exact.into_iter().chain(prefixes).chain([&self.others]);
        Self::in_order(all)
    }

    /// Returns the places of the directives that may match a path that begins with a text, in order; `None`
    /// if there are too many.
    pub(super) fn below(&self, start: &str) -> Option<Vec<usize>> {
        let folded = start.to_lowercase();
        let above = (0..folded.len()).filter(|end| folded.is_char_boundary(*end));
        let above = above.filter_map(|end| self.prefixes.get(&folded[..end]));
        let inside = |places: &'_ BTreeMap<String, Vec<usize>>| {
            let inside = places.range(folded.clone()..);
            let inside = inside.take_while(|(path, _)| path.starts_with(&folded));
            inside.map(|(_, it)| it.clone()).take(MOST + 1).collect()
        };
        let (exact, prefixes): (Vec<_>, Vec<_>) = (inside(&self.exact), inside(&self.prefixes));
        let all = exact.iter().chain(&prefixes).chain(above);
        Self::in_order(all.chain([&self.others]))
    }

    fn in_order<'p>(all: impl Iterator<Item = &'p Vec<usize>>) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for places in all {
            found.extend(places);
            if found.len() > MOST {
                return None;
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Returns whether the directive at a place is one of those of which the order is not known, like another one.
    pub(super) fn is_unordered_with(&self, at: usize, other: &Route) -> bool {
        let route = &self.routes[at];
        route.is_unordered && route.rank == other.rank
    }

    /// Returns whether a directive after a place answers a request otherwise than with an unknown page.
    pub(super) fn is_decisive_after(&self, at: usize) -> bool {
        self.last_decisive.is_some_and(|last| last > at)
    }
}

impl Route {
    fn of(directive: &Directive, scope: &Scope<'_>) -> Option<Self> {
        let mut arguments = directive.arguments();
        let matcher = Matcher::take(&mut arguments, &scope.named);
        let action = Action::of(directive, &arguments, scope.has_error_pages)?;
        let inner = match action {
            Action::Group(kind) => Body::of(&directive.inner, scope, kind),
            _ => Body::default(),
        };
        let action = match (action, &matcher.only_path()) {
            (Action::Group(GroupKind::HandlePath), None) => {
                Action::Other(RowError::NoLink("this directive needs exactly one path"))
            }
            (Action::Respond { status }, _) if matcher.is_any() && is_page(&status) => {
                Action::Nothing
            }
            (action, _) => action,
        };
        Some(Self {
            number: directive.number,
            matcher,
            action,
            inner,
            is_redirect: directive.name() == "redir",
            rank: rank(directive.name()),
            is_unordered: false,
            rival: None,
        })
    }

    fn is_decisive(&self) -> bool {
        match &self.action {
            Action::Nothing | Action::Rewrite => false,
            Action::Group(_) => self.inner.last_decisive.is_some(),
            Action::Redirect { .. } | Action::Respond { .. } | Action::Other(_) => true,
        }
    }

    pub(super) fn is_handle(&self) -> bool {
        matches!(
            self.action,
            Action::Group(GroupKind::Handle | GroupKind::HandlePath)
        )
    }
}

/// Returns whether a status is one of pages.
fn is_page(status: &str) -> bool {
    status.starts_with('2')
}

/// Sorts directives as Caddy does.
fn sort(routes: &mut [Route]) {
    let length = |route: &Route| {
        let path = route.matcher.only_path()?;
        Some(path.length)
    };
    routes.sort_by_key(|route| route.rank);
    for run in routes.chunk_by_mut(|one, next| one.rank == next.rank) {
        let has = |is_it: fn(&Route) -> bool| run.iter().any(is_it);
        let is_mixed = has(|it| it.matcher.only_path().is_some())
            && has(|it| it.matcher.only_path().is_none() && !it.matcher.is_any());
        if is_mixed {
            run.sort_by_key(|it| it.matcher.is_any());
            for route in run.iter_mut().filter(|it| !it.matcher.is_any()) {
                route.is_unordered = true;
            }
        } else {
            run.sort_by_key(|it| (it.matcher.is_any(), Reverse(length(it))));
        }
    }
    let mut exact = HashMap::new();
    for (at, route) in routes.iter().enumerate() {
        if let Some(path) = route.matcher.only_path()
            && path.kind == PatternKind::Exact
        {
            exact.insert((route.rank, path.start.clone()), at);
        }
    }
    for route in routes {
        if let Some(path) = route.matcher.only_path()
            && path.kind == PatternKind::Prefix
        {
            route.rival = exact.get(&(route.rank, path.start.clone())).copied();
        }
    }
}
