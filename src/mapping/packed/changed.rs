//! The next version of a site: the entries of unchanged pieces are copied from the version before,
//! those of new pieces come from a draft.
//!
//! The result is the same as if the site had been built from nothing, except for the numbers of
//! shapes. Nothing is looked up, hashed or sorted that was before.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use super::arena::{Arena, Shift, Text, index};
use super::codes::{CodeKind, Codes};
use super::draft::Draft;
use super::index::ChangedIndex;
use super::notes::Notes;
use super::pieces::{Part, PartedDocument, Piece, Pieces};
use super::record::{Record, Shapes};
use super::site::{Head, Site, Stores};

/// A site, and what is new in it.
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
    line: u32,
    old_line: u32,
}

impl Run {
    fn moved(&self, record: Record, shape: u32) -> Record {
        Record {
            target: { record.target }.shifted(self.shift),
            line: record
                .line
                .wrapping_sub(self.old_line)
                .wrapping_add(self.line),
            shape,
            ..record
        }
    }
}

impl Site {
    /// Returns its next version. Codes of the draft that are listed already are listed once more, but
    /// not found: whether there are any is for the caller to find out.
    pub(crate) fn changed(
        &self,
        head: Head,
        draft: &mut Draft,
        documents: &[PartedDocument],
    ) -> ChangedSite {
        draft.list_codes(head.scheme);
        let mut targets = Arena::default();
        let (runs, pieces) = self.copy_targets(&mut targets, draft, documents);
        let mut shapes = Shapes::default();
        let ChangedIndex {
            index: records,
            kept_numbers,
            added_numbers,
        } = self.copy_records(&runs, draft, documents, &mut shapes);

        let (mut codes, mut notes) = (Codes::default(), Notes::default());
        let (mut added_codes, mut code_starts) = (Vec::new(), Vec::new());
        let mut code_numbers = vec![None; self.codes.listed().len()];
        for run in &runs {
            code_starts.push(codes.listed().len());
            if run.known.is_some() {
                let numbers = self.listed_between(&run.targets);
                for (new, old) in (codes.listed().len()..).zip(numbers.clone()) {
                    code_numbers[old] = Some(index(new));
                }
                let kept = |entry: u32| kept_numbers[entry as usize];
                codes.copy(&self.codes, numbers, |entry| {
                    kept(entry).expect("the codes of a kept piece lead to its entries")
                });
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
        let stores = Stores {
            targets,
            shapes: shapes.into_all(),
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
        targets: &mut Arena,
        draft: &Draft,
        documents: &[PartedDocument],
    ) -> (Vec<Run>, Pieces) {
        let parts = documents.iter().flat_map(|document| &document.parts);
        let starts = parts.filter_map(|part| match part {
            Part::New(piece) => Some(piece.start),
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
                let (end, line) = match part {
                    Part::Known { number, line } => (self.piece_end(*number), *line),
                    Part::New(piece) => (ends.next().unwrap_or(piece.start), piece.line),
                };
                let shift = targets.copy(from, old.start..end);
                pieces.push(Piece {
                    start: old.start.shifted(shift),
                    line,
                    ..old.clone()
                });
                runs.push(Run {
                    known,
                    targets: old.start..end,
                    shift,
                    line,
                    old_line: old.line,
                });
            }
        }
        targets.complete();
        (runs, pieces)
    }

    fn copy_records(
        &self,
        runs: &[Run],
        draft: &Draft,
        documents: &[PartedDocument],
        shapes: &mut Shapes,
    ) -> ChangedIndex {
        let mut files = HashMap::new();
        for document in documents {
            files.extend(document.old_file.map(|old| (old, document.file)));
        }
        let mut added = Vec::with_capacity(draft.records.len());
        let mut of_draft = &draft.records[..];
        let mut run_of_piece = vec![None; self.pieces().len()];
        for run in runs {
            if let Some(number) = run.known {
                run_of_piece[number] = Some(run);
                continue;
            }
            let count = of_draft.partition_point(|it| { it.target } < run.targets.end);
            let (own, rest) = of_draft.split_at(count);
            of_draft = rest;
            for record in own {
                let shape = shapes.number(*draft.shapes.get(record.shape));
                added.push(run.moved(*record, shape));
            }
        }
        let piece_of = self.pieces().by_target();
        let shapes = RefCell::new((shapes, vec![None; self.shapes.len()]));
        let keep = |record: Record| {
            let run = run_of_piece[piece_of.find(record.target)]?;
            let (shapes, numbers) = &mut *shapes.borrow_mut();
            let number = numbers[record.shape as usize].get_or_insert_with(|| {
                let mut shape = self.shapes[record.shape as usize];
                shape.file = files.get(&shape.file).copied().unwrap_or(shape.file);
                shapes.number(shape)
            });
            Some(run.moved(record, *number))
        };
        self.index.changed(keep, added)
    }

    /// Returns the numbers of the listed codes of the entries with some targets.
    pub(crate) fn listed_between(&self, targets: &Range<Text>) -> Range<usize> {
        let target_of = |entry: u32| self.index.record(entry).target;
        let listed = self.codes.listed();
        let before = |end: Text| {
            listed.partition_point(|it| target_of(it.entry).cmp(&end) == Ordering::Less)
        };
        before(targets.start)..before(targets.end)
    }

    /// Returns the end of the targets of a piece.
    fn piece_end(&self, number: usize) -> Text {
        match number + 1 < self.pieces().len() {
            true => self.pieces().piece(number + 1).start,
            false => self.targets.end(),
        }
    }
}
