//! The links that are accepted, by their paths, and the rules that are not.

use std::collections::HashMap;

use super::answer::Location;
use crate::exchange::read::rows::{Deviation, ImportedLink, ImportedRow, LinkOrigin, RowError};
use crate::mapping::{Forward, OwnedVariant, WrittenRetirement};

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Single paths.
    Path,
    /// All paths below some.
    Below,
}

/// What a link answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claim {
    Redirect(Location, Forward),
    /// The code itself leads to this location, and paths below it are appended to this URL.
    Below(Location, String),
    /// The code leads to this location, and requests for some media types elsewhere.
    Variants(Variants),
    Gone,
}

/// An entry with variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variants {
    pub(super) location: Location,
    pub(super) forward: Forward,
    pub(super) below: Option<String>,
    pub(super) variants: Vec<OwnedVariant>,
    pub(super) deviations: Vec<Deviation>,
}

impl Claim {
    /// Returns whether paths below the code are answered.
    fn takes_below(&self) -> bool {
        match self {
            Self::Redirect(_, forward) => forward.takes_below(),
            Self::Below(..) => true,
            Self::Variants(it) => it.below.is_some() || it.forward.takes_below(),
            Self::Gone => false,
        }
    }
}

const ELSEWHERE: RowError =
    RowError::NoLink("the code itself has no link to which this could be added (below)");

/// The links that are accepted, and the rules that are not.
pub(super) struct Claims<'o> {
    origin: LinkOrigin<'o>,
    rows: Vec<Option<ImportedRow>>,
    /// The claim of each code, and its row.
    accepted: HashMap<String, (usize, Claim)>,
}

impl<'o> Claims<'o> {
    pub(super) fn new(origin: LinkOrigin<'o>) -> Self {
        Self {
            origin,
            rows: Vec::new(),
            accepted: HashMap::new(),
        }
    }

    /// Accepts a link whose code is this path, unless it is known; a link for more replaces it.
    pub(super) fn accept(&mut self, line: usize, path: &str, claim: Claim) -> Result<(), RowError> {
        let code = self.origin.code_of_decoded_path(path)?;
        if let Claim::Below(own, below) = claim {
            return self.accept_below(&code, own, below);
        }
        if let Some((row, before)) = self.accepted.get(&code) {
            match (before, &claim) {
                (
                    Claim::Redirect(..) | Claim::Variants(_),
                    Claim::Redirect(..) | Claim::Variants(_),
                ) if claim.takes_below() && !before.takes_below() => {
                    self.rows[*row] = None;
                }
                _ => return Ok(()),
            }
        }
        let link = link(code.clone(), &claim).checked()?;
        self.accepted.insert(code, (self.rows.len(), claim));
        self.rows.push(Some(ImportedRow {
            line,
            link: Ok(link),
        }));
        Ok(())
    }

    /// Adds a URL for paths below a code to its link.
    fn accept_below(&mut self, code: &str, own: Location, url: String) -> Result<(), RowError> {
        let (row, claim) = self.accepted.get_mut(code).ok_or(ELSEWHERE)?;
        match claim {
            Claim::Below(..) => return Ok(()),
            Claim::Redirect(location, forward) if *location == own && !forward.path() => {}
            Claim::Variants(it) if it.location == own && !it.forward.path() => {}
            Claim::Redirect(..) | Claim::Variants(..) | Claim::Gone => return Err(ELSEWHERE),
        }
        let Some(ImportedRow { link: Ok(link), .. }) = &mut self.rows[*row] else {
            return Err(ELSEWHERE);
        };
        let changed = ImportedLink {
            below: Some(url.clone()),
            ..link.clone()
        };
        *link = changed.checked()?;
        *claim = Claim::Below(own, url);
        Ok(())
    }

    /// Refuses a rule, or a part of it.
    pub(super) fn refuse(&mut self, line: usize, error: RowError) {
        self.rows.push(Some(ImportedRow {
            line,
            link: Err(error),
        }));
    }

    /// Returns all rows, in the order of their lines.
    pub(super) fn rows(self) -> Vec<ImportedRow> {
        let mut rows: Vec<_> = self.rows.into_iter().flatten().collect();
        rows.sort_by_key(|row| row.line);
        rows
    }
}

fn link(code: String, claim: &Claim) -> ImportedLink {
    let mut link = ImportedLink {
        code: Some(code),
        ..ImportedLink::default()
    };
    match claim {
        Claim::Redirect(location, forward) => {
            link.url = Some(location.url.clone());
            link.status = Some(location.status);
            link.forward = Some(*forward);
        }
        Claim::Below(location, below) => {
            link.url = Some(location.url.clone());
            link.status = Some(location.status);
            link.below = Some(below.clone());
        }
        Claim::Variants(it) => {
            link.url = Some(it.location.url.clone());
            link.status = Some(it.location.status);
            link.forward = Some(it.forward);
            link.below.clone_from(&it.below);
            link.variants.clone_from(&it.variants);
            link.deviations.clone_from(&it.deviations);
        }
        Claim::Gone => link.retired = Some(WrittenRetirement::Always),
    }
    link
}
