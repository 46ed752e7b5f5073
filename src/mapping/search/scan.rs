//! Scans: the entries that a filter may select, found by searching all of them at once.
//!
//! The searched data are in memory in the order in which entries are written. Each condition is
//! checked in one pass, at nearly the speed of memory, which marks the places of matching entries.
//! There may be false positives, but no false negatives: each candidate is checked again on its
//! own.

use memchr::memmem::Finder;

use super::bits::Bits;
use super::filter::Filter;
use super::fold::{FOLDED_TO_ASCII, fold, folds_to};
use super::hosts::{HostsWithWord, begins_with};
use super::order::CodeOrder;
use super::state::LinkState;
use super::texts::{not_ascii, with_needle};
use super::word::{PUNYCODE, Word, with_unicode_host};
use crate::mapping::packed::{Arena, NoteKind, Site, Targets, Text};
use crate::mapping::value::{Timestamp, code_bytes_of_key, target};

/// Checking this part of all entries one by one takes less time than scanning all for a word.
const FEW: usize = 64;

/// How many words are scanned for: if so many words are frequent, many entries contain all of them.
const MOST_WORDS: usize = 4;

/// How many entries or texts are checked between two calls of `goes_on`.
const ASKED: usize = 1 << 12;

/// A scan of a site, which ends early once `goes_on` returns false.
pub(super) struct Scan<'s, G> {
    site: &'s Site,
    order: &'s CodeOrder,
    goes_on: G,
}

impl<'s, G: FnMut() -> bool> Scan<'s, G> {
    pub(super) fn new(site: &'s Site, order: &'s CodeOrder, goes_on: G) -> Self {
        Self {
            site,
            order,
            goes_on,
        }
    }

    /// Returns the places of the entries that a filter may select at the given time; `None` if the scan
    /// ended early.
    pub(super) fn candidates(mut self, filter: &Filter, now: Timestamp) -> Option<Bits> {
        let places = self.order.written.len();
        let mut candidates = Bits::all(places);
        if let Some(state) = filter.state {
            self.keep_in_state(state, now, &mut candidates);
        }
        if let Some(tag) = &filter.tag {
            candidates.keep(&self.with_note(NoteKind::Tag, tag)?);
        }
        if let Some(owner) = &filter.owner {
            candidates.keep(&self.with_note(NoteKind::Owner, owner)?);
        }
        for word in filter.words.iter().take(MOST_WORDS) {
            if candidates.len() <= places / FEW {
                break;
            }
            candidates.keep(&self.with_word(word)?);
        }
        Some(candidates)
    }

    /// Keeps the entries in a state. Those without a term are live.
    fn keep_in_state(&self, state: LinkState, now: Timestamp, candidates: &mut Bits) {
        let mut found = Bits::none(self.order.written.len());
        let mut place_of = self.places_of_owners();
        for (owner, term) in self.site.notes.terms() {
            if (LinkState::of_term(term, now) == state) != (state == LinkState::Live) {
                found.insert(place_of(owner));
            }
        }
        match state {
            LinkState::Live => candidates.remove(&found),
            LinkState::Retired | LinkState::Expired => candidates.keep(&found),
        }
    }

    /// Returns the entries that have a note of a kind with a folded form.
    fn with_note(&mut self, kind: NoteKind, folded: &str) -> Option<Bits> {
        let mut found = Bits::none(self.order.written.len());
        let notes = &self.site.notes;
        let mut place_of = self.places_of_owners();
        for (number, (_, text)) in (0..).zip(notes.texts().iter()) {
            self.ask(number)?;
            let (owner, its) = notes.owner_of(number);
            if its == kind && folds_to(text, folded) {
                found.insert(place_of(owner));
            }
        }
        Some(found)
    }

    /// Returns the entries that have a word.
    fn with_word(&mut self, word: &Word) -> Option<Bits> {
        let mut found = Bits::none(self.order.written.len());
        self.in_targets(word, &mut found)?;
        self.in_notes(word, &mut found)?;
        self.in_listed_codes(word, &mut found)?;
        self.in_hashed_codes(word, &mut found)?;
        Some(found)
    }

