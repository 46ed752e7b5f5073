//! Notes: the properties that few entries have besides target and codes, kept apart to keep the
//! others small.
//!
//! Owners are identified by the places of their targets, which grow in written order; so the notes
//! of one are found by a directory, once all are there.

use std::ops::Range;

use super::arena::{Arena, Shift, Text};
use super::moves::Moves;
use super::stretches::Stretches;
use crate::mapping::value::{Retired, Timestamp};

/// Descriptive texts of entries, and the end of their validity.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    texts: Arena,
    notes: Vec<Note>,
    terms: Vec<(Text, Term)>,
    /// Where the notes and the terms of an owner are.
    note_places: Stretches,
    term_places: Stretches,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    owner: Text,
    text: Text,
    kind: NoteKind,
}

/// The kinds of notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteKind {
    Title,
    Owner,
    Tag,
    /// An archived copy of the target.
    Archive,
    /// The URL to which paths below the codes lead.
    Below,
    /// Another target for some media types, as [`Variant`](super::Variant) stores it.
    Variant,
}

/// The end of an entry's validity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) expires: Option<Timestamp>,
    pub(crate) retired: Option<Retired>,
}

impl Notes {
    /// Adds a note to the last entry.
    pub(crate) fn push(&mut self, owner: Text, kind: NoteKind, text: &str) {
        let text = self.texts.store(text);
        self.notes.push(Note { owner, text, kind });
    }

    /// Adds a term to the last entry.
    pub(crate) fn push_term(&mut self, owner: Text, term: Term) {
        self.terms.push((owner, term));
    }

    /// Returns the notes of an entry, in the order of adding.
    pub(crate) fn of(&self, owner: Text) -> impl Iterator<Item = (NoteKind, &str)> {
        self.among(&self.notes[self.note_places.near(owner)], owner)
    }

    /// Returns the notes of an entry that are of one kind, before the notes are complete.
    pub(crate) fn drafted(&self, owner: Text, kind: NoteKind) -> impl Iterator<Item = &str> {
        let own = self.among(&self.notes, owner);
        own.filter(move |(it, _)| *it == kind).map(|(_, text)| text)
    }

    /// Returns the notes of an entry among some that include them.
    fn among<'n>(
        &'n self,
        notes: &'n [Note],
        owner: Text,
    ) -> impl Iterator<Item = (NoteKind, &'n str)> {
        let first = notes.partition_point(|note| note.owner < owner);
        let own = notes[first..].iter();
        own.take_while(move |note| note.owner == owner)
            .map(|note| (note.kind, self.texts.get(note.text)))
    }

    /// Returns the texts of all notes, in the order of adding.
    pub(crate) fn texts(&self) -> &Arena {
        &self.texts
    }

    /// Returns the notes of one kind, each with its entry, in written order, among them some of entries
    /// that were removed.
    pub(crate) fn of_kind(&self, kind: NoteKind) -> impl Iterator<Item = (Text, &str)> {
        let notes = self.notes.iter().filter(move |note| note.kind == kind);
        notes.map(|note| (note.owner, self.texts.get(note.text)))
    }

    /// Returns the number of notes.
    pub(crate) fn len(&self) -> usize {
        self.notes.len()
    }

    /// Returns the entry and the kind of a note. Notes are numbered like their texts; their entries,
    /// among which are some that were removed, are in written order.
    pub(crate) fn owner_of(&self, number: u32) -> (Text, NoteKind) {
        let note = &self.notes[number as usize];
        (note.owner, note.kind)
    }

    /// Returns the term of each entry that has one, in written order, among
    /// them some that were removed.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (Text, Term)> {
        self.terms.iter().copied()
    }

    /// Returns the term of an entry.
    pub(crate) fn term_of(&self, owner: Text) -> Option<Term> {
        let near = &self.terms[self.term_places.near(owner)];
        let at = near.binary_search_by_key(&owner, |(owner, _)| *owner);
        Some(near[at.ok()?].1)
    }

    /// Appends the notes of some entries of another site, given by their targets, which moved to follow
    /// all others.
    pub(crate) fn copy(&mut self, other: &Self, owners: Range<Text>, moved: Shift) {
        let start = other.notes.partition_point(|it| it.owner < owners.start);
        let end = other.notes.partition_point(|it| it.owner < owners.end);
        let text_of = |number: usize| match other.notes.get(number) {
            Some(note) => note.text,
            None => other.texts.end(),
        };
        let shift = (self.texts).copy(&other.texts, text_of(start)..text_of(end));
        let notes = other.notes[start..end].iter();
        self.notes.extend(notes.map(|note| Note {
            owner: note.owner.shifted(moved),
            text: note.text.shifted(shift),
            kind: note.kind,
        }));
        let start = other.terms.partition_point(|it| it.0 < owners.start);
        let end = other.terms.partition_point(|it| it.0 < owners.end);
        let terms = other.terms[start..end].iter();
        self.terms
            .extend(terms.map(|&(owner, term)| (owner.shifted(moved), term)));
    }

    /// Changes the places of owners.
    pub(crate) fn move_owners(&mut self, moves: &Moves) {
        moves.apply(&mut self.notes, |it| it.owner, |it, to| it.owner = to);
        moves.apply(&mut self.terms, |it| it.0, |it, to| it.0 = to);
    }

    /// Appends the notes of entries that follow all others, and whose targets moved.
    pub(crate) fn append(&mut self, other: Self, moved: u32) {
        let by = self.texts.append(other.texts);
        self.notes.extend(other.notes.into_iter().map(|note| Note {
            owner: note.owner.moved(moved),
            text: note.text.moved(by),
            ..note
        }));
        let terms = other.terms.into_iter();
        self.terms
            .extend(terms.map(|(owner, term)| (owner.moved(moved), term)));
    }

    /// Completes the notes, which can be found from now on, and releases the memory that was reserved
    /// for more.
    pub(crate) fn complete(&mut self) {
        self.texts.complete();
        self.notes.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.note_places = Stretches::new(&self.notes, |note| note.owner);
        self.term_places = Stretches::new(&self.terms, |(owner, _)| *owner);
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.texts.heap_bytes()
            + self.notes.capacity() * size_of::<Note>()
            + self.terms.capacity() * size_of::<(Text, Term)>()
            + self.note_places.heap_bytes()
            + self.term_places.heap_bytes()
    }
}
