//! The next version of a site: the entries of unchanged pieces are copied from the version before,
//! those of new pieces come from a draft.
//!
//! The result is the same as if the site had been built from scratch, except for the numbers of
//! shapes and entries. Nothing that is kept is looked up, hashed or sorted again.

use std::ops::Range;

use super::draft::Draft;
use super::review_scope::ReviewScope;
use super::site::{Head, Site, Stores};
use super::stores::{
    ChangedIndex, CodeKind, Codes, DraftShapes, Index, Kept, LineBlock, Lines, Listed, Moves,
    Notes, Part, PartedDocument, Piece, Pieces, Record, Shift, Targets, Text, index,
};

/// A site, and its new parts.
pub(crate) struct ChangedSite {
    pub(crate) site: Site,
    /// The numbers of the entries that were added.
    pub(crate) added: Vec<u32>,
    /// The numbers of the listed codes that were added, in the order of those of the draft.
    pub(crate) added_codes: Vec<u32>,
    /// What its review must look at: all that was added, and what the review of the version before has found.
    pub(crate) review_scope: ReviewScope,
}

/// Entries that are copied together: those of known pieces that stay next to each other, or of a new one.
struct Run {
    is_known: bool,
    /// Their targets in the version before, or in the draft.
    targets: Range<Text>,
    shift: Shift,
    /// The block of lines of each piece.
    blocks: Vec<LineBlock>,
}

/// The targets of all pieces of the next version.
struct CopiedTargets {
    targets: Targets,
    runs: Vec<Run>,
    pieces: Pieces,
}

