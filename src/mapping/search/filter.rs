//! Filters: which entries are searched for.
//!
//! Each word of a text must occur somewhere in an entry: in its code, an alias, its target, title,
//! owner or tags. Case does not count, and a host in Punycode is also found in its Unicode form.

use super::fold::{fold, folded, folds_to};
use super::state::LinkState;
use super::word::{Word, with_unicode_host};
use crate::mapping::packed::{Entry, NoteKind};
use crate::mapping::value::{Timestamp, target};

/// Separates the texts of an entry that are searched as one: no word contains it.
const SEPARATOR: char = '\n';

/// The conditions for selecting entries; by default, all are selected.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The words: first the one that was missing last, which is the most likely to be missing again,
    /// or at first the longest.
    pub(super) words: Vec<Word>,
    /// In their folded form.
    pub(super) tag: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) state: Option<LinkState>,
    /// The texts of the current entry.
    texts: String,
}

impl Filter {
    /// Selects entries that have each of the words of a text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let text = folded(text);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        let mut chosen: Vec<&str> = Vec::new();
        for word in words {
            // A text that contains a word contains all parts of it.
            if !chosen.iter().any(|longer| longer.contains(word)) {
                chosen.push(word);
            }
        }
        self.words = chosen.into_iter().map(Word::new).collect();
        self
    }

    /// Selects entries with a tag.
    #[must_use]
    pub fn tag(mut self, tag: &str) -> Self {
        self.tag = Some(folded(tag));
        self
    }

    /// Selects the entries of an owner.
    #[must_use]
    pub fn owner(mut self, owner: &str) -> Self {
        self.owner = Some(folded(owner));
        self
    }

    /// Selects entries in a state.
    #[must_use]
    pub fn state(mut self, state: LinkState) -> Self {
        self.state = Some(state);
        self
    }

    /// Returns whether it selects every entry.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tag.is_none() && self.owner.is_none() && self.state.is_none()
    }

    /// Returns whether it searches the texts of entries.
    pub(super) fn reads_texts(&self) -> bool {
        self.has_words() || self.tag.is_some() || self.owner.is_some()
    }

    /// Returns whether words are searched for.
    pub(super) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Returns whether it selects an entry at the given time. It only changes memory that it
    /// reuses.
    pub fn matches(&mut self, entry: Entry<'_>, now: Timestamp) -> bool {
        self.selects(entry, now, |texts| {
            texts.add(&entry.code());
            entry.aliases().for_each(|alias| texts.add(alias));
        })
    }

    /// Does the same for an entry whose codes are known already.
    pub(super) fn selects(
        &mut self,
        entry: Entry<'_>,
        now: Timestamp,
        add_codes: impl FnOnce(&mut Texts<'_>),
    ) -> bool {
        if self.state.is_some_and(|it| it != LinkState::of(entry, now)) {
            return false;
        }
        self.texts.clear();
        let mut texts = Texts(&mut self.texts);
        let (mut tag, mut owner) = (self.tag.as_deref(), self.owner.as_deref());
        if entry.shape().has_notes {
            for (kind, text) in entry.all_notes() {
                match kind {
                    NoteKind::Tag => tag = tag.filter(|tag| !folds_to(text, tag)),
                    NoteKind::Owner => owner = owner.filter(|owner| !folds_to(text, owner)),
                    NoteKind::Title | NoteKind::Below => {}
                    NoteKind::Archive | NoteKind::Variant => continue,
                }
                if !self.words.is_empty() {
                    texts.add(text);
                }
            }
        }
        if tag.is_some() || owner.is_some() {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        add_codes(&mut texts);
        if let Some(target) = entry.target_parts() {
            let (start, rest) = target.parts();
            texts.0.push_str(start);
            texts.add(rest);
            let (scheme, host) = target::divided(start);
            if host.is_empty()
                && let Some(rest) = with_unicode_host(rest)
            {
                texts.0.push_str(scheme);
                texts.add(&rest);
            } else if let Some(host) = with_unicode_host(host) {
                texts.0.push_str(scheme);
                texts.0.push_str(&folded(&host));
                texts.add(rest);
            }
        }
        let missing = self.words.iter().position(|word| !word.is_in(&self.texts));
        if let Some(missing) = missing {
            self.words[..=missing].rotate_right(1);
        }
        missing.is_none()
    }
}

/// The folded texts of an entry.
pub(super) struct Texts<'f>(&'f mut String);

impl Texts<'_> {
    /// Adds one.
    pub(super) fn add(&mut self, text: &str) {
        fold(text, self.0);
        self.0.push(SEPARATOR);
    }
}
