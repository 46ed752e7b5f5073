//! Items: the entries of a document as written, with their keys and types.

use std::borrow::Cow;

use super::variants::WrittenVariants;
use crate::mapping::parse::{Located, Reader, SeenKeys, Stop};
use crate::mapping::value::{
    Forward, Position, Retired, Rule, Status, Timestamp, direction_control,
};

/// An entry as written, on its way into a draft.
#[derive(Debug)]
pub(crate) struct Item<'t> {
    pub(crate) position: Position,
    pub(crate) url: Option<Located<Cow<'t, str>>>,
    pub(crate) short_code: Option<Located<Cow<'t, str>>>,
    /// Whether it has a `short-code` or a `number`, possibly of the wrong type.
    pub(crate) names_code: bool,
    pub(crate) status: Option<Status>,
    pub(crate) forward: Option<Located<Forward>>,
    pub(super) rare: Option<Box<RareKeys<'t>>>,
}

/// The keys that few entries have, kept apart to keep the others small.
#[derive(Debug, Default)]
pub(crate) struct RareKeys<'t> {
    pub(crate) number: Option<Located<u64>>,
    pub(crate) aliases: Vec<Located<Cow<'t, str>>>,
    pub(crate) cache_max_age: Option<u32>,
    pub(crate) title: Option<Cow<'t, str>>,
    pub(crate) owner: Option<Cow<'t, str>>,
    pub(crate) tags: Vec<Cow<'t, str>>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) retired: Option<Retired>,
    pub(crate) archive: Option<Located<Cow<'t, str>>>,
    pub(crate) below: Option<Located<Cow<'t, str>>>,
    pub(super) variants: Option<WrittenVariants<'t>>,
}

#[derive(Debug, Clone, Copy)]
enum EntryKey {
    Url,
    ShortCode,
    Number,
    Aliases,
    Status,
    Forward,
    Title,
    Owner,
    Tags,
    CacheMaxAge,
    Expires,
    Retired,
    Archive,
    Below,
    Variants,
}

const ENTRY_KEYS: &[(&str, EntryKey)] = &[
    ("url", EntryKey::Url),
    ("short-code", EntryKey::ShortCode),
    ("number", EntryKey::Number),
    ("aliases", EntryKey::Aliases),
    ("status", EntryKey::Status),
    ("forward", EntryKey::Forward),
    ("title", EntryKey::Title),
    ("owner", EntryKey::Owner),
    ("tags", EntryKey::Tags),
    ("cache-max-age", EntryKey::CacheMaxAge),
    ("expires", EntryKey::Expires),
    ("retired", EntryKey::Retired),
    ("archive", EntryKey::Archive),
    ("below", EntryKey::Below),
    ("variants", EntryKey::Variants),
];

impl<'t> Item<'t> {
    /// Reads the keys of an entry, and reports every problem of their form.
    pub(super) fn read(reader: &mut Reader<'t, '_>, position: Position) -> Result<Self, Stop> {
        let mut entry = Self {
            position,
            url: None,
            short_code: None,
            names_code: false,
            status: None,
            forward: None,
            rare: None,
        };
        let mut seen = SeenKeys::default();
        while let Some(key) = reader.key(ENTRY_KEYS, &mut seen)? {
            match key.value {
                EntryKey::Url => entry.url = reader.url("url")?,
                EntryKey::ShortCode => entry.short_code = reader.text("short-code")?,
                EntryKey::Status => entry.status = bare(reader.status()?),
                EntryKey::Forward => entry.forward = reader.forward()?,
                EntryKey::Number => entry.rare().number = reader.number()?,
                EntryKey::Aliases => entry.rare().aliases = reader.texts("aliases")?,
                EntryKey::Title => {
                    let title = reader.text("title")?;
                    check_direction(reader, "title", title.as_slice());
                    entry.rare().title = bare(title);
                }
                EntryKey::Owner => {
                    let owner = reader.text("owner")?;
                    check_direction(reader, "owner", owner.as_slice());
                    entry.rare().owner = bare(owner);
                }
                EntryKey::Tags => {
                    let tags = reader.texts("tags")?;
                    check_direction(reader, "tags", &tags);
                    entry.rare().tags = tags.into_iter().map(|tag| tag.value).collect();
                }
                EntryKey::CacheMaxAge => entry.rare().cache_max_age = reader.cache_max_age()?,
                EntryKey::Expires => entry.rare().expires = reader.expires()?,
                EntryKey::Retired => entry.rare().retired = reader.retired()?,
                EntryKey::Archive => entry.rare().archive = reader.url("archive")?,
                EntryKey::Below => entry.rare().below = reader.url("below")?,
                EntryKey::Variants => {
                    let position = key.position;
                    entry.rare().variants = WrittenVariants::read(reader, position)?;
                }
            }
        }
        entry.check_presence(reader, &seen);
        Ok(entry)
    }

    fn rare(&mut self) -> &mut RareKeys<'t> {
        self.rare.get_or_insert_default()
    }

    /// Reports keys that are missing or exclude each other.
    fn check_presence(&mut self, reader: &mut Reader<'t, '_>, seen: &SeenKeys) {
        let has = |wanted| seen.position(index_of(ENTRY_KEYS, wanted));
        let lacks_url = !seen.is_intended(index_of(ENTRY_KEYS, "url"));
        let code = has("short-code").or(has("number"));
        self.names_code = code.is_some();
        if lacks_url && (has("retired").is_none() || code.is_none()) {
            if has("retired").is_some() {
                reader.problem_with_hint(
                    Rule::KeyMissing,
                    self.position,
                    "the key \"url\" is missing",
                    "a retired entry can drop it only if it names its \"short-code\" or \"number\"",
                );
            } else {
                let message = "the key \"url\" is missing";
                let nested = reader.skipped_since(self.position, "url");
                let hint = nested.map(|at| {
                    format!(
                        "the one on line {} is inside another key: \
                         begin it in the column of the entry's first key",
                        at.line
                    )
                });
                let report = reader.report();
                report.problem(Rule::KeyMissing, self.position, message, hint);
            }
        }
        if let (Some(_), Some(number)) = (has("short-code"), has("number")) {
            reader.problem_with_hint(
                Rule::CodeAndNumber,
                number,
                "an entry has a \"short-code\" or a \"number\", not both",
                "list further codes under \"aliases\"",
            );
        }
    }
}

/// Returns whether a key is one of entries.
pub(super) fn is_entry_key(key: &str) -> bool {
    ENTRY_KEYS.iter().any(|(name, _)| *name == key)
}

/// Warns of descriptive texts that can read as others.
fn check_direction(reader: &mut Reader<'_, '_>, key: &str, texts: &[Located<Cow<'_, str>>]) {
    for Located { value, position } in texts {
        if let Some(control) = direction_control(value) {
            let number = u32::from(control);
            let message = format!("{key:?} changes the direction of writing (U+{number:04X})");
            let hint = "remove the character: it can make a text look like another";
            let report = reader.report();
            report.problem_with_hint(Rule::TextDirection, *position, message, hint);
        }
    }
}

/// Returns a value without its position.
pub(super) fn bare<T>(located: Option<Located<T>>) -> Option<T> {
    located.map(|located| located.value)
}

/// Returns the index of a key among the known ones; their number if it is not one of them.
pub(super) fn index_of<K>(known: &[(&str, K)], wanted: &str) -> usize {
    let found = known.iter().position(|(name, _)| *name == wanted);
    found.unwrap_or(known.len())
}
