//! A site: all entries under one base URL, compiled.
//!
//! Built for tables of millions: targets and codes stand in one arena, entries and codes are
//! small records that point into it, and what few entries have is kept apart.
//! Invariant: a site never changes once it is built, and every code in it leads to one entry.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::entry::{NewCode, Retired};
use super::{BaseUrl, Forward, Place, Position, Scheme, Status, Timestamp};

/// What stands for itself in the path of a short link: the ASCII part of the code grammar.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// All entries under one base URL.
#[derive(Debug)]
pub struct Site {
    base_url: BaseUrl,
    scheme: Scheme,
    new_code: NewCode,
    files: Vec<Arc<str>>,
    text: String,
    records: Vec<Record>,
    codes: Vec<CodeRecord>,
    details: Vec<Details>,
    index: HashTable<u32>,
    hasher: RandomState,
    forwarding_depth: usize,
}

/// How an entry came by a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeKind {
    /// Derived by the site's scheme.
    Auto,
    /// Written out, as text or as a number.
    Explicit,
    /// One more code for the same target.
    Alias,
}

/// What few entries have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Details {
    pub(super) title: Option<Box<str>>,
    pub(super) owner: Option<Box<str>>,
    pub(super) tags: Vec<Box<str>>,
    pub(super) archive: Option<Box<str>>,
    pub(super) expires: Option<Timestamp>,
    pub(super) retired: Option<Retired>,
}

/// An entry on its way into a site.
#[derive(Debug)]
pub(super) struct NewEntry {
    pub(super) target: Option<String>,
    pub(super) code: String,
    pub(super) kind: CodeKind,
    pub(super) status: Status,
    pub(super) forward: Forward,
    pub(super) max_age: u32,
    pub(super) details: Option<Details>,
    pub(super) file: u32,
    pub(super) position: Position,
}

/// Where in the arena a text stands.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    len: u32,
}

#[derive(Debug)]
struct Record {
    target: Option<Span>,
    /// The entry's own code; its aliases follow it.
    code: u32,
    details: Option<u32>,
    max_age: u32,
    file: u32,
    position: Position,
    status: Status,
    forward: Forward,
}

#[derive(Debug)]
struct CodeRecord {
    text: Span,
    entry: u32,
    kind: CodeKind,
}

impl Site {
    pub(super) fn new(
        base_url: BaseUrl,
        scheme: Scheme,
        new_code: NewCode,
        files: Vec<Arc<str>>,
    ) -> Self {
        Self {
            base_url,
            scheme,
            new_code,
            files,
            text: String::new(),
            records: Vec::new(),
            codes: Vec::new(),
            details: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::new(),
            forwarding_depth: 0,
        }
    }

    /// Adds an entry, whose code must be free.
    pub(super) fn push(&mut self, entry: NewEntry) {
        let details = entry.details.map(|details| {
            self.details.push(details);
            index(self.details.len() - 1)
        });
        let record = Record {
            target: entry.target.as_deref().map(|target| self.store(target)),
            code: index(self.codes.len()),
            details,
            max_age: entry.max_age,
            file: entry.file,
            position: entry.position,
            status: entry.status,
            forward: entry.forward,
        };
        self.records.push(record);
        self.push_code(&entry.code, entry.kind);
    }

    /// Adds an alias, which must be free, to the entry added last.
    pub(super) fn push_alias(&mut self, code: &str) {
        self.push_code(code, CodeKind::Alias);
    }

    fn push_code(&mut self, code: &str, kind: CodeKind) {
        let entry = index(self.records.len() - 1);
        let id = index(self.codes.len());
        let text = self.store(code);
        self.codes.push(CodeRecord { text, entry, kind });
        if self.records[entry as usize].forward.path() {
            self.forwarding_depth = self.forwarding_depth.max(code.split('/').count());
        }
        let (codes, arena, hasher) = (&self.codes, &self.text, &self.hasher);
        let hash_of = |&id: &u32| hasher.hash_one(slice(arena, codes[id as usize].text));
        self.index.insert_unique(hasher.hash_one(code), id, hash_of);
    }

    fn store(&mut self, text: &str) -> Span {
        let start = index(self.text.len());
        self.text.push_str(text);
        Span {
            start,
            len: index(text.len()),
        }
    }

