//! Links whose promise is broken, and the version of the table that made it.

use std::fmt;

use crate::mapping::compare::compared::Lost;
use crate::mapping::packed::{Entry, Site};
use crate::mapping::value::Diagnostic;

/// A code of a site, identified as requests find it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    pub(crate) address: String,
    pub(crate) code: String,
}

impl Link {
    pub(crate) fn new(site: &Site, code: &str) -> Self {
        Self {
            address: site.address(),
            code: code.to_owned(),
        }
    }
}

/// A promise that a table breaks.
#[derive(Debug)]
pub struct Broken {
    /// The promised link.
    pub link: Link,
    /// The error, at a place of the table that breaks the promise, naming where the promise was
    /// made.
    pub diagnostic: Diagnostic,
}

/// The version of a table that made a promise.
#[derive(Debug)]
pub struct Origin {
    /// The name of the commit, which precedes its file names.
    pub commit: String,
    /// The date of the commit.
    pub day: String,
}

/// Displays what a code was, and where.
pub(crate) struct Former<'t, 'o> {
    entry: Entry<'t>,
    /// What it was.
    state: String,
    origin: &'o Origin,
}

impl<'t, 'o> Former<'t, 'o> {
    /// Returns what an entry of an old table was. If it was taken down, its target is not named.
    pub(crate) fn new(entry: Entry<'t>, origin: &'o Origin, is_taken_down: bool) -> Self {
        let state = match entry.target() {
            Some(_) if is_taken_down => "it has been taken down".to_owned(),
            Some(target) => format!("it led to {target}"),
            None => "it was retired".to_owned(),
        };
        Self {
            entry,
            state,
            origin,
        }
    }

    /// Returns it with what was lost of where it led.
    pub(super) fn with_lost(self, lost: &Lost<'_>) -> Self {
        let state = match lost {
            Lost::Target(url) => format!("it led to {url}"),
            Lost::TargetFor(accept, url) => format!("it led to {url} for {accept}"),
            Lost::Paths(url) => format!("paths below it led to {url}"),
            Lost::PathsFor(accept, url) => format!("paths below it led to {url} for {accept}"),
        };
        Self { state, ..self }
    }
}

impl fmt::Display for Former<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.entry.place();
        let Origin { commit, day } = self.origin;
        write!(
            f,
            "{} ({commit}:{}:{}, {day})",
            self.state, place.file, place.position.line
        )
    }
}
