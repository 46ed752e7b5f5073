//! Interference: other directives that decide some of the paths below a code, which only those of accepted
//! links may do.

use std::collections::HashSet;

use super::candidates::{Place, PlacedLocation};
use super::instructions::{Condition, Instruction, InstructionKind};
use super::maps::Value;
use super::server::{INSIDE, Location, Server};
use super::variables::Variables;
use crate::exchange::read::configuration::links::{Candidate, covered};
use crate::exchange::read::configuration::pattern::Pattern;
use crate::exchange::read::configuration::pattern_index::TOO_MANY;
use crate::exchange::read::rows::RowError;

/// Finds such directives of a server.
pub(super) struct Interference<'a> {
    pub(super) server: &'a Server,
    pub(super) variables: &'a Variables,
    /// The lines that decide only paths of accepted links.
    pub(super) whole: &'a HashSet<usize>,
}

impl Interference<'_> {
    /// Checks that only lines of accepted links decide some of the paths of a candidate that begin with a text.
    pub(super) fn check(
        &self,
        candidate: &Candidate<Place<'_>>,
        start: &str,
    ) -> Result<(), RowError> {
        self.interferes(candidate.place, start)?;
        self.keys_before(candidate, start)
    }

    /// Checks that no other key of the same map that precedes this one decides some of the paths that
    /// begin with a text.
    fn keys_before(&self, candidate: &Candidate<Place<'_>>, start: &str) -> Result<(), RowError> {
        let map = candidate.place.map;
        let Some(map) = map.and_then(|name| self.variables.maps.get(name)) else {
            return Ok(());
        };
        let values = map.below(start).ok_or(TOO_MANY)?;
        let before = values
            .into_iter()
            .filter(|it| it.is_exact || it.line < candidate.line);
        self.keys_are_whole(before.filter(|it| it.line != candidate.line), start)
    }

    fn keys_are_whole<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
        start: &str,
    ) -> Result<(), RowError> {
        let is_whole = |value: &Value| {
            let is_inside = !value.is_exact || value.key.starts_with(start);
            self.whole.contains(&value.line) && is_inside
        };
        match values.into_iter().find(|value| !is_whole(value)) {
            Some(value) => Err(covered(value.line)),
            None => Ok(()),
        }
    }

    /// Checks that no other directive decides some of the paths that begin with a text.
    fn interferes(&self, place: Place<'_>, start: &str) -> Result<(), RowError> {
        let server = self.server;
        let end = match place.location {
            Some(_) => usize::MAX,
            None => place.number,
        };
        let before = server.body.before_below(end, start).ok_or(TOO_MANY)?;
        self.all_whole(&before, start)?;
        let Some(placed) = place.location else {
            return Ok(());
        };
        let own = &placed.location().body;
        let before = own.before_below(place.number, start).ok_or(TOO_MANY)?;
        self.all_whole(&before, start)?;
        let inside = server.exact.range(start.to_owned()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(start));
        for (_, location) in inside {
            self.is_whole(location)?;
        }
        let inside = server.prefixes.range(start.to_owned()..);
        let inside = inside.take_while(|(path, _)| path.starts_with(start));
        for (path, prefix) in inside {
            // nginx adds a slash before it compares expressions.
            let adds_slash = prefix.location.is_passed && path.len() > start.len();
            let is_before = prefix.is_final || adds_slash;
            if is_before || matches!(placed, PlacedLocation::Prefix(..)) {
                let is_own = std::ptr::eq(&raw const prefix.location, placed.location());
                if !is_own {
                    self.is_whole(&prefix.location)?;
                }
            }
        }
        let around = |path: &str| start.starts_with(path) || path.starts_with(start);
        let around = server.prefixes.iter().filter(|(path, _)| around(path));
        let mut around = around.map(|(_, prefix)| &prefix.location);
        if matches!(placed, PlacedLocation::Pattern(..))
            && around.any(|it| it.has_inner_before_below(start))
        {
            return Err(INSIDE);
        }
        let end = match placed {
            PlacedLocation::Prefix(_, true) => 0,
            PlacedLocation::Pattern(_, number) => number,
            _ => usize::MAX,
        };
        for location in server.patterns_below(end, start).ok_or(TOO_MANY)? {
            self.is_whole(location)?;
        }
        Ok(())
    }

    /// Checks that a location is only for accepted links.
    fn is_whole(&self, location: &Location) -> Result<(), RowError> {
        match location.body.instructions.first() {
            Some(first) if self.whole.contains(&first.line) => Ok(()),
            Some(first) => Err(covered(first.line)),
            None => Err(RowError::NoLink(
                "a location below has directives of its own",
            )),
        }
    }

    /// Checks that directives decide only paths of accepted links, as far as they begin with a text.
    fn all_whole(&self, directives: &[&Instruction], start: &str) -> Result<(), RowError> {
        for directive in directives {
            let line = directive.line;
            let may_apply = |pattern: &Pattern| pattern.may_match_below(start.as_bytes());
            match &directive.kind {
                _ if self.whole.contains(&line) => {}
                InstructionKind::Rewrite { pattern, .. } if !may_apply(pattern) => {}
                InstructionKind::If(Condition::IsPath(path), _) if !path.starts_with(start) => {}
                InstructionKind::If(Condition::Matches(pattern), _) if !may_apply(pattern) => {}
                InstructionKind::If(Condition::IsSet(name), _) => {
                    let map = self.variables.maps.get(name);
                    let map = map.ok_or_else(|| covered(line))?;
                    let values = map.below(start).ok_or_else(|| covered(line))?;
                    self.keys_are_whole(values, start)?;
                }
                InstructionKind::If(_, body) => {
                    let inner: Vec<_> = body.instructions.iter().collect();
                    self.all_whole(&inner, start)?;
                }
                _ => return Err(covered(line)),
            }
        }
        Ok(())
    }
}
