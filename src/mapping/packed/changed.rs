//! The next version of a site: the entries of unchanged pieces are copied from the version before,
//! those of new pieces come from a draft.
//!
//! The result is the same as if the site had been built from scratch, except for the numbers of
//! shapes. Nothing is looked up, hashed or sorted twice.

use std::ops::Range;

use super::arena::{Shift, Text, index};
use super::codes::{CodeKind, Codes, Listed};
use super::draft::Draft;
use super::index::ChangedIndex;
use super::lines::Lines;
use super::moves::Moves;
use super::notes::Notes;
use super::pieces::{Part, PartedDocument, Piece, Pieces};
use super::record::Record;
use super::shapes::DraftShapes;
use super::site::{Head, Site, Stores};
use super::targets::Targets;

/// A site, and its new parts.
pub(crate) struct ChangedSite {
    pub(crate) site: Site,
    /// The numbers of the entries that were added.
    pub(crate) added: Vec<u32>,
    /// The numbers of the listed codes that were added, in the order of those of the draft.
    pub(crate) added_codes: Vec<u32>,
    /// The number of the first listed code of each piece, or of the next one that has any.
    pub(crate) code_starts: Vec<usize>,
}

/// Entries that are copied together.
struct Run {
    /// The number of the piece, if it is known.
    known: Option<usize>,
    /// Their targets in the version before, or in the draft.
    targets: Range<Text>,
    shift: Shift,
    /// The file and the line in which they begin.
    file: u32,
    line: u32,
}

/// The targets of the pieces that are copied: few ranges, because most pieces stay next to each other.
#[derive(Default)]
struct KeptTargets(Vec<(Range<Text>, Shift)>);

impl KeptTargets {
    /// Adds those of the next known piece.
    fn push(&mut self, run: &Run) {
        match self.0.last_mut() {
            Some((last, shift)) if last.end == run.targets.start && *shift == run.shift => {
                last.end = run.targets.end;
            }
            _ => self.0.push((run.targets.clone(), run.shift)),
        }
    }

    /// Returns the distance by which a target moves, if it is kept.
    fn shift_of(&self, target: Text) -> Option<Shift> {
        let after = self
            .0
            .partition_point(|(targets, _)| targets.start <= target);
        let (targets, shift) = self.0.get(after.checked_sub(1)?)?;
        (target < targets.end).then_some(*shift)
    }
}

impl Site {
    /// Returns its next version. Codes of the draft that are listed already are listed once more,
    /// but not found: the caller must check whether there are any.
    pub(crate) fn changed(
        &self,
        head: Head,
        draft: &mut Draft,
        documents: &[PartedDocument],
    ) -> ChangedSite {
        draft.list_codes(head.scheme);
        // The targets that are copied have numbers of this version.
        let moves = draft.use_hosts(self.targets.shared_hosts());
        let (targets, runs, pieces) = self.copy_targets(draft, documents, &moves);
        let (mut shapes, mut lines) = (DraftShapes::default(), Lines::default());
        let ChangedIndex {
            index: records,
            kept_numbers,
            added_numbers,
        } = self.copy_records(&runs, draft, &mut shapes, &mut lines);

        let (mut codes, mut notes) = (Codes::default(), Notes::default());
        let (mut added_codes, mut code_starts) = (Vec::new(), Vec::new());
        let mut code_numbers = vec![None; self.codes.listed().len()];
        let mut listed_end = 0;
        for run in &runs {
            code_starts.push(codes.listed().len());
            if run.known.is_some() {
                let numbers = self.listed_after(listed_end, &run.targets);
                listed_end = numbers.end;
                for (new, old) in (codes.listed().len()..).zip(numbers.clone()) {
                    code_numbers[old] = Some(index(new));
                }
                // The codes of a kept piece lead to its entries.
                codes.copy(&self.codes, numbers, |entry| kept_numbers.of(entry));
                notes.copy(&self.notes, run.targets.clone(), run.shift);
                continue;
            }
            for code in draft.codes_between(&run.targets) {
                let target = code.owner.target.shifted(run.shift);
                let entry = records.number_of(code.owner.key, target);
                let entry = entry.expect("codes belong to entries of their draft");
                let text = draft.code_texts.get(code.text);
                added_codes.push(match code.kind {
                    CodeKind::Auto => codes.list(head.scheme.code(text).as_str(), entry, code.kind),
                    _ => codes.list(text, entry, code.kind),
                });
            }
            notes.copy(&draft.notes, run.targets.clone(), run.shift);
        }
        codes.find_as(&self.codes, |number| code_numbers[number as usize]);
        for &number in &added_codes {
            codes.make_found(number);
        }
        notes.complete();
        lines.shrink();
        let stores = Stores {
            targets,
            shapes: shapes.complete(),
            lines,
            index: records,
            codes,
            notes,
        };
        ChangedSite {
            site: Self::of(head, stores, pieces),
            added: added_numbers,
            added_codes,
            code_starts,
        }
    }

