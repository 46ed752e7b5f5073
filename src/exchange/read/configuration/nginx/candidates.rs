//! The links that a configuration was written for: which directive redirects which paths.

use super::instructions::{Body, Condition, Instruction, InstructionKind};
use super::server::{Location, Server};
use super::variables::{Variables, only_variable};
use crate::exchange::read::configuration::links::{Candidate, CandidatePaths, MANY_PATHS};
use crate::exchange::read::rows::RowError;

/// Where a directive is.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) location: Option<PlacedLocation<'s>>,
    /// Its number among the directives there.
    pub(super) number: usize,
    /// The variable of the map that has its paths as keys.
    pub(super) map: Option<&'s str>,
}

/// A location, and how it is chosen.
#[derive(Clone, Copy)]
pub(super) enum PlacedLocation<'s> {
    Exact(&'s Location),
    Prefix(&'s Location, bool),
    /// With the number of its expression.
    Pattern(&'s Location, usize),
}

impl<'s> PlacedLocation<'s> {
    pub(super) fn location(self) -> &'s Location {
        match self {
            Self::Exact(it) | Self::Prefix(it, _) | Self::Pattern(it, _) => it,
        }
    }
}

/// Collects the candidates of a server.
pub(super) fn candidates<'s>(
    server: &'s Server,
    variables: &Variables,
) -> Vec<Candidate<Place<'s>>> {
    let mut collector = Collector {
        variables,
        found: Vec::new(),
    };
    let every = CandidatePaths {
        texts: vec![String::new()],
        is_open: true,
        ..CandidatePaths::default()
    };
    collector.body(&server.body, None, &Ok(every));
    let one = |path: &String, is_open| {
        Ok(CandidatePaths {
            texts: vec![path.clone()],
            is_open,
            ..CandidatePaths::default()
        })
    };
    for (path, location) in &server.exact {
        let placed = PlacedLocation::Exact(location);
        collector.body(&location.body, Some(placed), &one(path, false));
    }
    for (path, prefix) in &server.prefixes {
        let placed = PlacedLocation::Prefix(&prefix.location, prefix.is_final);
        collector.body(&prefix.location.body, Some(placed), &one(path, true));
    }
    for (number, (pattern, location)) in server.patterns.iter().enumerate() {
        let placed = PlacedLocation::Pattern(location, number);
        collector.body(&location.body, Some(placed), &CandidatePaths::of(pattern));
    }
    collector.found
}

type Paths = Result<CandidatePaths, RowError>;

struct Collector<'v, 's> {
    variables: &'v Variables,
    found: Vec<Candidate<Place<'s>>>,
}

impl<'s> Collector<'_, 's> {
    fn body(&mut self, body: &'s Body, location: Option<PlacedLocation<'s>>, paths: &Paths) {
        for (number, instruction) in body.instructions.iter().enumerate() {
            self.instruction(
                instruction,
                Place {
                    location,
                    number,
                    map: None,
                },
                paths,
            );
        }
    }

    fn instruction(&mut self, instruction: &'s Instruction, place: Place<'s>, paths: &Paths) {
        let line = instruction.line;
        let mut add = |paths| {
            self.found.push(Candidate { line, paths, place });
        };
        match &instruction.kind {
            InstructionKind::Break => {}
            InstructionKind::Return { status, text } => {
                let variable = text.as_deref().and_then(only_variable);
                let map = variable.filter(|name| self.variables.maps.contains_key(*name));
                match (map, status) {
                    (Some(name), _) => self.values(name, place),
                    (None, None | Some(300..400 | 410)) => add(paths.clone()),
                    _ => {}
                }
            }
            InstructionKind::Rewrite { pattern, .. } => {
                let own = CandidatePaths::of(pattern);
                let is_all = own.as_ref().is_ok_and(CandidatePaths::are_all);
                add(if is_all { paths.clone() } else { own });
            }
            InstructionKind::If(condition, body) => {
                let narrowed = match condition {
                    Condition::IsSet(name) => {
                        if self.variables.maps.contains_key(name) {
                            return self.values(name, place);
                        }
                        paths.clone()
                    }
                    Condition::IsPath(path) => Ok(CandidatePaths {
                        texts: vec![path.clone()],
                        ..CandidatePaths::default()
                    }),
                    Condition::Matches(pattern) => CandidatePaths::of(pattern),
                    Condition::Unknown(_) => paths.clone(),
                };
                for instruction in &body.instructions {
                    self.instruction(instruction, place, &narrowed);
                }
            }
        }
    }

    /// Adds the keys of a map, whose values are sent.
    fn values(&mut self, name: &'s str, place: Place<'s>) {
        let Some(map) = self.variables.maps.get(name) else {
            return;
        };
        let exact = map.exact.values().map(|value| {
            let texts = vec![value.key.clone()];
            let paths = CandidatePaths {
                texts,
                ..CandidatePaths::default()
            };
            (value, Ok(paths))
        });
        let patterns = map.patterns.iter();
        let patterns = patterns.map(|(pattern, value)| (value, CandidatePaths::of(pattern)));
        let default = map.default.iter().map(|value| (value, Err(MANY_PATHS)));
        for (value, paths) in exact.chain(patterns).chain(default) {
            if !matches!(&*value.text, "" | "0") {
                self.found.push(Candidate {
                    line: value.line,
                    paths,
                    place: Place {
                        map: Some(name),
                        ..place
                    },
                });
            }
        }
    }
}
