//! Merging of one entry that both sides changed, key by key.
//!
//! A key that one side changed is taken from that side, byte for byte; the lists `aliases` and
//! `tags` are merged by item. Invariant: the result is the body of an entry that is valid on its
//! own and has the intended content.

use std::collections::{BTreeMap, HashSet};

use super::indentation::shifted;
use super::sides::Sides;
use super::text;
use crate::edit::layout::LayoutEntry;
use crate::mapping::{Outline, Pair, SourceFile};

/// Keys whose values are lists in which the order is irrelevant.
const LISTS: [&str; 2] = ["aliases", "tags"];

/// The values of the keys of an entry.
pub(super) type KeyValues<'e> = BTreeMap<&'e str, Vec<&'e str>>;

/// Returns the values of the keys of an entry.
pub(super) fn key_values<'e>(pairs: &'e [Pair<'_>]) -> KeyValues<'e> {
    pairs
        .iter()
        .map(|pair| (&*pair.key, values(pair)))
        .collect()
}

/// The reason why an entry cannot be merged.
#[derive(Debug, thiserror::Error)]
pub(super) enum EntryConflict {
    #[error("both sides changed the comments above {code:?}")]
    CommentsAbove { code: String },
    #[error("both sides changed the comments at {key:?} of {code:?}")]
    Comments { key: String, code: String },
    #[error("the code {code:?} leads to two targets")]
    Targets { code: String },
    #[error("both sides changed {key:?} of {code:?}")]
    Values { key: String, code: String },
    #[error("both sides changed the entry {code:?} in ways that cannot be combined")]
    Inseparable { code: String },
}

/// Merges the lines of an entry that both sides have.
pub(super) fn merge(
    sides: Sides<Option<&LayoutEntry<'_>>>,
    code: &str,
) -> Result<String, EntryConflict> {
    let bodies = sides.map(|entry| entry.map_or("", |entry| &*entry.body));
    if let Some(body) = bodies.settled() {
        return Ok(body.to_owned());
    }
    let inseparable = || EntryConflict::Inseparable { code: code.into() };
    let chunks = sides.map(|it| it.map_or(Some(Vec::new()), chunks));
    let chunks = chunks.all().ok_or_else(inseparable)?;
    let mut merged = Vec::new();
    for key in keys(&chunks.ours, &chunks.theirs) {
        let one = chunks
            .each()
            .map(|chunks| chunks.iter().find(|it| it.key == key));
        let chunk = merge_key(one).map_err(|differs| differs.of(key, code))?;
        merged.extend(chunk);
    }
    let like = sides.ours.ok_or_else(inseparable)?;
    let body = written(like, &merged);
    is_valid(&body, &merged)
        .then_some(body)
        .ok_or_else(inseparable)
}

/// A key with its value and everything up to the next key.
#[derive(Debug, Clone)]
struct Chunk<'e> {
    key: &'e str,
    values: Vec<&'e str>,
    /// The values as written.
    written_values: Vec<&'e str>,
    /// The text from the key to the end of the value. Lines after the first are relative to the
    /// column of the key.
    text: String,
    /// The text after that, with the end of the line: comments.
    tail: String,
}

/// The part of a key on which both sides disagree.
enum Differs {
    Values,
    Comments,
}

impl Differs {
    fn of(self, key: &str, code: &str) -> EntryConflict {
        let (key, code) = (key.to_owned(), code.to_owned());
        match self {
            Self::Values if key == "url" => EntryConflict::Targets { code },
            Self::Values => EntryConflict::Values { key, code },
            Self::Comments => EntryConflict::Comments { key, code },
        }
    }
}

/// Returns the keys of an entry; `None` if its lines cannot be assigned to keys.
fn chunks<'e>(entry: &'e LayoutEntry<'_>) -> Option<Vec<Chunk<'e>>> {
    let (body, pairs) = (&*entry.body, &entry.pairs);
    let column = pairs.first()?.span.start;
    let line_start = |pair: &Pair<'_>| body[..pair.span.start].rfind('\n').map_or(0, |at| at + 1);
    let ends = pairs[1..].iter().map(line_start).chain([body.len()]);
    let chunks = pairs.iter().zip(ends).map(|(pair, end)| {
        let moved = |text: &str| {
            let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
            let is_one_line = first.len() == text.len();
            let rest = shifted(rest, column, 0)?;
            Some(if is_one_line {
                first.to_owned()
            } else {
                format!("{first}\n{rest}")
            })
        };
        Some(Chunk {
            key: &pair.key,
            values: values(pair),
            written_values: pair
                .values
                .iter()
                .map(|it| &body[it.span.clone()])
                .collect(),
            text: moved(body.get(pair.span.clone())?)?,
            tail: moved(body.get(pair.span.end..end)?)?,
        })
    });
    chunks.collect()
}

fn values<'e>(pair: &'e Pair<'_>) -> Vec<&'e str> {
    pair.values.iter().map(|value| &*value.text).collect()
}