    /// Gives back the memory that was reserved for further entries.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.records.shrink_to_fit();
        self.codes.shrink_to_fit();
        self.details.shrink_to_fit();
    }

    /// Returns the base URL.
    pub fn base_url(&self) -> &BaseUrl {
        &self.base_url
    }

    /// Returns how the site derives auto codes.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns how a new entry gets its code.
    pub fn new_code(&self) -> NewCode {
        self.new_code
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the entries in the order they are written.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        (0..index(self.records.len())).map(|id| self.entry(id))
    }

    /// Returns the entry that has exactly this code.
    pub fn lookup(&self, code: &str) -> Option<Entry<'_>> {
        Some(self.entry(self.find(code)?.entry))
    }

    /// Returns the entry whose auto code this is, exactly.
    pub(super) fn lookup_auto(&self, code: &str) -> Option<Entry<'_>> {
        let record = self.find(code)?;
        (record.kind == CodeKind::Auto).then(|| self.entry(record.entry))
    }

    /// Returns the site's own copy of a code, if it has that code.
    pub(super) fn own_copy(&self, code: &str) -> Option<&str> {
        Some(slice(&self.text, self.find(code)?.text))
    }

    fn find(&self, code: &str) -> Option<&CodeRecord> {
        let text = |id: u32| slice(&self.text, self.codes[id as usize].text);
        let hash = self.hasher.hash_one(code);
        let id = self.index.find(hash, |&id| text(id) == code)?;
        Some(&self.codes[*id as usize])
    }

    /// Returns every code with the entry it leads to, and whether it is an auto code.
    pub(super) fn codes(&self) -> impl ExactSizeIterator<Item = (&str, Entry<'_>, bool)> {
        self.codes.iter().map(|code| {
            let is_auto = code.kind == CodeKind::Auto;
            (
                slice(&self.text, code.text),
                self.entry(code.entry),
                is_auto,
            )
        })
    }

    /// Returns the most segments that a code with a forwarded path has; 0 if there is none.
    pub(super) fn forwarding_depth(&self) -> usize {
        self.forwarding_depth
    }

    /// Returns the short link of a code: the base URL and the percent-encoded code.
    pub fn short_url(&self, code: &str) -> String {
        format!(
            "{}{}",
            self.base_url.as_str(),
            utf8_percent_encode(code, ESCAPED)
        )
    }

    /// Returns the memory that the site holds, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.records.capacity() * size_of::<Record>()
            + self.codes.capacity() * size_of::<CodeRecord>()
            + self.details.capacity() * size_of::<Details>()
            + self.index.capacity() * (size_of::<u32>() + 1)
    }

    pub(super) fn entry(&self, id: u32) -> Entry<'_> {
        Entry { site: self, id }
    }
}

/// One entry of a site.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    site: &'t Site,
    id: u32,
}

impl<'t> Entry<'t> {
    fn record(&self) -> &'t Record {
        &self.site.records[self.id as usize]
    }

    fn details(&self) -> Option<&'t Details> {
        let index = self.record().details?;
        Some(&self.site.details[index as usize])
    }

    /// Returns the site it belongs to.
    pub fn site(&self) -> &'t Site {
        self.site
    }

    /// Returns its code: custom, number or auto.
    pub fn code(&self) -> &'t str {
        let id = self.record().code;
        slice(&self.site.text, self.site.codes[id as usize].text)
    }

    /// Returns its further codes.
    pub fn aliases(&self) -> impl Iterator<Item = &'t str> {
        let site = self.site;
        let first = self.record().code as usize + 1;
        let own = move |code: &&CodeRecord| code.kind == CodeKind::Alias;
        let aliases = site.codes[first..].iter().take_while(own);
        aliases.map(|code| slice(&site.text, code.text))
    }

    /// Returns the short link of its code.
    pub fn short_url(&self) -> String {
        self.site.short_url(self.code())
    }

    /// Returns where it leads, in canonical form; a retired entry may have dropped it.
    pub fn target(&self) -> Option<&'t str> {
        Some(slice(&self.site.text, self.record().target?))
    }

    /// Returns the redirect status.
    pub fn status(&self) -> Status {
        self.record().status
    }

    /// Returns what is carried over to the target.
    pub fn forward(&self) -> Forward {
        self.record().forward
    }

    /// Returns how long its redirect may be cached, in seconds, were it never to expire.
    pub fn cache_max_age(&self) -> u32 {
        self.record().max_age
    }

    /// Returns the title.
    pub fn title(&self) -> Option<&'t str> {
        self.details()?.title.as_deref()
    }

    /// Returns who answers for it.
    pub fn owner(&self) -> Option<&'t str> {
        self.details()?.owner.as_deref()
    }

    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &'t str> {
        let tags = self.details().map(|details| details.tags.iter());
        tags.into_iter().flatten().map(|tag| &**tag)
    }

    /// Returns the archived copy of the target.
    pub fn archive(&self) -> Option<&'t str> {
        self.details()?.archive.as_deref()
    }

    /// Returns the time from which it answers 410, if there is one.
    pub fn gone_from(&self) -> Option<Timestamp> {
        let details = self.details()?;
        let retired = details.retired.map(|retired| match retired {
            Retired::Always => Timestamp::MIN,
            Retired::From(time) => time,
        });
        [details.expires, retired].into_iter().flatten().min()
    }

    /// Tells whether it answers 410 at that time.
    pub fn is_gone(&self, now: Timestamp) -> bool {
        self.gone_from().is_some_and(|time| time <= now)
    }

    /// Returns where it is written.
    pub fn place(&self) -> Place {
        let record = self.record();
        Place::new(&self.site.files[record.file as usize], record.position)
    }

    /// Tells whether an entry on its way in says the same in every way but its place.
    pub(super) fn says_the_same_as(&self, new: &NewEntry, aliases: &[&str]) -> bool {
        let no_details = Details::default();
        self.target() == new.target.as_deref()
            && self.code() == new.code
            && self.status() == new.status
            && self.forward() == new.forward
            && self.cache_max_age() == new.max_age
            && self.details().unwrap_or(&no_details) == new.details.as_ref().unwrap_or(&no_details)
            && self.aliases().eq(aliases.iter().copied())
    }
}

fn slice(arena: &str, span: Span) -> &str {
    let start = span.start as usize;
    &arena[start..start + span.len as usize]
}

/// Narrows an index or an offset.
///
/// `compile` refuses more text than offsets of 32 bits can address, and whatever is counted here
/// takes at least a byte of that text.
fn index(n: usize) -> u32 {
    u32::try_from(n).expect("compile bounds the text of a table to 32-bit offsets")
}
