//! The items of the result, in their final places.

use std::collections::{HashMap, HashSet};

use super::entry::{self, EntryConflict, key_values};
use super::items::{ItemKey, Items, MergeItem};
use super::order::order;
use super::piece::{Clash, MergedPiece, Rendering};
use super::shared_codes::{self, EntryCodes};
use super::sides::Sides;
use super::{account, retargeted, text};
use crate::mapping::Case;

/// An item of the result.
#[derive(Debug)]
pub(super) struct Placed<'l> {
    pub(super) key: &'l ItemKey,
    /// Blank lines above it.
    pub(super) gap: String,
    pub(super) piece: MergedPiece,
    /// The versions that it was merged from.
    from: Sides<Option<&'l MergeItem<'l>>>,
}

/// Returns the items of the result, in order; `cases` is whether case counts in each version.
pub(super) fn place<'l>(sides: &'l Sides<Items<'l>>, cases: Sides<Case>) -> Vec<Placed<'l>> {
    let keys = sides
        .each()
        .map(|it| it.list.iter().map(|it| &it.key).collect());
    let order = order(&keys, |key| matches!(key, ItemKey::Comment(..)));
    let found = sides.each().map(|items| {
        let items = items.list.iter().map(|item| (&item.key, item));
        items.collect::<HashMap<_, _>>()
    });
    let items = order.keys.iter().filter_map(|key| {
        let from = found.each().map(|items| items.get(key).copied());
        merged(key, from)
    });
    let mut placed: Vec<_> = items.collect();
    join_retargeted(&mut placed, &retargeted::find(sides));
    part_shared_codes(&mut placed, cases);
    let is_sorted = sides.each().map(is_sorted);
    let (first, second) = is_sorted.led_by(order.is_theirs);
    if first && (second || order.has_moved) {
        sections(&mut placed).for_each(sort);
    }
    placed
}

/// Merges one item; `None` if it was removed.
fn merged<'l>(key: &'l ItemKey, from: Sides<Option<&'l MergeItem<'l>>>) -> Option<Placed<'l>> {
    let gaps = from.map(|item| item.map(|item| &*item.gap));
    let gap = match (from.ours, from.theirs) {
        (Some(ours), Some(_)) => gaps.settled().flatten().unwrap_or(&ours.gap),
        (ours, theirs) => ours.or(theirs).map_or("", |item| &item.gap),
    };
    let of_one = |item: &MergeItem<'_>| Some(MergedPiece::Agreed(item.text()));
    let piece = match (from.base, from.ours, from.theirs) {
        (_, Some(ours), Some(theirs)) => Some(joined(key, from, ours, theirs)),
        (None, Some(one), None) | (None, None, Some(one)) => of_one(one),
        (Some(base), Some(ours), None) => changed(base, ours).then(|| {
            let why = format!(
                "{} was changed by ours and removed by theirs",
                described(key)
            );
            MergedPiece::Clash(Clash::new(ours.text(), String::new(), why))
        }),
        (Some(base), None, Some(theirs)) => changed(base, theirs).then(|| {
            let why = format!(
                "{} was removed by ours and changed by theirs",
                described(key)
            );
            MergedPiece::Clash(Clash::new(String::new(), theirs.text(), why))
        }),
        (_, None, None) => None,
    };
    Some(Placed {
        key,
        gap: gap.to_owned(),
        piece: piece?,
        from,
    })
}

/// Merges an item that both sides have.
fn joined(
    key: &ItemKey,
    from: Sides<Option<&MergeItem<'_>>>,
    ours: &MergeItem<'_>,
    theirs: &MergeItem<'_>,
) -> MergedPiece {
    if ours.entry.is_none() {
        return joined_comments(from, ours, theirs);
    }
    let comments = from.map(|item| item.map_or("", |item| &item.comments));
    let comments = text::clean(comments).ok_or_else(|| EntryConflict::CommentsAbove {
        code: name(key).to_owned(),
    });
    let entries = from.map(|item| item.and_then(|item| item.entry));
    let both = comments.and_then(|above| Ok(above + &entry::merge(entries, name(key))?));
    match both {
        Ok(text) => MergedPiece::Agreed(text),
        Err(why) => MergedPiece::Clash(Clash::new(ours.text(), theirs.text(), why.to_string())),
    }
}

