//! Drafts: the entries of documents in the form in which a site stores them, before their codes are
//! decided.

use std::ops::Range;

use memchr::memmem;

use super::arena::{Arena, Text};
use super::codes::CodeKind;

use super::notes::Notes;
use super::record::{Record, Shape, Shapes};
use crate::mapping::value::{Defaults, Position, Scheme, SourceFile, scheme, target};

/// The approximate minimum text of an entry, in bytes: `- url: http://a/`.
const LEAST_ENTRY: usize = 16;

/// Entries to be built into a site, in written order.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) targets: Arena,
    pub(crate) records: Vec<Record>,
    pub(crate) shapes: Shapes,
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
        let _ = draft.targets.try_reserve(bytes);
        let _ = draft.records.try_reserve(urls.min(bytes / LEAST_ENTRY));
        draft
    }

    /// Begins an entry with a target in canonical form whose hash is its code.
    pub(crate) fn begin_hashed(&mut self, target: &str) -> Owner {
        Owner {
            key: scheme::key(target),
            target: self.targets.store(target::pack(target)),
        }
    }

    /// Begins an entry whose codes are listed; one without a target is found by a code.
    pub(crate) fn begin_listed(&mut self, target: Option<&str>, code: &str) -> Owner {
        Owner {
            key: !scheme::key(target.unwrap_or(code)),
            target: self.targets.store(target::pack(target.unwrap_or_default())),
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

    /// Ends the current entry, which starts in the given line.
    pub(crate) fn end(&mut self, owner: Owner, line: u32, shape: Shape) {
        let shape = self.shapes.number(shape);
        let Owner { target, key } = owner;
        self.records.push(Record {
            key,
            target,
            line,
            shape,
        });
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

    /// Lists every code that are not the hashes of targets in the site's scheme.
    pub(crate) fn list_codes(&mut self, scheme: Scheme) {
        if scheme == Scheme::Sha256 {
            return;
        }
        let mut listed = std::mem::take(&mut self.codes).into_iter().peekable();
        for record in &mut self.records {
            let shape = self.shapes.get(record.shape);
            let is_hashed = shape.is_hashed;
            if is_hashed {
                record.key = !record.key;
            }
            let Record { key, target, .. } = *record;
            if is_hashed {
                let (start, rest) = target::unpack(self.targets.get(target));
                let text = self.code_texts.store(&format!("{start}{rest}"));
                let url = shape.url.unwrap_or(Position::START);
                self.codes.push(DraftCode {
                    owner: Owner { target, key },
                    text,
                    kind: CodeKind::Auto,
                    position: Position {
                        line: record.line + url.line,
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

    /// Appends the entries of the next document; returns the distance by which their targets moved.
    pub(crate) fn append(&mut self, other: Self) -> u32 {
        if self.records.is_empty() {
            // Most tables are one file, in which case nothing moves.
            *self = other;
            return 0;
        }
        let by = self.targets.append(other.targets);
        let shapes = self.shapes.append(other.shapes);
        self.records
            .extend(other.records.iter().map(|record| Record {
                target: { record.target }.moved(by),
                shape: record.shape + shapes,
                ..*record
            }));
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
        by
    }
}
