//! Bisection: which of some entries can be added to a table, and the proof that they can.
//!
//! All are tried together, and usually the table is valid with all of them. If it is not, halves
//! are tried until each invalid entry is known, in their original order: of entries that form a
//! loop, it is the one that closes it. Loops consist of entries that lead to short links of the
//! table, which are few, so halves of these are tried before halves of all. Then entries that
//! shadow older entries of the table are refused, unless that is allowed. Invariant: the accepted
//! entries were proved together.

use std::collections::{BTreeMap, BTreeSet};

use super::addition::Addition;
use super::base::Base;
use super::insertion::insert;
use super::proof::{Proof, prove};
use super::refusal::RegistrationRefusal;
use super::request::MayShadow;
use crate::mapping::Timestamp;
use crate::registry::text::TextFile;

/// The limit of a bisection: each proof compiles the table.
pub(crate) enum Effort {
    /// Until at least one entry is decided, and then at most for some more proofs. Each error is
    /// attributed to an entry.
    AtMost {
        /// The number of proofs.
        proofs: u32,
        /// Whether another entry is already decided.
        is_any_known: bool,
    },
    /// Until each entry is accepted or refused. Too many invalid entries, or an error of the whole,
    /// fail the bisection.
    Complete {
        /// The maximum number of invalid entries.
        faults: usize,
    },
}

/// Entries to be added to a table.
pub(crate) struct Bisection<'b, 'f> {
    pub(crate) base: &'b Base<'f>,
    pub(crate) additions: &'b [Addition<'b>],
    /// Which entries of the table each may shadow.
    pub(crate) may_shadow: &'b dyn Fn(usize) -> &'b MayShadow,
    /// The maximum size of the table's text, in bytes.
    pub(crate) max_bytes: u64,
    pub(crate) now: Timestamp,
}

/// The result of a bisection.
#[derive(Default)]
pub(crate) struct Bisected {
    /// The entries that can be added, by number, and their proof.
    pub(crate) accepted: Option<Accepted>,
    /// The entries that are refused, by number.
    pub(crate) refused: BTreeMap<usize, RegistrationRefusal>,
    /// How many proofs were tried.
    pub(crate) proofs: u32,
}

/// Entries that can be added together.
pub(crate) struct Accepted {
    /// Their numbers, in order.
    pub(crate) numbers: Vec<usize>,
    /// The files that change, or are new, with the entries in them.
    pub(crate) written: Vec<TextFile>,
    /// The proof; its shadowings refer to positions in `numbers`.
    pub(crate) proof: Proof,
}

impl Accepted {
    /// Returns the trailers of a commit that state that the shadowing by an entry is intended, by
    /// the entry's number.
    pub(crate) fn trailers(&self, number: usize) -> BTreeSet<String> {
        let shadowings = self.proof.shadowings.iter();
        let own = shadowings.filter(|it| self.numbers[it.number] == number);
        own.map(|it| it.trailer.clone()).collect()
    }
}

impl Bisection<'_, '_> {
    /// Accepts the entries with which the table is valid, and refuses the others; entries beyond
    /// the effort are neither.
    ///
    /// # Errors
    ///
    /// If a complete bisection is not possible.
    pub(crate) fn run(&self, effort: &Effort) -> Result<Bisected, RegistrationRefusal> {
        let mut bisected = Bisected::default();
        let mut candidates: Vec<_> = (0..self.additions.len()).collect();
        loop {
            self.reject_errors(&candidates, effort, &mut bisected)?;
            let Some(accepted) = &bisected.accepted else {
                return Ok(bisected);
            };
            let mut refused = BTreeMap::new();
            for shadowing in &accepted.proof.shadowings {
                let number = accepted.numbers[shadowing.number];
                if let Some(refusal) = shadowing.refusal((self.may_shadow)(number)) {
                    refused.entry(number).or_insert(refusal);
                }
            }
            if refused.is_empty() {
                return Ok(bisected);
            }
            candidates.clone_from(&accepted.numbers);
            candidates.retain(|number| !refused.contains_key(number));
            bisected.accepted = None;
            bisected.refused.extend(refused);
        }
    }

    /// Accepts those of some entries with which the table has no errors.
    fn reject_errors(
        &self,
        candidates: &[usize],
        effort: &Effort,
        bisected: &mut Bisected,
    ) -> Result<(), RegistrationRefusal> {
        let mut faults = 0;
        let is_chained = |number: &&usize| self.additions[**number].leads_back(self.base.table());
        let chained: Vec<_> = candidates.iter().filter(is_chained).copied().collect();
        if chained.is_empty() || chained.len() == candidates.len() {
            return self.halve(candidates, effort, &mut faults, bisected);
        }
        bisected.proofs += 1;
        match self.prove(candidates.to_vec()) {
            Ok(accepted) => bisected.accepted = Some(accepted),
            Err(refusal) if !effort.blames_entries(&refusal, faults) => return Err(refusal),
            Err(_) => {
                self.halve(&chained, effort, &mut faults, bisected)?;
                bisected.accepted = None;
                let mut rest = candidates.to_vec();
                rest.retain(|number| !bisected.refused.contains_key(number));
                self.halve(&rest, effort, &mut faults, bisected)?;
            }
        }
        Ok(())
    }

    /// Accepts those of some entries with which the table has no errors, by halves, and counts the
    /// others as faults.
    fn halve(
        &self,
        candidates: &[usize],
        effort: &Effort,
        faults: &mut usize,
        bisected: &mut Bisected,
    ) -> Result<(), RegistrationRefusal> {
        let mut parts = vec![candidates];
        while let Some(part) = parts.pop().filter(|_| effort.suffices(bisected)) {
            if part.is_empty() {
                continue;
            }
            let accepted = bisected.accepted.as_ref();
            let accepted = accepted.map_or(&[][..], |accepted| &accepted.numbers);
            let numbers = [accepted, part].concat();
            bisected.proofs += 1;
            match (self.prove(numbers), part) {
                (Ok(accepted), _) => bisected.accepted = Some(accepted),
                (Err(refusal), _) if !effort.blames_entries(&refusal, *faults) => {
                    return Err(refusal);
                }
                (Err(refusal), [only]) => {
                    *faults += 1;
                    bisected.refused.insert(*only, refusal);
                }
                (Err(_), _) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    // The first half is tried next.
                    parts.extend([second, first]);
                }
            }
        }
        Ok(())
    }

    fn prove(&self, numbers: Vec<usize>) -> Result<Accepted, RegistrationRefusal> {
        let additions: Vec<_> = numbers.iter().map(|it| &self.additions[*it]).collect();
        let written = insert(self.base, &additions)?;
        let proof = prove(self.base, &written, &additions, self.max_bytes, self.now)?;
        Ok(Accepted {
            numbers,
            written,
            proof,
        })
    }
}

impl Effort {
    fn suffices(&self, bisected: &Bisected) -> bool {
        match self {
            Self::Complete { .. } => true,
            Self::AtMost {
                proofs,
                is_any_known,
            } => {
                let is_any_known =
                    *is_any_known || bisected.accepted.is_some() || !bisected.refused.is_empty();
                bisected.proofs < *proofs || !is_any_known
            }
        }
    }

    /// Returns whether a refusal is attributed to single entries, given the number already found.
    fn blames_entries(&self, refusal: &RegistrationRefusal, found: usize) -> bool {
        let is_of_entries = matches!(
            refusal,
            RegistrationRefusal::Unsound { .. } | RegistrationRefusal::SideEffects
        );
        match self {
            Self::AtMost { .. } => true,
            Self::Complete { faults } => is_of_entries && found < *faults,
        }
    }
}
