//! Documents: one parsed YAML file each, with source positions.
//!
//! A document knows its keys and their types, but not other documents: code conflicts and invalid
//! targets are found when a table is compiled.

use std::borrow::Cow;
use std::sync::Arc;

use super::admit::{admit, check_defaults};
use crate::mapping::packed::Draft;
use crate::mapping::parse::{Located, Node, Reader, Report, SeenKeys, Stop, text};
use crate::mapping::value::{
    Defaults, Forward, Position, Problems, Retired, Rule, Scheme, SourceFile, Status, Timestamp,
    direction_control,
};

/// One parsed file.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    pub(crate) number: u32,
    pub(crate) file: Arc<str>,
    pub(crate) base_url: Option<Located<Cow<'t, str>>>,
    pub(crate) scheme: Option<Located<Scheme>>,
    pub(crate) defaults: Defaults,
    pub(crate) entries: Draft,
    pub(crate) tests: Vec<TestItem<'t>>,
    /// Whether it was read to its end and names no base URL, not even an invalid one.
    pub(super) lacks_base_url: bool,
}

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
}

/// A test written in a table.
#[derive(Debug)]
pub(crate) struct TestItem<'t> {
    pub(crate) from: Located<Cow<'t, str>>,
    pub(crate) to: Located<Cow<'t, str>>,
}

#[derive(Debug, Clone, Copy)]
enum DocumentKey {
    BaseUrl,
    Mapping,
    Defaults,
    CodeScheme,
    Tests,
}

const DOCUMENT_KEYS: &[(&str, DocumentKey)] = &[
    ("base_url", DocumentKey::BaseUrl),
    ("mapping", DocumentKey::Mapping),
    ("defaults", DocumentKey::Defaults),
    ("code-scheme", DocumentKey::CodeScheme),
    ("tests", DocumentKey::Tests),
];

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
];

#[derive(Debug, Clone, Copy)]
enum DefaultsKey {
    Status,
    Forward,
    CacheMaxAge,
    New,
}

const DEFAULTS_KEYS: &[(&str, DefaultsKey)] = &[
    ("status", DefaultsKey::Status),
    ("forward", DefaultsKey::Forward),
    ("cache-max-age", DefaultsKey::CacheMaxAge),
    ("new", DefaultsKey::New),
];

#[derive(Debug, Clone, Copy)]
enum TestKey {
    From,
    To,
}

const TEST_KEYS: &[(&str, TestKey)] = &[("from", TestKey::From), ("to", TestKey::To)];

impl<'t> Document<'t> {
    /// Reads a file and reports every problem of its form; returns whatever could be read.
    ///
    /// `number` is the number of the file in its table.
    pub(crate) fn read(number: u32, file: &'t SourceFile, problems: &mut Problems) -> Self {
        let text = match text::decode(file) {
            Ok(text) => text,
            Err(problem) => {
                problems.push(problem);
                return Self::unread(number, file);
            }
        };
        let before = problems.checkpoint(&file.path);
        let mut document = Self::unread(number, file);
        let mut reader = Reader::block(&file.path, text, problems);
        if let Err(Stop::Declined) = document.fill(&mut reader) {
            problems.return_to(before);
            document = Self::unread(number, file);
            if let Err(found) = text::check(&file.path, text) {
                for problem in found {
                    problems.push(problem);
                }
                return document;
            }
            let mut reader = Reader::yaml(&file.path, text, problems);
            // The reader has reported a syntax error, and there is nothing more to read.
            let (Ok(()) | Err(_)) = document.fill(&mut reader);
        }
        let report = &mut Report {
            file: &file.path,
            problems,
        };
        check_defaults(&document.entries, &document.defaults, report);
        document.entries.set_defaults(&document.defaults);
        document
    }

    fn unread(number: u32, file: &SourceFile) -> Self {
        Self {
            number,
            file: Arc::clone(&file.path),
            base_url: None,
            scheme: None,
            defaults: Defaults::default(),
            entries: Draft::for_file(file),
            tests: Vec::new(),
            lacks_base_url: false,
        }
    }

    fn fill(&mut self, reader: &mut Reader<'t, '_>) -> Result<(), Stop> {
        match reader.root()? {
            None => reader.problem_with_hint(
                Rule::FileEmpty,
                Position::START,
                "the file is empty",
                "a table begins with \"base_url:\" and \"mapping:\"",
            ),
            Some(Located {
                value: Node::Mapping,
                position,
            }) => {
                self.keys(reader, position)?;
                reader.finish()?;
            }
            Some(Located { value, position }) => {
                reader.problem_with_hint(
                    Rule::ValueWrongType,
                    position,
                    format!("a table is a map of keys, found {}", value.noun()),
                    "it begins with \"base_url:\" and \"mapping:\"",
                );
                reader.skip(&value)?;
                reader.finish()?;
            }
        }
        Ok(())
    }

