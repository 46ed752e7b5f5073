//! Drafts: the entries of documents in the form in which a site stores them, before their codes are
//! decided.

use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use super::stores::{
    Arena, CodeKind, DraftShapes, Hosts, Lines, Moves, Notes, Part, PartedDocument, Record, Shape,
    Targets, Text,
};

use crate::mapping::value::{Defaults, Position, Scheme, SourceFile, scheme};

/// The approximate minimum text of an entry, in bytes: `- url: http://a/`.
const LEAST_ENTRY: usize = 16;

/// Entries to be built into a site, in written order.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) targets: Targets,
    pub(super) records: Vec<Record>,
    /// Where the records are written.
    pub(super) lines: Lines,
    pub(super) shapes: DraftShapes,
    pub(crate) codes: Vec<DraftCode>,
    pub(crate) code_texts: Arena,
    pub(crate) notes: Notes,
}

/// The identity of an entry: the place of its target, and the key to find it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) target: Text,
    pub(crate) key: u64,
}

/// A code to be listed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DraftCode {
    pub(crate) owner: Owner,
    /// The code; for an auto code, the URL as written.
    pub(crate) text: Text,
    pub(crate) kind: CodeKind,
    /// Where it is written.
    pub(crate) position: Position,
}

impl Draft {
    /// Returns a draft with room for the entries of a file.
    ///
    /// Growing step by step would fragment memory, and temporarily take twice as much. Excess room
    /// that is never touched costs nothing until it is released. If that much room is not
    /// available, the room actually needed may still be.
    pub(crate) fn for_file(file: &SourceFile) -> Self {
        let mut draft = Self::default();
        let bytes = file.bytes.len();
        let urls = memmem::find_iter(&file.bytes, "url:").count();
        draft.targets.reserve(bytes);
        let _ = draft.records.try_reserve(urls.min(bytes / LEAST_ENTRY));
        draft
    }

    /// Returns a draft without entries, in which targets begin with the same numbers as in another.
    pub(crate) fn with_hosts_of(other: &Self, bytes: usize) -> Self {
        Self {
            targets: Targets::with_hosts_of(&other.targets, bytes),
            ..Self::default()
        }
    }

