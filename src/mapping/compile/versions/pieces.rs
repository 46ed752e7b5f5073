//! Documents in pieces: those that the previous version has too are not read again.
//!
//! The warnings of a piece are kept with it, and repeated at its new lines: no message of a warning
//! names a line of its own piece.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::super::entries::Document;
use super::input::InputFile;
use crate::mapping::cutting::{CutPiece, MAX_NEW};
use crate::mapping::packed::{CodeKind, Draft, Part, Piece, Site, index};
use crate::mapping::parse::Reader;
use crate::mapping::value::{
    Checkpoint, Diagnostic, PieceId, Position, Problems, Scheme, SourceFile,
};

/// The maximum number of warnings that are kept with a piece: a bound on memory.
const MAX_WARNINGS: usize = 8;

/// The pieces of a document.
pub(super) struct PiecedFile<'t> {
    pub(super) parts: Vec<Part>,
    /// The number of its file in the version before, if any piece is known from there.
    pub(super) old_file: Option<u32>,
    /// The file, unless it is one piece.
    cut: Option<InputFile<'t>>,
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
    /// Reads a file of which there is all text, `whole`.
    pub(super) fn read(
        number: u32,
        file: InputFile<'t>,
        whole: &'t SourceFile,
        problems: &mut Problems,
    ) -> (Document<'t>, Self) {
        let before = problems.checkpoint(file.path);
        let document = Document::read(number, whole, problems);
        let list = file.cut.list.as_ref().filter(|_| document.is_block);
        let cut = list.map_or(&[][..], |list| &list.pieces);
        let mut entries = document.entries.entries().peekable();
        let mut parts = Vec::new();
        for piece in cut {
            while entries.next_if(|it| it.1 < piece.line).is_some() {}
            if let Some((start, ..)) = entries.peek() {
                parts.push(Part::New(Piece {
                    id: Some(piece.id),
                    warnings: None,
                    start: *start,
                    length: index(piece.length),
                    line: piece.line,
                }));
            }
        }
        let is_cut = !cut.is_empty() && cut.len() == parts.len();
        drop(entries);
        if !is_cut {
            let whole = document.entries.entries().next().map(|(start, ..)| {
                Part::New(Piece {
                    id: None,
                    warnings: None,
                    start,
                    length: 0,
                    line: 1,
                })
            });
            parts = whole.into_iter().collect();
        }
        keep_warnings(&mut parts, &document, &before, problems);
        let pieced = Self {
            parts,
            old_file: None,
            cut: is_cut.then_some(file),
        };
        (document, pieced)
    }

    /// Reads a file without the pieces that are known; `None` if it has to be read as a whole. Then no
    /// problems were added.
    pub(super) fn read_changes(
        number: u32,
        file: InputFile<'t>,
        old: OldDocument<'_>,
        problems: &mut Problems,
    ) -> Option<(Document<'t>, Self)> {
        let before = problems.checkpoint(file.path);
        let read = Self::try_read_changes(number, file, old, problems);
        if read.is_none() {
            problems.return_to(&before);
        }
        read
    }

    fn try_read_changes(
        number: u32,
        file: InputFile<'t>,
        old: OldDocument<'_>,
        problems: &mut Problems,
    ) -> Option<(Document<'t>, Self)> {
        let list = file.cut.list.as_ref()?;
        let before = problems.checkpoint(file.path);
        let mut document = Document::without_entries(number, file.path, Draft::default());
        let mut reader = Reader::around(file.path, list, list.after.as_deref()?, problems);
        document.fill(&mut reader).ok()?;
        if !problems.since(&before).0.is_empty() {
            return None;
        }
        let (pieced, numbers) = old.site.pieces().of_file(old.file)?;
        if pieced.defaults != document.defaults {
            return None;
        }
        let numbers = numbers.start.max(old.first)..numbers.end;
        let cut = &list.pieces;
        let kept = kept_pieces(cut, old.site, numbers);
        let unknown = cut.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
        let unknown: usize = unknown.map(|(piece, _)| piece.length).sum();
        if unknown > MAX_NEW && unknown as u64 > file.cut.size() / 2 {
            return None;
        }
        let mut parts = Vec::with_capacity(cut.len());
        for ((at, piece), kept) in cut.iter().enumerate().zip(kept) {
            let line = piece.line;
            if let Some(number) = kept {
                repeat_warnings(old.site.pieces().piece(number), line, file.path, problems);
                parts.push(Part::Known { number, line });
                continue;
            }
            parts.push(Part::New(Piece {
                id: Some(piece.id),
                warnings: None,
                start: document.entries.targets.end(),
                length: index(piece.length),
                line,
            }));
            let text = (file.piece(at)?, line);
            let mut reader = Reader::piece(file.path, list.indent, text, problems);
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
            cut: Some(file),
        };
        Some((document, pieced))
    }

    /// Returns the positions of the listed codes of a piece, given by its number among those of the
    /// document; `None` if its text was not read.
    pub(super) fn code_positions(&self, number: usize, scheme: Scheme) -> Option<Vec<Position>> {
        let Some((cut, list)) = self.cut.and_then(|it| Some((it, it.cut.list.as_ref()?))) else {
            return Some(Vec::new());
        };
        let file = &Arc::from("");
        let mut problems = Problems::default();
        let text = (cut.piece(number)?, list.pieces[number].line);
        let mut reader = Reader::piece(file, list.indent, text, &mut problems);
        let mut document = Document::without_entries(0, file, Draft::default());
        // It was read before without errors.
        let (Ok(()) | Err(_)) = document.read_entries(&mut reader);
        document.entries.list_codes(scheme);
        let codes = document.entries.codes.iter();
        Some(codes.map(|code| code.position).collect())
    }
}

/// Keeps the warnings of each new piece with it. If there are many, or more will follow once the
/// codes are known (about a URL that is not canonical), the piece is read again in the next
/// version.
pub(super) fn keep_warnings(
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

/// Repeats the warnings of a known piece, which now begins at a line.
fn repeat_warnings(piece: &Piece, line: u32, file: &Arc<str>, problems: &mut Problems) {
    for warning in piece.warnings.iter().flat_map(|it| &**it) {
        let mut warning = warning.clone();
        warning.place.file = Arc::clone(file);
        warning.place.position.line += line;
        problems.push(warning);
    }
}

/// Returns the number of each piece of a file that is among those of a site with some numbers, if it can
/// be taken over from there in that order.
fn kept_pieces(cut: &[CutPiece], site: &Site, numbers: Range<usize>) -> Vec<Option<usize>> {
    let known = numbers.map(|number| (site.pieces().piece(number).id, number));
    // Most files of a table have not changed.
    let ids = cut.iter().map(|piece| Some(piece.id));
    if known.clone().map(|(id, _)| id).eq(ids) {
        return known.map(|(_, number)| Some(number)).collect();
    }
    let known: HashMap<PieceId, usize> = known.filter_map(|(id, it)| Some((id?, it))).collect();
    ascending(cut.iter().map(|piece| known.get(&piece.id).copied()))
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
