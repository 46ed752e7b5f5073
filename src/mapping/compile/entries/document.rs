//! Documents: one parsed YAML file each, with source positions.
//!
//! A document knows its keys and their types, but not other documents: code conflicts and invalid
//! targets are found when a table is compiled.

use std::borrow::Cow;
use std::sync::Arc;

use super::admit::{admit, check_defaults};
use super::item::{Item, bare, index_of, is_entry_key};
use super::site_url::{prefix_url, site_url};
use crate::mapping::cutting::{Cut, text};
use crate::mapping::packed::Draft;
use crate::mapping::parse::lookalike::name_lookalikes;
use crate::mapping::parse::{Located, Node, Reader, Report, SeenKeys, Stop};
use crate::mapping::value::{
    AboutError, Case, CollectionName, Contact, Defaults, Position, Problems, ProposalTemplate,
    Rule, Scheme, SourceFile, Target,
};

/// One parsed file.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    pub(crate) number: u32,
    pub(crate) file: Arc<str>,
    pub(crate) base_url: Option<Located<Cow<'t, str>>>,
    pub(crate) scheme: Option<Located<Scheme>>,
    pub(crate) about: WrittenAbout,
    pub(crate) defaults: Defaults,
    pub(crate) entries: Draft,
    pub(crate) tests: Vec<TestItem<'t>>,
    /// Whether it was read to its end and names no base URL, not even an invalid one.
    pub(in crate::mapping::compile) lacks_base_url: bool,
    /// Whether it is in block form.
    pub(in crate::mapping::compile) is_block: bool,
}

/// What a document says about its collection.
#[derive(Debug, Default)]
pub(crate) struct WrittenAbout {
    pub(crate) name: Option<Located<CollectionName>>,
    pub(crate) repository: Option<Located<Target<'static>>>,
    pub(crate) contact: Option<Located<Contact>>,
    pub(crate) propose: Option<Located<ProposalTemplate>>,
    pub(crate) home: Option<Located<Target<'static>>>,
    pub(crate) fallback: Option<Located<Target<'static>>>,
    pub(crate) case: Option<Located<Case>>,
}

/// A test written in a table.
#[derive(Debug)]
pub(crate) struct TestItem<'t> {
    pub(crate) from: Located<Cow<'t, str>>,
    pub(crate) to: Located<Cow<'t, str>>,
    /// The value of the field `Accept`.
    pub(crate) accept: Option<Located<Cow<'t, str>>>,
}

#[derive(Debug, Clone, Copy)]
enum DocumentKey {
    BaseUrl,
    Mapping,
    Defaults,
    CodeScheme,
    Name,
    Repository,
    Contact,
    Propose,
    Home,
    Fallback,
    Case,
    Tests,
}

const DOCUMENT_KEYS: &[(&str, DocumentKey)] = &[
    ("base_url", DocumentKey::BaseUrl),
    ("mapping", DocumentKey::Mapping),
    ("defaults", DocumentKey::Defaults),
    ("code-scheme", DocumentKey::CodeScheme),
    ("name", DocumentKey::Name),
    ("repository", DocumentKey::Repository),
    ("contact", DocumentKey::Contact),
    ("propose", DocumentKey::Propose),
    ("home", DocumentKey::Home),
    ("fallback", DocumentKey::Fallback),
    ("case", DocumentKey::Case),
    ("tests", DocumentKey::Tests),
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
    Accept,
}

const TEST_KEYS: &[(&str, TestKey)] = &[
    ("from", TestKey::From),
    ("to", TestKey::To),
    ("accept", TestKey::Accept),
];