impl Run {
    /// Adds the entries of the next piece; returns whether they are copied together with these.
    fn extend(&mut self, next: &mut Self) -> bool {
        let follows = self.is_known
            && next.is_known
            && self.targets.end == next.targets.start
            && self.shift == next.shift;
        if follows {
            self.targets.end = next.targets.end;
            self.blocks.append(&mut next.blocks);
        }
        follows
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
        let CopiedTargets {
            targets,
            runs,
            pieces,
        } = self.copy_targets(draft, documents, &moves);
        let kept = self.kept_targets(&runs);
        let mut shapes = DraftShapes::after(&self.shapes, &kept);
        let mut lines = Lines::default();
        let added = add_records(&runs, draft, &mut shapes, &mut lines);
        let removed = self.numbers_between(&self.removed_targets(&runs));
        for &number in &removed {
            shapes.leave(self.shapes.number_of(&self.index.record(number)));
        }
        let ChangedIndex {
            index: records,
            kept_numbers,
            added_numbers,
        } = self.index.changed(&kept, &removed, added);

        let (mut codes, mut notes) = (Codes::new(head.about.case()), Notes::default());
        let mut added_codes = Vec::new();
        let mut code_numbers = Kept::new(index(self.codes.listed().len()));
        for run in &runs {
            if run.is_known {
                let numbers = self.listed_between(&run.targets);
                let places = index(numbers.start)..index(numbers.end);
                code_numbers.push(places, index(codes.listed().len()));
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
        codes.find_as(&self.codes, &code_numbers);
        for &number in &added_codes {
            codes.make_found(number);
        }
        let review_scope = self.scope_after(&records, &added_numbers, &code_numbers, &added_codes);
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
            review_scope,
        }
    }

    /// Copies the targets of all pieces in their new order.
    fn copy_targets(
        &self,
        draft: &Draft,
        documents: &[PartedDocument],
        moves: &Moves,
    ) -> CopiedTargets {
        let mut targets = Targets::with_hosts(draft.targets.shared_hosts());
        let parts = documents.iter().flat_map(|document| &document.parts);
        let starts = parts.filter_map(|part| match part {
            Part::New(piece) => Some(moves.of(piece.start)),
            Part::Known { .. } => None,
        });
        // The new pieces of a draft follow each other.
        let mut ends = starts.skip(1).chain([draft.targets.end()]);
        let mut runs: Vec<Run> = Vec::new();
        let mut pieces = Pieces::default();
        for document in documents {
            pieces.begin(document.file, document.defaults);
            for part in &document.parts {
                let (is_known, from, old) = match part {
                    Part::Known { number, .. } => {
                        (true, &self.targets, self.pieces().piece(*number))
                    }
                    Part::New(piece) => (false, &draft.targets, piece),
                };
                let (places, line) = match part {
                    Part::Known { number, line } => (old.start..self.piece_end(*number), *line),
                    Part::New(piece) => {
                        let start = moves.of(piece.start);
                        (start..ends.next().unwrap_or(start), piece.line)
                    }
                };
                let shift = targets.copy(from, places.clone());
                let start = places.start.shifted(shift);
                pieces.push(Piece {
                    start,
                    line,
                    ..old.clone()
                });
                let block = LineBlock {
                    start,
                    line,
                    file: document.file,
                };
                let mut run = Run {
                    is_known,
                    targets: places,
                    shift,
                    blocks: vec![block],
                };
                if !runs.last_mut().is_some_and(|last| last.extend(&mut run)) {
                    runs.push(run);
                }
            }
        }
        targets.complete();
        CopiedTargets {
            targets,
            runs,
            pieces,
        }
    }

    /// Returns what the review of the next version must look at.
    fn scope_after(
        &self,
        records: &Index,
        added: &[u32],
        kept_codes: &Kept,
        added_codes: &[u32],
    ) -> ReviewScope {
        let ReviewScope { keys, codes } = self.review_scope();
        let added = added.iter().map(|&number| records.record(number).key);
        let kept = |codes: &Vec<u32>| {
            let kept = codes.iter().filter_map(|&number| kept_codes.of(number));
            let mut codes: Vec<u32> = kept.chain(added_codes.iter().copied()).collect();
            codes.sort_unstable();
            codes
        };
        ReviewScope {
            keys: keys
                .as_ref()
                .map(|keys| keys.iter().copied().chain(added).collect()),
            codes: codes.as_ref().map(kept),
        }
    }

    /// Returns where the targets of known pieces are now.
    fn kept_targets(&self, runs: &[Run]) -> Kept {
        let mut kept = Kept::new(self.targets.end().offset());
        for run in runs.iter().filter(|run| run.is_known) {
            let Range { start, end } = run.targets;
            let new = start.shifted(run.shift).offset();
            kept.push(start.offset()..end.offset(), new);
        }
        kept
    }

    /// Returns the targets of pieces that are not in the next version.
    fn removed_targets(&self, runs: &[Run]) -> Vec<Range<Text>> {
        let mut removed = Vec::new();
        let mut end = self.targets.texts().start();
        for run in runs.iter().filter(|run| run.is_known) {
            removed.push(end..run.targets.start);
            end = run.targets.end;
        }
        removed.push(end..self.targets.end());
        removed.retain(|targets| targets.start < targets.end);
        removed
    }

    /// Returns the numbers of the listed codes of the entries with some targets.
    pub(crate) fn listed_between(&self, targets: &Range<Text>) -> Range<usize> {
        let all = self.codes.listed();
        let before = |end: Text| {
            let is_before = |it: &Listed| { self.index.record(it.entry).target } < end;
            all.partition_point(is_before)
        };
        before(targets.start)..before(targets.end)
    }

    /// Returns the number of the piece in which an entry is, given its target.
    pub(crate) fn piece_of(&self, target: Text) -> usize {
        self.pieces().before(target)
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

/// Returns the records of the entries of a draft, which get their shapes, and the lines of all entries.
fn add_records(
    runs: &[Run],
    draft: &Draft,
    shapes: &mut DraftShapes,
    lines: &mut Lines,
) -> Vec<Record> {
    let mut block_of = draft.lines.in_order();
    let mut added = Vec::with_capacity(draft.records.len());
    let mut of_draft = &draft.records[..];
    for run in runs {
        lines.extend(&run.blocks);
        if run.is_known {
            continue;
        }
        let file = run.blocks[0].file;
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
                line: lines.add(target, line, file),
                shape: shapes.assign(target, number),
                ..record
            });
        }
    }
    added
}
