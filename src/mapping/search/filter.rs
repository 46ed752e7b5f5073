//! Filters: which entries are searched for.
//!
//! Each word of a text must occur somewhere in an entry: in its code, an alias, its target, title,
//! owner or tags. Case does not count.

use memchr::memmem::Finder;

use super::fold::{fold, folded, folds_to};
use super::state::LinkState;
use crate::mapping::packed::{Entry, NoteKind};
use crate::mapping::value::Timestamp;

/// Separates the texts of an entry where all are searched at once: no word has it.
const SEPARATOR: char = '\n';

/// What entries are selected by; by default, all are.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The folded words, longest first: it is the least likely to occur.
    words: Vec<Finder<'static>>,
    tag: Option<String>,
    owner: Option<String>,
    state: Option<LinkState>,
    /// The texts of the entry that is looked at.
    texts: String,
}

impl Filter {
    /// Selects entries that have each of the words of a text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let text = folded(text);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        words.dedup();
        let finder = |word: &&str| Finder::new(word.as_bytes()).into_owned();
        self.words = words.iter().map(finder).collect();
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

    /// Returns whether it looks at the texts of entries.
    pub(super) fn reads_texts(&self) -> bool {
        !self.words.is_empty() || self.tag.is_some() || self.owner.is_some()
    }

    /// Returns whether it selects an entry at the given time. It changes nothing but memory that is
    /// used again.
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
                    NoteKind::Title => {}
                    NoteKind::Archive => continue,
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
        if let Some((start, rest)) = entry.target_parts() {
            texts.0.push_str(start);
            texts.add(rest);
        }
        let texts = self.texts.as_bytes();
        self.words.iter().all(|word| word.find(texts).is_some())
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