impl<'t> Document<'t> {
    /// Reads a file and reports every problem of its form; returns the readable parts.
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
            problems.return_to(&before);
            document = Self::unread(number, file);
            document.is_block = false;
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
        problems.revise(&before, |found| name_lookalikes(text, found));
        document.apply_defaults(problems);
        document
    }

    /// Sets the values that its entries take from its defaults, and reports entries that they do not
    /// fit.
    pub(in crate::mapping::compile) fn apply_defaults(&mut self, problems: &mut Problems) {
        let file = &Arc::clone(&self.file);
        check_defaults(
            &self.entries,
            &self.defaults,
            &mut Report { file, problems },
        );
        self.entries.set_defaults(&self.defaults);
    }

    fn unread(number: u32, file: &SourceFile) -> Self {
        Self::without_entries(number, &file.path, Draft::for_file(file))
    }

    /// Returns a document of which nothing was read; its entries will be added to the draft.
    pub(in crate::mapping::compile) fn without_entries(
        number: u32,
        file: &Arc<str>,
        entries: Draft,
    ) -> Self {
        Self {
            number,
            file: Arc::clone(file),
            base_url: None,
            scheme: None,
            about: WrittenAbout::default(),
            defaults: Defaults::default(),
            entries,
            tests: Vec::new(),
            lacks_base_url: false,
            is_block: true,
        }
    }

    /// Reads what is around the list of a file; its entries are those of the draft. `None` if there is
    /// anything to report about it, or it has no list in block form.
    pub(in crate::mapping::compile) fn around(
        number: u32,
        file: &Arc<str>,
        cut: &'t Cut,
        entries: Draft,
    ) -> Option<Self> {
        let list = cut.list.as_ref()?;
        let mut problems = Problems::default();
        let mut document = Self::without_entries(number, file, entries);
        let mut reader = Reader::around(file, list, list.after.as_deref()?, &mut problems);
        document.fill(&mut reader).ok()?;
        problems.into_reported().is_empty().then_some(document)
    }

    pub(in crate::mapping::compile) fn fill(
        &mut self,
        reader: &mut Reader<'t, '_>,
    ) -> Result<(), Stop> {
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
                    format!("a table must be a map of keys, found {}", value.noun()),
                    "it begins with \"base_url:\" and \"mapping:\"",
                );
                reader.skip(&value)?;
                reader.finish()?;
            }
        }
        Ok(())
    }

    fn keys(&mut self, reader: &mut Reader<'t, '_>, start: Position) -> Result<(), Stop> {
        let mut seen = SeenKeys::beside(
            is_entry_key,
            "it is a key of an entry: indent it like the first key after \"- \"",
        );
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
                DocumentKey::Name => {
                    self.about.name = about(reader, "name", CollectionName::parse)?;
                }
                DocumentKey::Repository => {
                    let parse = |text: &str| Ok(Target::parse(text)?.into_owned());
                    self.about.repository = about(reader, "repository", parse)?;
                }
                DocumentKey::Contact => {
                    self.about.contact = about(reader, "contact", Contact::parse)?;
                }
                DocumentKey::Propose => {
                    self.about.propose = about(reader, "propose", ProposalTemplate::parse)?;
                }
                DocumentKey::Home => self.about.home = site_url(reader, "home")?,
                DocumentKey::Fallback => {
                    self.about.fallback = prefix_url(reader, "fallback")?;
                }
                DocumentKey::Case => self.about.case = reader.case()?,
                DocumentKey::Tests => {
                    if reader.list("tests")? {
                        self.read_tests(reader)?;
                    }
                }
            }
        }
        self.lacks_base_url = !seen.is_intended(index_of(DOCUMENT_KEYS, "base_url"));
        if !seen.is_intended(index_of(DOCUMENT_KEYS, "mapping")) {
            let hint = match reader.skipped_since(start, "mapping") {
                Some(at) => format!(
                    "the one on line {} is inside another key: begin it in the first column",
                    at.line
                ),
                None => "add \"mapping: []\", or list the entries under it".to_owned(),
            };
            let message = "the key \"mapping\" is missing";
            reader.problem_with_hint(Rule::KeyMissing, start, message, hint);
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

    pub(in crate::mapping::compile) fn read_entries(
        &mut self,
        reader: &mut Reader<'t, '_>,
    ) -> Result<(), Stop> {
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
                    format!("an entry must be a map of keys, found {}", value.noun()),
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
                    let message = format!("a test must be a map of keys, found {}", value.noun());
                    reader.problem(Rule::ValueWrongType, position, message);
                }
                reader.skip(&value)?;
                continue;
            }
            let (mut from, mut to, mut accept) = (None, None, None);
            let mut seen = SeenKeys::default();
            while let Some(key) = reader.key(TEST_KEYS, &mut seen)? {
                match key.value {
                    TestKey::From => from = reader.text("from")?,
                    TestKey::To => to = reader.text("to")?,
                    TestKey::Accept => accept = reader.text("accept")?,
                }
            }
            match (from, to) {
                (Some(from), Some(to)) => self.tests.push(TestItem { from, to, accept }),
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

/// Reads a value that describes the collection, and reports one that is invalid.
fn about<V>(
    reader: &mut Reader<'_, '_>,
    key: &str,
    parse: impl Fn(&str) -> Result<V, AboutError>,
) -> Result<Option<Located<V>>, Stop> {
    let Some(Located { value, position }) = reader.text(key)? else {
        return Ok(None);
    };
    match parse(&value) {
        Ok(value) => Ok(Some(Located { value, position })),
        Err(error) => {
            let report = reader.report();
            report.problem(error.rule(), position, error.to_string(), error.hint());
            Ok(None)
        }
    }
}