    /// Copies the targets of all pieces in their new order.
    fn copy_targets(
        &self,
        draft: &Draft,
        documents: &[PartedDocument],
        moves: &Moves,
    ) -> (Targets, Vec<Run>, Pieces) {
        let mut targets = Targets::with_hosts(draft.targets.shared_hosts());
        let parts = documents.iter().flat_map(|document| &document.parts);
        let starts = parts.filter_map(|part| match part {
            Part::New(piece) => Some(moves.of(piece.start)),
            Part::Known { .. } => None,
        });
        // The new pieces of a draft follow each other.
        let mut ends = starts.skip(1).chain([draft.targets.end()]);
        let (mut runs, mut pieces) = (Vec::new(), Pieces::default());
        for document in documents {
            pieces.begin(document.file, document.defaults);
            for part in &document.parts {
                let (known, from, old) = match part {
                    Part::Known { number, .. } => {
                        (Some(*number), &self.targets, self.pieces().piece(*number))
                    }
                    Part::New(piece) => (None, &draft.targets, piece),
                };
                let (places, line) = match part {
                    Part::Known { number, line } => (old.start..self.piece_end(*number), *line),
                    Part::New(piece) => {
                        let start = moves.of(piece.start);
                        (start..ends.next().unwrap_or(start), piece.line)
                    }
                };
                let shift = targets.copy(from, places.clone());
                pieces.push(Piece {
                    start: places.start.shifted(shift),
                    line,
                    ..old.clone()
                });
                runs.push(Run {
                    known,
                    targets: places,
                    shift,
                    file: document.file,
                    line,
                });
            }
        }
        targets.complete();
        (targets, runs, pieces)
    }

    fn copy_records(
        &self,
        runs: &[Run],
        draft: &Draft,
        shapes: &mut DraftShapes,
        lines: &mut Lines,
    ) -> ChangedIndex {
        let mut block_of = draft.lines.in_order();
        let mut added = Vec::with_capacity(draft.records.len());
        let mut of_draft = &draft.records[..];
        let mut kept = KeptTargets::default();
        for run in runs {
            lines.begin(run.targets.start.shifted(run.shift), run.line, run.file);
            if run.known.is_some() {
                kept.push(run);
                continue;
            }
            let count = of_draft.partition_point(|it| { it.target } < run.targets.end);
            let (own, rest) = of_draft.split_at(count);
            of_draft = rest;
            for &record in own {
                let block = block_of(record.target);
                let line = block.line + u32::from(record.line);
                let target = { record.target }.shifted(run.shift);
                let number = shapes.number(*draft.shapes.of(&record));
                added.push(Record {
                    target,
                    line: lines.add(target, line, run.file),
                    shape: shapes.assign(target, number),
                    ..record
                });
            }
        }
        let mut numbers = vec![None; self.shapes.all().len()];
        let keep = |record: Record| {
            let target = { record.target }.shifted(kept.shift_of(record.target)?);
            let number = numbers[self.shapes.number_of(&record)]
                .get_or_insert_with(|| shapes.number(*self.shapes.of(&record)));
            Some(Record {
                target,
                shape: shapes.assign(target, *number),
                ..record
            })
        };
        self.index.changed(keep, added)
    }

    /// Returns the numbers of the listed codes of the entries with some targets.
    pub(crate) fn listed_between(&self, targets: &Range<Text>) -> Range<usize> {
        self.listed_after(0, targets)
    }

    /// Does the same for entries of which no codes are before a number. It takes few steps if they follow
    /// soon.
    fn listed_after(&self, first: usize, targets: &Range<Text>) -> Range<usize> {
        let all = self.codes.listed();
        let before = |first: usize, end: Text| {
            let is_before = |it: &Listed| { self.index.record(it.entry).target } < end;
            let mut reach = 1;
            while all.get(first + reach).is_some_and(is_before) {
                reach *= 2;
            }
            let near = &all[first..all.len().min(first + reach)];
            first + near.partition_point(is_before)
        };
        let start = before(first, targets.start);
        start..before(start, targets.end)
    }

    /// Returns the targets of the entries of a piece.
    pub(crate) fn targets_of_piece(&self, number: usize) -> Range<Text> {
        self.pieces().piece(number).start..self.piece_end(number)
    }

    /// Returns the end of the targets of a piece.
    fn piece_end(&self, number: usize) -> Text {
        match number + 1 < self.pieces().len() {
            true => self.pieces().piece(number + 1).start,
            false => self.targets.end(),
        }
    }
}