/// Returns all keys in the order of ours; those of theirs follow the same keys as there.
fn keys<'e>(ours: &[Chunk<'e>], theirs: &[Chunk<'e>]) -> Vec<&'e str> {
    let mut keys: Vec<_> = ours.iter().map(|it| it.key).collect();
    let mut last = None;
    for key in theirs.iter().map(|it| it.key) {
        if !keys.contains(&key) {
            let before = keys.iter().position(|it| Some(*it) == last);
            keys.insert(before.map_or(keys.len(), |at| at + 1), key);
        }
        last = Some(key);
    }
    keys
}

/// Merges one key; `None` if it was removed.
fn merge_key<'e>(sides: Sides<Option<&Chunk<'e>>>) -> Result<Option<Chunk<'e>>, Differs> {
    let (ours, theirs) = match (sides.base, sides.ours, sides.theirs) {
        (_, Some(ours), Some(theirs)) => (ours, theirs),
        (None, one, other) => return Ok(one.or(other).cloned()),
        (Some(base), one, other) => {
            let rest = one.or(other);
            let is_untouched =
                rest.is_none_or(|it| it.values == base.values && it.tail == base.tail);
            return is_untouched.then_some(None).ok_or(Differs::Values);
        }
    };
    let values = sides.map(|it| it.map(|it| &it.values));
    let texts = sides.map(|it| it.map(|it| &*it.text));
    let tails = sides.map(|it| it.map_or("\n", |it| &it.tail));
    let mut chunk = ours.clone();
    chunk.tail = text::clean(tails).ok_or(Differs::Comments)?;
    if values.ours == values.theirs {
        if texts.ours == texts.base {
            chunk.text.clone_from(&theirs.text);
        }
    } else if values.ours == values.base {
        chunk.text.clone_from(&theirs.text);
        chunk.values.clone_from(&theirs.values);
    } else if values.theirs != values.base {
        let base = sides.base.map_or(&[][..], |base| &base.values);
        (chunk.values, chunk.text) = merge_list(base, ours, theirs).ok_or(Differs::Values)?;
    }
    Ok(Some(chunk))
}

/// Merges a list that both sides changed; `None` if it is not a list, or contains comments.
fn merge_list<'e>(
    base: &[&str],
    ours: &Chunk<'e>,
    theirs: &Chunk<'e>,
) -> Option<(Vec<&'e str>, String)> {
    // A comment in a list, or after its last line, may be about an item.
    let is_about_items = |it: &Chunk<'_>| {
        let after = it.tail.lines().next().unwrap_or_default();
        it.text.contains('#') || (it.text.contains('\n') && after.contains('#'))
    };
    if !LISTS.contains(&ours.key) || is_about_items(ours) || is_about_items(theirs) {
        return None;
    }
    let [in_base, in_ours, in_theirs] =
        [base, &ours.values, &theirs.values].map(|it| it.iter().collect::<HashSet<_>>());
    let ours_and = ours.values.iter().zip(&ours.written_values);
    let kept = ours_and.filter(|(it, _)| !in_base.contains(it) || in_theirs.contains(it));
    let theirs_and = theirs.values.iter().zip(&theirs.written_values);
    let added = theirs_and.filter(|(it, _)| !in_base.contains(it) && !in_ours.contains(it));
    let all = kept
        .chain(added)
        .map(|(value, written_values)| (*value, *written_values));
    let (values, written_values): (Vec<_>, Vec<_>) = all.unzip();
    let (key, list) = ours.text.split_once(':')?;
    let text = match list.trim_start().strip_prefix('-') {
        Some(_) => {
            let indent = list.find('-')?.checked_sub(list.find('\n')? + 1)?;
            let indent = " ".repeat(indent);
            let items = written_values.iter().map(|it| format!("\n{indent}- {it}"));
            format!("{key}:{}", items.collect::<String>())
        }
        None => format!("{key}: [{}]", written_values.join(", ")),
    };
    Some((values, text))
}

/// Writes keys with the layout of an entry.
fn written(like: &LayoutEntry<'_>, chunks: &[Chunk<'_>]) -> String {
    let column = like.pairs[0].span.start;
    let mut body = like.body[..column].to_owned();
    for (number, chunk) in chunks.iter().enumerate() {
        let lines = format!("{}{}", chunk.text, chunk.tail);
        let lines = shifted(&lines, 0, column).unwrap_or_default();
        body += if number == 0 {
            &lines[column..]
        } else {
            &lines
        };
    }
    body
}

/// Returns whether an entry is valid and has the intended content.
fn is_valid(body: &str, chunks: &[Chunk<'_>]) -> bool {
    let file = SourceFile {
        path: "".into(),
        bytes: format!("mapping:\n{body}").into_bytes(),
    };
    let outline = Outline::of(&file).map(|it| it.entries).unwrap_or_default();
    let expected: KeyValues<'_> = chunks
        .iter()
        .map(|it| (it.key, it.values.clone()))
        .collect();
    matches!(&outline[..], [entry] if key_values(&entry.pairs) == expected)
}