    /// Reserves room for the entries of some text, in bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.targets.reserve(bytes);
    }

    /// Begins an entry with a target in canonical form whose hash is its code.
    pub(crate) fn begin_hashed(&mut self, target: &str) -> Owner {
        Owner {
            key: scheme::key(target),
            target: self.targets.store(target),
        }
    }

    /// Begins an entry whose codes are listed; one without a target is found by a code.
    pub(crate) fn begin_listed(&mut self, target: Option<&str>, code: &str) -> Owner {
        Owner {
            key: !scheme::key(target.unwrap_or(code)),
            target: self.targets.store(target.unwrap_or_default()),
        }
    }

    /// Adds a code to the current entry.
    pub(crate) fn push_code(&mut self, owner: Owner, kind: CodeKind, text: &str, at: Position) {
        let text = self.code_texts.store(text);
        self.codes.push(DraftCode {
            owner,
            text,
            kind,
            position: at,
        });
    }

    /// Ends the current entry, which starts in the given line of a file.
    pub(crate) fn end(&mut self, owner: Owner, file: u32, line: u32, shape: Shape) {
        let Owner { target, key } = owner;
        let number = self.shapes.number(shape);
        self.records.push(Record {
            key,
            target,
            line: self.lines.add(target, line, file),
            shape: self.shapes.assign(target, number),
        });
    }

    /// Returns the target, the line and the shape of each entry, in written order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Text, u32, &Shape)> {
        let mut block_of = self.lines.in_order();
        self.records.iter().map(move |record| {
            let line = block_of(record.target).line + u32::from(record.line);
            (record.target, line, self.shapes.of(record))
        })
    }

    /// Returns whether paths below the codes of any entry lead to a URL of their own.
    pub(crate) fn has_entries_with_below(&self) -> bool {
        self.shapes.all().iter().any(|shape| shape.has_below)
    }

    /// Begins a block of lines with each piece of documents, whose entries are those of the draft.
    pub(super) fn begin_pieces(&mut self, documents: &[PartedDocument]) {
        let starts = documents.iter().flat_map(|document| {
            let starts = document.parts.iter().filter_map(Part::as_new);
            starts.map(|piece| (piece.start, piece.line, document.file))
        });
        let mut starts = starts.peekable();
        let mut lines = Lines::default();
        let old = std::mem::take(&mut self.lines);
        let mut block_of = old.in_order();
        for record in &mut self.records {
            let target = record.target;
            while let Some((start, line, file)) = starts.next_if(|it| it.0 <= target) {
                lines.begin(start, line, file);
            }
            let block = block_of(target);
            record.line = lines.add(target, block.line + u32::from(record.line), block.file);
        }
        self.lines = lines;
    }

    /// Sets the values that entries take from the defaults of their document.
    pub(crate) fn set_defaults(&mut self, defaults: &Defaults) {
        for shape in self.shapes.all_mut() {
            let unsaid = shape.unsaid;
            if let (true, Some(status)) = (unsaid.status, defaults.status) {
                shape.status = status;
            }
            if let (true, Some(forward)) = (unsaid.forward, defaults.forward) {
                shape.forward = forward;
            }
            if let (true, Some(max_age)) = (unsaid.max_age, defaults.cache_max_age) {
                shape.max_age = max_age;
            }
        }
    }

    /// Lists every code that is not the hash of a target in the site's scheme.
    pub(crate) fn list_codes(&mut self, scheme: Scheme) {
        if scheme == Scheme::Sha256 {
            return;
        }
        let mut listed = std::mem::take(&mut self.codes).into_iter().peekable();
        let mut block_of = self.lines.in_order();
        for record in &mut self.records {
            let shape = self.shapes.of(record);
            let is_hashed = shape.is_hashed;
            if is_hashed {
                record.key = !record.key;
            }
            let Record { key, target, .. } = *record;
            let line = block_of(target).line + u32::from(record.line);
            if is_hashed {
                let (start, rest) = self.targets.get(target).parts();
                let text = self.code_texts.store_parts(start, rest);
                let url = shape.url.unwrap_or(Position::START);
                self.codes.push(DraftCode {
                    owner: Owner { target, key },
                    text,
                    kind: CodeKind::Auto,
                    position: Position {
                        line: line + url.line,
                        column: url.column,
                    },
                });
            }
            while let Some(mut code) = listed.next_if(|code| code.owner.target == target) {
                code.owner.key = key;
                self.codes.push(code);
            }
        }
        for shape in self.shapes.all_mut() {
            shape.has_codes |= shape.is_hashed;
            shape.is_hashed = false;
        }
    }

    /// Returns the codes of the entries with some targets.
    pub(super) fn codes_between(&self, targets: &Range<Text>) -> &[DraftCode] {
        let start = (self.codes).partition_point(|it| it.owner.target < targets.start);
        let end = (self.codes).partition_point(|it| it.owner.target < targets.end);
        &self.codes[start..end]
    }

    /// Appends the entries of the next document; returns where their targets are now.
    pub(crate) fn append(&mut self, mut other: Self) -> Moves {
        if self.records.is_empty() {
            // Most tables are one file, in which case nothing moves.
            *self = other;
            return Moves::default();
        }
        let moves = match other.targets.has_numbers_of(&self.targets) {
            true => Moves::default(),
            false => other.use_hosts(self.targets.take_hosts()),
        };
        let by = self.targets.append(other.targets);
        let mut numbers = vec![None; other.shapes.all_mut().len()];
        for record in other.records {
            let target = { record.target }.moved(by);
            let number = numbers[other.shapes.number_of(&record)]
                .get_or_insert_with(|| self.shapes.number(*other.shapes.of(&record)));
            self.records.push(Record {
                target,
                shape: self.shapes.assign(target, *number),
                ..record
            });
        }
        for block in other.lines.blocks() {
            self.lines
                .begin(block.start.moved(by), block.line, block.file);
        }
        let texts = self.code_texts.append(other.code_texts);
        self.codes.extend(other.codes.iter().map(|code| DraftCode {
            owner: Owner {
                target: code.owner.target.moved(by),
                ..code.owner
            },
            text: code.text.moved(texts),
            ..*code
        }));
        self.notes.append(other.notes, by);
        moves.and_then(by)
    }

    /// Forgets the beginnings that none of its targets has; returns where the targets are now.
    pub(crate) fn keep_own_hosts(&mut self) -> Moves {
        self.use_hosts(Arc::default())
    }

    /// Gives the beginnings of targets other numbers; returns where the targets are now.
    pub(super) fn use_hosts(&mut self, hosts: Arc<Hosts>) -> Moves {
        let mut targets = Targets::with_hosts(hosts);
        let moves = targets.store_all(&self.targets);
        self.targets = targets;
        moves.apply(
            self.lines.blocks_mut(),
            |it| it.start,
            |it, to| it.start = to,
        );
        moves.apply(self.shapes.listed_mut(), |it| it.0, |it, to| it.0 = to);
        moves.apply(&mut self.records, |it| it.target, |it, to| it.target = to);
        let owner = |code: &DraftCode| code.owner.target;
        moves.apply(&mut self.codes, owner, |it, to| it.owner.target = to);
        self.notes.move_owners(&moves);
        moves
    }
}
