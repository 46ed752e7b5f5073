//! Documents in pieces: those that the version before has too are not read again.
//!
//! What was found in a piece is kept with it, and repeated at its new lines: no message of a warning
//! names a line of its own piece.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::Document;
use crate::mapping::packed::{CodeKind, Draft, Part, Piece, PieceId, Site};
use crate::mapping::parse::{Cut, Reader, cut, text};
use crate::mapping::value::{Checkpoint, Diagnostic, Position, Problems, Scheme, SourceFile};

/// The unknown text of a document, in bytes, from which most of it must be known: room for all entries
/// of a document is reserved only where it is read as a whole.
const MAX_UNKNOWN: usize = 1 << 20;

/// The maximum number of warnings that are kept with a piece: a bound on memory.
const MAX_WARNINGS: usize = 8;

/// The pieces of a document.
pub(super) struct PiecedFile<'t> {
    pub(super) parts: Vec<Part>,
    /// The number of its file in the version before, if any piece is known from there.
    pub(super) old_file: Option<u32>,
    text: &'t str,
    /// Where the text was cut, unless it is one piece.
    cut: Option<Cut>,
}

/// A document of the version before.
#[derive(Clone, Copy)]
pub(super) struct OldDocument<'s> {
    pub(super) site: &'s Site,
    /// The number of its file.
    pub(super) file: u32,
    /// The first piece that may be taken over: pieces keep their order.
    pub(super) first: usize,
}

impl<'t> PiecedFile<'t> {
    /// Reads a file as a whole.
    pub(super) fn read(
        number: u32,
        file: &'t SourceFile,
        problems: &mut Problems,
    ) -> (Document<'t>, Self) {
        let before = problems.checkpoint(&file.path);
        let document = Document::read(number, file, problems);
        let text = text::decode(file).unwrap_or_default();
        let cut = cut(text).filter(|_| document.is_block);
        let records = &document.entries.records;
        let mut parts = Vec::new();
        let mut next = 0;
        for piece in cut.iter().flat_map(|cut| &cut.pieces) {
            let count = records[next..].partition_point(|it| it.line < piece.line);
            next += count;
            if let Some(first) = records.get(next) {
                parts.push(Part::New(Piece {
                    id: Some(PieceId::of(&text[piece.bytes.clone()])),
                    warnings: None,
                    start: first.target,
                    line: piece.line,
                }));
            }
        }
        let is_cut = cut
            .as_ref()
            .is_some_and(|cut| cut.pieces.len() == parts.len());
        if !is_cut {
            let whole = records.first().map(|first| {
                Part::New(Piece {
                    id: None,
                    warnings: None,
                    start: first.target,
                    line: 1,
                })
            });
            parts = whole.into_iter().collect();
        }
        keep_warnings(&mut parts, &document, &before, problems);
        let pieced = Self {
            parts,
            old_file: None,
            text,
            cut: cut.filter(|_| is_cut),
        };
        (document, pieced)
    }

    /// Reads a file without the pieces that are known; `None` if it has to be read as a whole. Then no
    /// problems were added.
    pub(super) fn read_changes(
        number: u32,
        file: &'t SourceFile,
        old: OldDocument<'_>,
        problems: &mut Problems,
    ) -> Option<(Document<'t>, Self)> {
        let before = problems.checkpoint(&file.path);
        let read = Self::try_read_changes(number, file, old, problems);
        if read.is_none() {
            problems.return_to(&before);
        }
        read
    }

    fn try_read_changes(
        number: u32,
        file: &'t SourceFile,
        old: OldDocument<'_>,
        problems: &mut Problems,
    ) -> Option<(Document<'t>, Self)> {
        let text = text::decode(file).ok()?;
        let cut = cut(text)?;
        let before = problems.checkpoint(&file.path);
        let mut document = Document::without_entries(number, &file.path, Draft::default());
        let mut reader = Reader::without_list(&file.path, text, &cut, problems);
        document.fill(&mut reader).ok()?;
        if !problems.since(&before).0.is_empty() {
            return None;
        }
        let (pieced, numbers) = old.site.pieces().of_file(old.file)?;
        if pieced.defaults != document.defaults {
            return None;
        }
        let numbers = numbers.start.max(old.first)..numbers.end;
        let known = numbers.filter_map(|it| Some((old.site.pieces().piece(it).id?, it)));
        let known: HashMap<PieceId, usize> = known.collect();

        let texts = || cut.pieces.iter().map(|it| &text[it.bytes.clone()]);
        let ids: Vec<_> = texts().map(PieceId::of).collect();
        let kept = ascending(ids.iter().map(|id| known.get(id).copied()));
        let unknown = texts().zip(&kept).filter(|(_, kept)| kept.is_none());
        let unknown: usize = unknown.map(|(text, _)| text.len()).sum();
        if unknown > MAX_UNKNOWN && unknown > text.len() / 2 {
            return None;
        }
        let mut parts = Vec::with_capacity(ids.len());
        for ((piece, id), kept) in cut.pieces.iter().zip(ids).zip(kept) {
            if let Some(number) = kept {
                let line = piece.line;
                repeat_warnings(old.site.pieces().piece(number), line, &file.path, problems);
                parts.push(Part::Known { number, line });
                continue;
            }
            parts.push(Part::New(Piece {
                id: Some(id),
                warnings: None,
                start: document.entries.targets.end(),
                line: piece.line,
            }));
            let mut reader = Reader::piece(&file.path, text, (&cut, piece), problems);
            document.read_entries(&mut reader).ok()?;
            reader.end_piece().ok()?;
        }
        document.apply_defaults(problems);
        if problems.since(&before).0.iter().any(Diagnostic::is_error) {
            return None;
        }
        keep_warnings(&mut parts, &document, &before, problems);
        let is_known = parts.iter().any(|it| matches!(it, Part::Known { .. }));
        let pieced = Self {
            parts,
            old_file: is_known.then_some(old.file),
            text,
            cut: Some(cut),
        };
        Some((document, pieced))
    }

