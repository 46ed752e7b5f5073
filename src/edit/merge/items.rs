//! A document as a list of items: entries, and the separate comments between them.
//!
//! The text before the list, with the line of its key, is the head; the text after it, from the
//! next key on, is the tail. Invariant: head, items and tail in their order are the document.

use std::collections::{HashMap, HashSet};

use crate::edit::layout::{Layout, LayoutEntry};
use crate::mapping::Code;

/// A document split into items.
#[derive(Debug)]
pub(super) struct Items<'l> {
    pub(super) head: &'l str,
    pub(super) list: Vec<MergeItem<'l>>,
    /// The text after the list, including blank lines before it.
    pub(super) tail: String,
}

/// The key by which an item is found on the other side.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ItemKey {
    /// The text of a comment, or its text before a side changed it, and the number of equal
    /// comments before it.
    Comment(String, usize),
    Entry(Code),
}

/// An entry with the comments above it, or comments that no entry follows.
#[derive(Debug)]
pub(super) struct MergeItem<'l> {
    pub(super) key: ItemKey,
    /// Blank lines above it.
    pub(super) gap: String,
    pub(super) comments: String,
    pub(super) entry: Option<&'l LayoutEntry<'l>>,
}

impl MergeItem<'_> {
    /// Returns its lines, without its gap.
    pub(super) fn text(&self) -> String {
        let body = self.entry.map_or("", |entry| &entry.body);
        format!("{}{body}", self.comments)
    }
}

impl<'l> Items<'l> {
    /// Splits a layout; `None` if a code occurs twice, because entries could not be found by it.
    pub(super) fn of(layout: &'l Layout<'l>) -> Option<Self> {
        let head = head_len(layout.before);
        let mut walk = ItemWalk::default();
        walk.comments(&layout.before[head..]);
        for section in &layout.sections {
            walk.comments(section.heading);
            for entry in &section.entries {
                walk.comments(entry.gap);
                walk.entry(entry);
            }
        }
        let loose = loose_len(layout.after);
        walk.comments(&layout.after[..loose]);
        let mut codes = HashSet::new();
        let mut entries = layout.sections.iter().flat_map(|it| &it.entries);
        entries.all(|it| codes.insert(&it.code)).then(|| Self {
            head: &layout.before[..head],
            list: walk.list,
            tail: walk.gap + &layout.after[loose..],
        })
    }
}

/// Matches comments that a side changed with their former text, if they replace one that was
/// removed.
pub(super) fn recognise(before: &Items<'_>, after: &mut Items<'_>) {
    let known: HashSet<_> = before.list.iter().map(|it| it.key.clone()).collect();
    let stay: HashSet<_> = after.list.iter().map(|it| it.key.clone()).collect();
    let mut gone = HashMap::new();
    for (number, item) in before.list.iter().enumerate() {
        if item.entry.is_none() && !stay.contains(&item.key) {
            for neighbour in neighbours(&before.list, number) {
                gone.insert(neighbour, item.key.clone());
            }
        }
    }
    let mut taken = HashSet::new();
    for number in 0..after.list.len() {
        let item = &after.list[number];
        if item.entry.is_some() || known.contains(&item.key) {
            continue;
        }
        let mut neighbours = neighbours(&after.list, number).into_iter();
        let key = neighbours.find_map(|it| gone.get(&it)).cloned();
        if let Some(key) = key.filter(|key| taken.insert(key.clone())) {
            after.list[number].key = key;
        }
    }
}

/// Returns the keys of the items below and above an item.
fn neighbours(list: &[MergeItem<'_>], number: usize) -> [(bool, Option<ItemKey>); 2] {
    let key = |number: Option<usize>| Some(list.get(number?)?.key.clone());
    [
        (true, key(number.checked_add(1))),
        (false, key(number.checked_sub(1))),
    ]
}

#[derive(Default)]
struct ItemWalk<'l> {
    list: Vec<MergeItem<'l>>,
    /// Blank lines that belong above the next item.
    gap: String,
    /// The number of occurrences of each comment.
    seen: HashMap<String, usize>,
}

impl<'l> ItemWalk<'l> {
    /// Collects comments and blank lines.
    fn comments(&mut self, text: &str) {
        let mut lines = text.split_inclusive('\n').peekable();
        let is_blank = |line: &&str| line.trim().is_empty();
        loop {
            while let Some(line) = lines.next_if(is_blank) {
                self.gap += line;
            }
            let mut comments = String::new();
            while let Some(line) = lines.next_if(|line| !is_blank(line)) {
                comments += line;
            }
            if comments.is_empty() {
                return;
            }
            let text = comments.trim().to_owned();
            let count = self.seen.entry(text.clone()).or_default();
            let key = ItemKey::Comment(text, *count);
            *count += 1;
            self.push(key, comments, None);
        }
    }

    fn entry(&mut self, entry: &'l LayoutEntry<'l>) {
        let key = ItemKey::Entry(entry.code.clone());
        self.push(key, entry.comments.to_owned(), Some(entry));
    }

    fn push(&mut self, key: ItemKey, comments: String, entry: Option<&'l LayoutEntry<'l>>) {
        self.list.push(MergeItem {
            key,
            gap: std::mem::take(&mut self.gap),
            comments,
            entry,
        });
    }
}

/// Returns the length of a text up to the last line that is neither blank nor a comment.
pub(super) fn head_len(text: &str) -> usize {
    let lines = text.split_inclusive('\n').rev();
    text.len() - lines.take_while(is_loose).map(str::len).sum::<usize>()
}

/// Returns the length of the blank lines and comments at the start of a text.
pub(super) fn loose_len(text: &str) -> usize {
    let lines = text.split_inclusive('\n');
    lines.take_while(is_loose).map(str::len).sum()
}

fn is_loose(line: &&str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}