    fn keys(&mut self, reader: &mut Reader<'t, '_>, start: Position) -> Result<(), Stop> {
        let mut seen = SeenKeys::default();
        while let Some(key) = reader.key(DOCUMENT_KEYS, &mut seen)? {
            match key.value {
                DocumentKey::BaseUrl => self.base_url = reader.text("base_url")?,
                DocumentKey::Mapping => {
                    if reader.list("mapping")? {
                        self.read_entries(reader)?;
                    }
                }
                DocumentKey::Defaults => self.read_defaults(reader)?,
                DocumentKey::CodeScheme => {
                    self.scheme = reader.scheme()?;
                }
                DocumentKey::Tests => {
                    if reader.list("tests")? {
                        self.read_tests(reader)?;
                    }
                }
            }
        }
        self.lacks_base_url = !seen.is_meant(index_of(DOCUMENT_KEYS, "base_url"));
        if !seen.is_meant(index_of(DOCUMENT_KEYS, "mapping")) {
            reader.problem_with_hint(
                Rule::KeyMissing,
                start,
                "the key \"mapping\" is missing",
                "add \"mapping: []\", or list the entries under it",
            );
        }
        Ok(())
    }

    fn read_defaults(&mut self, reader: &mut Reader<'t, '_>) -> Result<(), Stop> {
        if !reader.map("defaults")? {
            return Ok(());
        }
        let defaults = &mut self.defaults;
        let mut seen = SeenKeys::default();
        while let Some(key) = reader.key(DEFAULTS_KEYS, &mut seen)? {
            match key.value {
                DefaultsKey::Status => defaults.status = bare(reader.status()?),
                DefaultsKey::Forward => {
                    defaults.forward = bare(reader.forward()?);
                }
                DefaultsKey::CacheMaxAge => defaults.cache_max_age = reader.cache_max_age()?,
                DefaultsKey::New => defaults.new = bare(reader.new_code()?),
            }
        }
        Ok(())
    }

    fn read_entries(&mut self, reader: &mut Reader<'t, '_>) -> Result<(), Stop> {
        while let Some(Located { value, position }) = reader.node()? {
            if matches!(value, Node::Mapping) {
                let item = Item::read(reader, position)?;
                admit(&item, self.number, &mut self.entries, reader.report());
                continue;
            }
            if !matches!(value, Node::Alias) {
                reader.problem_with_hint(
                    Rule::ValueWrongType,
                    position,
                    format!("an entry is a map of keys, found {}", value.noun()),
                    "write \"- url: https://…\"",
                );
            }
            reader.skip(&value)?;
        }
        Ok(())
    }

    fn read_tests(&mut self, reader: &mut Reader<'t, '_>) -> Result<(), Stop> {
        while let Some(Located { value, position }) = reader.node()? {
            if !matches!(value, Node::Mapping) {
                if !matches!(value, Node::Alias) {
                    let message = format!("a test is a map of keys, found {}", value.noun());
                    reader.problem(Rule::ValueWrongType, position, message);
                }
                reader.skip(&value)?;
                continue;
            }
            let (mut from, mut to) = (None, None);
            let mut seen = SeenKeys::default();
            while let Some(key) = reader.key(TEST_KEYS, &mut seen)? {
                match key.value {
                    TestKey::From => from = reader.text("from")?,
                    TestKey::To => to = reader.text("to")?,
                }
            }
            match (from, to) {
                (Some(from), Some(to)) => self.tests.push(TestItem { from, to }),
                // A value of the wrong type has already been reported.
                _ if seen.position(0).and(seen.position(1)).is_some() => {}
                _ => reader.problem(
                    Rule::KeyMissing,
                    position,
                    "a test needs both \"from\" and \"to\"",
                ),
            }
        }
        Ok(())
    }
}

impl<'t> Item<'t> {
    fn read(reader: &mut Reader<'t, '_>, position: Position) -> Result<Self, Stop> {
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
                EntryKey::Url => entry.url = reader.text("url")?,
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
                EntryKey::Archive => entry.rare().archive = reader.text("archive")?,
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
        let lacks_url = !seen.is_meant(index_of(ENTRY_KEYS, "url"));
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
                reader.problem(
                    Rule::KeyMissing,
                    self.position,
                    "the key \"url\" is missing",
                );
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

/// Warns of descriptive texts that can read as others.
fn check_direction(reader: &mut Reader<'_, '_>, key: &str, texts: &[Located<Cow<'_, str>>]) {
    for Located { value, position } in texts {
        if let Some(control) = direction_control(value) {
            let number = u32::from(control);
            let message = format!("{key:?} changes the direction of writing (U+{number:04X})");
            let hint = "remove the character: with it, a text can read as another";
            let report = reader.report();
            report.problem_with_hint(Rule::TextDirection, *position, message, hint);
        }
    }
}

fn bare<T>(located: Option<Located<T>>) -> Option<T> {
    located.map(|located| located.value)
}

/// Returns the index of a key among the known ones; their number if it is not one of them.
fn index_of<K>(known: &[(&str, K)], wanted: &str) -> usize {
    let found = known.iter().position(|(name, _)| *name == wanted);
    found.unwrap_or(known.len())
}