/// Merges separate comments, wherever their first line begins.
fn joined_comments(
    from: Sides<Option<&MergeItem<'_>>>,
    ours: &MergeItem<'_>,
    theirs: &MergeItem<'_>,
) -> MergedPiece {
    let comments = from.map(|item| item.map_or("", |item| item.comments.trim_start()));
    let Some(text) = text::clean(comments) else {
        let why = "both sides changed these comments".to_owned();
        return MergedPiece::Clash(Clash::new(ours.text(), theirs.text(), why));
    };
    let indent = ours.comments.len() - ours.comments.trim_start().len();
    MergedPiece::Agreed(format!("{}{text}", &ours.comments[..indent]))
}

/// Returns whether the keys or the comments of an item changed.
fn changed(before: &MergeItem<'_>, after: &MergeItem<'_>) -> bool {
    if before.comments.trim_start() != after.comments.trim_start() {
        return true;
    }
    let (Some(old), Some(new)) = (before.entry, after.entry) else {
        return false;
    };
    key_values(&old.pairs) != key_values(&new.pairs)
        || account::comments(old) != account::comments(new)
}

/// Marks entries that both sides gave another target as one conflict, at the place of ours.
fn join_retargeted(placed: &mut Vec<Placed<'_>>, entries: &[Sides<&ItemKey>]) {
    if entries.is_empty() {
        return;
    }
    let numbered = placed
        .iter()
        .enumerate()
        .map(|(number, it)| (it.key, number));
    let positions: HashMap<_, _> = numbered.collect();
    let mut joined = HashSet::new();
    for entry in entries {
        let position = |key| positions.get(key).copied();
        let (Some(ours), Some(theirs)) = (position(entry.ours), position(entry.theirs)) else {
            continue;
        };
        let text = |number: usize| placed[number].piece.text(Rendering::Marked).to_owned();
        let why = format!("both sides changed the \"url\" of {:?}", name(entry.base));
        placed[ours].piece = MergedPiece::Clash(Clash::new(text(ours), text(theirs), why));
        joined.insert(theirs);
    }
    let mut numbers = 0..;
    placed.retain(|_| {
        numbers
            .next()
            .is_none_or(|number| !joined.contains(&number))
    });
}

/// Marks entries that would get a code which another entry has on the other side.
fn part_shared_codes(placed: &mut [Placed<'_>], cases: Sides<Case>) {
    let entries: Vec<_> = placed.iter().map(codes_of).collect();
    for (number, why) in shared_codes::clashes(&entries, cases) {
        let placed = &mut placed[number];
        let text = |item: Option<&MergeItem<'_>>| item.map(MergeItem::text).unwrap_or_default();
        let clash = Clash::new(text(placed.from.ours), text(placed.from.theirs), why);
        placed.piece = MergedPiece::Clash(clash);
    }
}

/// Returns the codes that an entry has on each side and, if it is agreed on, in the result.
fn codes_of<'l>(placed: &Placed<'l>) -> EntryCodes<'l> {
    let entries = placed.from.map(|item| item.and_then(|item| item.entry));
    let is_agreed = matches!(placed.piece, MergedPiece::Agreed(_));
    EntryCodes::new(name(placed.key), entries, is_agreed)
}

/// Returns the description of an item for messages.
fn described(key: &ItemKey) -> String {
    match key {
        ItemKey::Comment(..) => "a comment".to_owned(),
        ItemKey::Entry(code) => format!("the entry {:?}", code.as_str()),
    }
}

/// Returns the code of an entry, or the text of a comment.
fn name(key: &ItemKey) -> &str {
    match key {
        ItemKey::Comment(text, _) => text,
        ItemKey::Entry(code) => code.as_str(),
    }
}

fn is_sorted(items: &Items<'_>) -> bool {
    let mut sections = items.list.split(|item| item.entry.is_none());
    let code = |item: &MergeItem<'_>| name(&item.key).to_owned();
    items.list.len() > 1 && sections.all(|items| items.is_sorted_by_key(code))
}

fn sections<'p, 'l>(placed: &'p mut [Placed<'l>]) -> impl Iterator<Item = &'p mut [Placed<'l>]> {
    placed.split_mut(|it| matches!(it.key, ItemKey::Comment(..)))
}

/// Sorts entries by code, and leaves gaps in their places.
fn sort(section: &mut [Placed<'_>]) {
    let gaps: Vec<_> = section.iter().map(|it| it.gap.clone()).collect();
    section.sort_by(|a, b| name(a.key).cmp(name(b.key)));
    for (placed, gap) in section.iter_mut().zip(gaps) {
        placed.gap = gap;
    }
}