    fn in_targets(&mut self, word: &Word, found: &mut Bits) -> Option<()> {
        let targets = &self.site.targets;
        if word.text().is_ascii() {
            let insert = |number, _: &str| found.insert(number);
            with_needle(targets.texts(), word.finder(), &mut self.goes_on, insert)?;
        }
        let starts: Vec<&str> = word.after_scheme().collect();
        let hosts = HostsWithWord::new(targets.hosts(), word, self.order.has_punycode);
        if !starts.is_empty() || !hosts.is_empty() {
            for (number, (_, host, rest)) in (0..).zip(targets.iter()) {
                self.ask(number)?;
                let fits = match host {
                    Some(host) => hosts.begins(host, rest),
                    None => {
                        let (scheme, rest) = target::unpack(rest);
                        scheme == target::HTTPS
                            && starts.iter().any(|start| begins_with(rest, start))
                    }
                };
                if fits {
                    found.insert(number);
                }
            }
        }
        if !self.order.has_punycode {
            return Some(());
        }
        let mut unicode = String::new();
        let punycode = Finder::new(PUNYCODE);
        let texts = targets.texts();
        with_needle(texts, &punycode, &mut self.goes_on, |number, text| {
            let (None, rest) = Targets::divided(text) else {
                return;
            };
            let (scheme, rest) = target::unpack(rest);
            if let Some(rest) = with_unicode_host(rest) {
                unicode.clear();
                unicode.push_str(scheme);
                fold(&rest, &mut unicode);
                if word.is_in(&unicode) {
                    found.insert(number);
                }
            }
        })
    }

    fn in_notes(&mut self, word: &Word, found: &mut Bits) -> Option<()> {
        let notes = &self.site.notes;
        let texts = self.texts_with(word, notes.texts(), notes.len())?;
        let mut place_of = self.places_of_owners();
        for (owner, kind) in texts.iter().map(|number| notes.owner_of(number)) {
            if !matches!(kind, NoteKind::Archive | NoteKind::Variant) {
                found.insert(place_of(owner));
            }
        }
        Some(())
    }

    fn in_listed_codes(&mut self, word: &Word, found: &mut Bits) -> Option<()> {
        let codes = &self.site.codes;
        let texts = self.texts_with(word, codes.texts(), codes.listed().len())?;
        let mut place_of = self.order.written.places_of_listed();
        texts
            .iter()
            .for_each(|listed| found.insert(place_of(listed)));
        Some(())
    }

    /// The codes that encode hashes are not in memory, but the hashes are, in the order of entries.
    fn in_hashed_codes(&mut self, word: &Word, found: &mut Bits) -> Option<()> {
        let Some(is_in) = part_of_hashed_code(word.text()) else {
            return Some(());
        };
        let mut numbers = Bits::none(self.site.numbers_end());
        for entry in self.site.stored_entries() {
            self.ask(entry.number())?;
            if entry.shape().is_hashed && is_in(code_bytes_of_key(entry.key())) {
                numbers.insert(entry.number());
            }
        }
        for (place, slot) in self.order.written.slots(self.site) {
            self.ask(place)?;
            if numbers.contains(slot.entry.number()) {
                found.insert(place);
            }
        }
        Some(())
    }

    /// Returns the numbers of the texts of an arena that may have a word.
    fn texts_with(&mut self, word: &Word, arena: &Arena, texts: usize) -> Option<Bits> {
        let mut found = Bits::none(texts);
        if !word.text().is_ascii() {
            // The folded form of ASCII is ASCII.
            let mut folded = String::new();
            not_ascii(arena, &mut self.goes_on, |number, text| {
                folded.clear();
                fold(text, &mut folded);
                if word.is_in(&folded) {
                    found.insert(number);
                }
            })?;
            return Some(found);
        }
        let mut insert = |number, _: &str| found.insert(number);
        with_needle(arena, word.finder(), &mut self.goes_on, &mut insert)?;
        for (character, ascii) in FOLDED_TO_ASCII {
            if word.text().contains(ascii) {
                let mut bytes = [0; 4];
                let needle = Finder::new(character.encode_utf8(&mut bytes));
                with_needle(arena, &needle, &mut self.goes_on, &mut insert)?;
            }
        }
        Some(found)
    }

    /// Returns a function that gives the place of an entry from that of its target; for entries in
    /// written order.
    fn places_of_owners(&self) -> impl FnMut(Text) -> u32 + use<'s, G> {
        let mut targets = self.site.targets.cursor();
        move |owner| {
            targets.seek(owner.offset() as usize);
            targets.number()
        }
    }

    /// Ends the scan if `goes_on` returns false; it is called for some of the numbers only.
    fn ask(&mut self, number: u32) -> Option<()> {
        (!(number as usize).is_multiple_of(ASKED) || (self.goes_on)()).then_some(())
    }
}

/// Returns a function that returns whether an auto code, folded, has a word, if any can.
fn part_of_hashed_code(word: &str) -> Option<impl Fn([u8; 8]) -> bool + use<>> {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if word.len() > 8 || !word.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..word.len()].copy_from_slice(word.as_bytes());
    let bits = 8 * word.len();
    let (word, mask) = (u64::from_le_bytes(bytes), u64::MAX >> (64 - bits));
    Some(move |mut code: [u8; 8]| {
        code.make_ascii_lowercase();
        let code = u64::from_le_bytes(code);
        (0..=64 - bits)
            .step_by(8)
            .any(|from| code >> from & mask == word)
    })
}
