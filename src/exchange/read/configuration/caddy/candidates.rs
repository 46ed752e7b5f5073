//! The links that a site was written for: which directive redirects which paths.

use super::actions::{Action, GroupKind};
use super::body::{Body, Route};
use super::path_set::PatternKind;
use super::request::only_placeholder;
use super::site::Site;
use crate::exchange::read::configuration::links::{Candidate, CandidatePaths, MANY_PATHS};
use crate::exchange::read::rows::RowError;

/// The places of the directives that contain a directive, from the outermost, and its own.
pub(super) type Places = Vec<usize>;

type Paths = Result<CandidatePaths, RowError>;

const CONDITION: RowError = RowError::NoLink("a directive with conditions is not a link");

const WILDCARD: RowError = RowError::NoLink(
    "a pattern with a wildcard inside, or with an escaped character, is not a path",
);

/// Collects the candidates of a site.
pub(super) fn candidates(site: &Site<'_>) -> Vec<Candidate<Places>> {
    let mut collector = Collector {
        site,
        found: Vec::new(),
    };
    let every = CandidatePaths {
        texts: vec![String::new()],
        is_open: true,
        is_partial: false,
    };
    collector.body(&site.body, &mut Vec::new(), "", &Ok(every));
    collector.found
}

struct Collector<'s, 'o> {
    site: &'s Site<'o>,
    found: Vec<Candidate<Places>>,
}

impl Collector<'_, '_> {
    /// Adds those of directives for some paths that have lost a prefix.
    fn body(&mut self, body: &Body, places: &mut Places, prefix: &str, paths: &Paths) {
        for (at, route) in body.routes.iter().enumerate() {
            places.push(at);
            for own in self.paths_of(route, prefix, paths) {
                self.route(route, places, prefix, &own);
            }
            places.pop();
        }
    }

    fn route(&mut self, route: &Route, places: &mut Places, prefix: &str, paths: &Paths) {
        match &route.action {
            Action::Redirect { to, .. } => self.values(to, route, places, paths),
            Action::Respond { status } if status == "410" || only_placeholder(status).is_some() => {
                self.values(status, route, places, paths);
            }
            Action::Group(GroupKind::HandlePath) => {
                let removed = route.matcher.only_path();
                let removed = removed.map_or("", |it| it.written.trim_end_matches('/'));
                let prefix = format!("{prefix}{removed}");
                self.body(&route.inner, places, &prefix, paths);
            }
            Action::Group(_) => self.body(&route.inner, places, prefix, paths),
            Action::Other(error) if route.is_redirect => {
                self.add(route.number, places, Err(error.clone()));
            }
            Action::Respond { .. } | Action::Nothing | Action::Rewrite | Action::Other(_) => {}
        }
    }

    /// Adds the paths of a directive, or the keys of the map whose value it sends.
    fn values(&mut self, text: &str, route: &Route, places: &Places, paths: &Paths) {
        let name = only_placeholder(text);
        let map = name.and_then(|it| Some((it, self.site.variables.map(it)?)));
        let Some((name, map)) = map else {
            return self.add(route.number, places, paths.clone());
        };
        for mapping in map.giving(name) {
            // What another map makes of the path is found out for each of them.
            let is_path = map.may_be_of_paths() && mapping.input.starts_with('/');
            let paths = match (&mapping.pattern, map.is_of_paths()) {
                (None, is_of_paths) if is_of_paths || is_path => Ok(CandidatePaths {
                    texts: vec![mapping.input.clone()],
                    ..CandidatePaths::default()
                }),
                (Some(pattern), true) => {
                    CandidatePaths::of(pattern).and_then(|it| match it.is_open {
                        true => Err(MANY_PATHS),
                        false => Ok(it),
                    })
                }
                _ => Err(RowError::NoLink("this map is not one of paths")),
            };
            self.add(mapping.number, places, paths);
        }
    }

    fn add(&mut self, line: usize, places: &Places, paths: Paths) {
        self.found.push(Candidate {
            line,
            paths,
            place: places.clone(),
        });
    }

    /// Returns the paths of a directive inside of one for some paths: all single ones, and each prefix.
    fn paths_of(&self, route: &Route, prefix: &str, outer: &Paths) -> Vec<Paths> {
        let Some(paths) = &route.matcher.paths else {
            let keys = route.matcher.set.iter().find_map(|it| self.keys(it));
            let mut equal = route.matcher.equal.iter();
            let keys = keys.or_else(|| {
                equal.find_map(|(name, value)| {
                    self.site.variables.map(name)?.paths_with(name, value)
                })
            });
            return vec![match (route.matcher.is_any(), keys) {
                (true, _) => outer.clone(),
                (false, Some(texts)) => Ok(CandidatePaths {
                    texts,
                    ..CandidatePaths::default()
                }),
                (false, None) => Err(CONDITION),
            }];
        };
        let one = |text: String, is_open| {
            Ok(CandidatePaths {
                texts: vec![text],
                is_open,
                is_partial: false,
            })
        };
        let patterns = paths.patterns().iter();
        let found = patterns.map(|it| match it.kind {
            PatternKind::Unknown => Err(WILDCARD),
            kind => one(
                format!("{prefix}{}", it.written),
                kind == PatternKind::Prefix,
            ),
        });
        found.collect()
    }

    /// Returns the paths for which a map gives a placeholder a value.
    fn keys(&self, name: &str) -> Option<Vec<String>> {
        let keys = self.site.variables.map(name)?.below(name, "/")?;
        Some(keys.iter().map(|it| it.input.clone()).collect())
    }
}
