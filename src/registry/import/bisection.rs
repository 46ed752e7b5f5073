//! Bisection: finds the entries to reject, and writes the table's file with the others.
//!
//! All are tried together, and usually the table is valid with all of them. If it is not, halves
//! are tried until each entry at fault is known, in their original order: of entries that lead to
//! each other in a loop, it is the one that closes it.
//! Then entries that shadow older entries of the table are refused, unless that is allowed.
//! Invariant: the entries that are kept were proved together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::intake::Batch;
use crate::edit::{self, NewEntry};
use crate::mapping::{Diagnostic, Site, SourceFile, Timestamp};
use crate::registry::decide::{Base, MayShadow, RegistrationRefusal, Shadowing};

/// How many entries at fault are searched for: each step of the binary search compiles the table.
const MOST_AT_FAULT: usize = 20;

/// A document, and its table.
pub(crate) struct Bisection<'s> {
    pub(crate) before: &'s Base<'s>,
    pub(crate) site: &'s Site,
    pub(crate) document: &'s SourceFile,
    pub(crate) now: Timestamp,
    /// Which entries of the table may be shadowed.
    pub(crate) may_shadow: &'s MayShadow,
}

/// The result of a bisection.
pub(crate) struct Bisected {
    /// The document with the entries that were kept.
    pub(crate) file: SourceFile,
    /// The warnings that the entries cause.
    pub(crate) warnings: Vec<Diagnostic>,
    shadowings: Vec<Shadowing>,
}

impl Bisection<'_> {
    /// Keeps the entries with which the table is valid; refuses the others.
    ///
    /// # Errors
    ///
    /// If no entries can be inserted, if they exceed the size limit, or if too many are at fault.
    pub(super) fn run(&self, batch: &mut Batch) -> Result<Bisected, RegistrationRefusal> {
        loop {
            let bisected = self.reject_errors(batch)?;
            let mut refusals = BTreeMap::new();
            for shadowing in &bisected.shadowings {
                if let Some(refusal) = shadowing.refusal(self.may_shadow) {
                    refusals.entry(shadowing.number).or_insert(refusal);
                }
            }
            if refusals.is_empty() {
                return Ok(bisected);
            }
            batch.refuse_all(refusals);
        }
    }

    /// Keeps the entries with which the table has no errors.
    fn reject_errors(&self, batch: &mut Batch) -> Result<Bisected, RegistrationRefusal> {
        let (mut kept, mut at_fault) = (0, 0);
        let mut parts = vec![batch.entries.len()];
        let mut bisected = None;
        while let Some(part) = parts.pop() {
            match self.prove(&batch.entries[..kept + part]) {
                Ok(proved) => {
                    kept += part;
                    bisected = Some(proved);
                }
                Err(
                    refusal @ (RegistrationRefusal::Unsound { .. }
                    | RegistrationRefusal::SideEffects),
                ) if part > 0 && at_fault < MOST_AT_FAULT => {
                    if part == 1 {
                        at_fault += 1;
                        batch.refuse(kept, refusal);
                    } else {
                        // The first half is tried next.
                        parts.extend([part - part / 2, part / 2]);
                    }
                }
                Err(refusal) => return Err(refusal),
            }
        }
        bisected.map_or_else(|| self.prove(&[]), Ok)
    }

    fn prove(&self, entries: &[NewEntry]) -> Result<Bisected, RegistrationRefusal> {
        let text = edit::insert(self.document, entries)
            .map_err(|problems| RegistrationRefusal::CannotInsertAny { problems })?;
        let file = SourceFile {
            path: Arc::clone(&self.document.path),
            bytes: text.into_bytes(),
        };
        let added: Vec<_> = entries.iter().map(|entry| (self.site, entry)).collect();
        let proof = (self.before).prove(std::slice::from_ref(&file), &added, self.now)?;
        Ok(Bisected {
            file,
            warnings: proof.warnings,
            shadowings: proof.shadowings,
        })
    }
}