    /// Returns the positions of the listed codes of a piece, given by its number among those of the
    /// document.
    pub(super) fn code_positions(&self, number: usize, scheme: Scheme) -> Vec<Position> {
        let Some(cut) = &self.cut else {
            return Vec::new();
        };
        let file = &Arc::from("");
        let mut problems = Problems::default();
        let piece = (cut, &cut.pieces[number]);
        let mut reader = Reader::piece(file, self.text, piece, &mut problems);
        let mut document = Document::without_entries(0, file, Draft::default());
        // It was read before, and nothing was wrong with it.
        let (Ok(()) | Err(_)) = document.read_entries(&mut reader);
        document.entries.list_codes(scheme);
        let codes = document.entries.codes.iter();
        codes.map(|code| code.position).collect()
    }
}

/// Keeps with each new piece what was found in it. If that is much, or more will be found once the codes
/// are known, of a URL that is not canonical, the piece is read again in the next version.
fn keep_warnings(
    parts: &mut [Part],
    document: &Document<'_>,
    before: &Checkpoint,
    problems: &Problems,
) {
    let starts: Vec<u32> = parts.iter().map(Part::line).collect();
    let part_of = |line: u32| {
        starts
            .partition_point(|start| *start <= line)
            .checked_sub(1)
    };
    let (found, are_all) = problems.since(before);
    let mut warnings: HashMap<usize, Vec<Diagnostic>> = HashMap::new();
    for warning in found {
        if let Some(part) = part_of(warning.place.position.line) {
            let mut warning = warning.clone();
            warning.place.position.line -= starts[part];
            warnings.entry(part).or_default().push(warning);
        }
    }
    let codes = document.entries.codes.iter();
    let derived = codes.filter(|it| it.kind == CodeKind::Auto);
    let derived: HashSet<_> = derived.filter_map(|it| part_of(it.position.line)).collect();
    for (number, part) in parts.iter_mut().enumerate() {
        let Part::New(piece) = part else { continue };
        let own = warnings.remove(&number);
        let count = own.as_ref().map_or(0, Vec::len);
        if !are_all || count > MAX_WARNINGS || derived.contains(&number) {
            piece.id = None;
        } else {
            piece.warnings = own.map(Arc::from);
        }
    }
}

/// Reports what was found in a piece that is known, which begins at a line now.
fn repeat_warnings(piece: &Piece, line: u32, file: &Arc<str>, problems: &mut Problems) {
    for warning in piece.warnings.iter().flat_map(|it| &**it) {
        let mut warning = warning.clone();
        warning.place.file = Arc::clone(file);
        warning.place.position.line += line;
        problems.push(warning);
    }
}

/// Returns as many of the numbers as possible so that they ascend, and `None` for the others.
fn ascending(numbers: impl Iterator<Item = Option<usize>>) -> Vec<Option<usize>> {
    let numbers: Vec<_> = numbers.collect();
    // The places of the last numbers of the sequences of each length that end lowest, and the place
    // before each number in its sequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = vec![None; numbers.len()];
    for (place, number) in numbers.iter().enumerate() {
        if let Some(number) = number {
            let length = ends.partition_point(|&end| numbers[end] < Some(*number));
            before[place] = length.checked_sub(1).map(|shorter| ends[shorter]);
            match ends.get_mut(length) {
                Some(end) => *end = place,
                None => ends.push(place),
            }
        }
    }
    let mut kept = vec![None; numbers.len()];
    let mut last = ends.last().copied();
    while let Some(place) = last {
        kept[place] = numbers[place];
        last = before[place];
    }
    kept
}
