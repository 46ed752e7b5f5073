//! Entries: single links of a compiled site.

use std::borrow::Cow;

use super::site::Site;
use super::stores::{CodeKind, Listed, NoteKind, Record, Shape, TargetParts, Term, Text, index};
use super::variant::Variant;
use crate::mapping::value::{Code, Forward, Place, Position, Retired, Status, Timestamp, scheme};

/// One entry of a site.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    site: &'t Site,
    number: u32,
}

/// What following an entry depends on, read at once: in a changed table, its record is searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryParts<'t> {
    pub(crate) shape: &'t Shape,
    /// Its target in two parts; a retired entry may have dropped it.
    pub(crate) target: Option<TargetParts<'t>>,
    /// When it ends, if it does.
    pub(crate) gone_from: Option<Timestamp>,
}

impl<'t> Entry<'t> {
    pub(crate) fn new(site: &'t Site, number: u32) -> Self {
        Self { site, number }
    }

    #[inline]
    fn record(&self) -> Record {
        self.site.index.record(self.number)
    }

    #[inline]
    pub(crate) fn shape(&self) -> &'t Shape {
        self.site.shapes.of(&self.record())
    }

    /// Returns its number in the site.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the key of its target.
    pub(crate) fn key(&self) -> u64 {
        self.record().key
    }

    /// Returns the first 64 bits of the SHA-256 of its target.
    pub(crate) fn target_hash(&self) -> u64 {
        match self.shape().is_hashed {
            true => self.key(),
            false => !self.key(),
        }
    }

    /// Returns whether it has a target, or had one before it was retired.
    pub(crate) fn has_target(&self) -> bool {
        self.shape().url.is_some()
    }

    /// Returns the place of its target, which orders entries as written.
    pub(crate) fn written(&self) -> Text {
        self.record().target
    }

    /// Returns the site it belongs to.
    pub fn site(&self) -> &'t Site {
        self.site
    }

    /// Returns its code: custom, number or auto.
    pub fn code(&self) -> Cow<'t, str> {
        if self.shape().is_hashed {
            return Cow::Owned(scheme::code_of_key(self.record().key).to_string());
        }
        let own = self.listed().find(|listed| listed.kind != CodeKind::Alias);
        Cow::Borrowed(own.map_or("", |listed| self.site.codes.text(listed)))
    }

    /// Returns whether a person wrote its code.
    pub(crate) fn has_custom_code(&self) -> bool {
        !self.shape().is_hashed && self.listed().any(|it| it.kind == CodeKind::Explicit)
    }

    /// Returns the `number` whose base62 form its code is, if it has one.
    pub fn sequence_number(&self) -> Option<u64> {
        let number = self.listed().find(|it| it.kind == CodeKind::Number)?;
        Code::number_of(self.site.codes.text(number))
    }

    /// Returns its aliases.
    pub fn aliases(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let aliases = self
            .listed()
            .filter(|listed| listed.kind == CodeKind::Alias);
        let codes = &self.site.codes;
        aliases.map(|listed| codes.text(listed))
    }

    fn listed(&self) -> impl Iterator<Item = Listed> + use<'t> {
        let number = self.number;
        let listed = match self.shape().has_codes {
            true => self.listed_from_first(),
            false => &[],
        };
        let own = listed.iter().copied();
        own.take_while(move |listed| listed.entry == number)
    }

    /// Returns the listed codes of the site from the first that is its own on.
    pub(super) fn listed_from_first(&self) -> &'t [Listed] {
        let (site, own) = (self.site, self.written());
        let listed = site.codes.listed();
        let is_before = |listed: &Listed| { site.index.record(listed.entry).target } < own;
        &listed[listed.partition_point(is_before)..]
    }

    /// Returns the number of the first of its listed codes, if it has any.
    pub(crate) fn first_listed(&self) -> Option<u32> {
        let all = self.site.codes.listed().len();
        let has_codes = self.shape().has_codes;
        has_codes.then(|| index(all - self.listed_from_first().len()))
    }

    /// Returns the short link of its code.
    pub fn short_url(&self) -> String {
        self.site.short_url(&self.code())
    }

    /// Returns its target in canonical form; a retired entry may have dropped it.
    pub fn target(&self) -> Option<Cow<'t, str>> {
        Some(Cow::Owned(self.target_parts()?.to_string()))
    }

    /// Returns its target in two parts.
    pub(crate) fn target_parts(&self) -> Option<TargetParts<'t>> {
        self.parts().target
    }

    /// Returns what following it depends on.
    #[inline]
    pub(crate) fn parts(&self) -> EntryParts<'t> {
        let record = self.record();
        let shape = self.site.shapes.of(&record);
        EntryParts {
            shape,
            target: shape.url.map(|_| self.site.targets.get(record.target)),
            gone_from: self.end(shape),
        }
    }

    /// Returns the redirect status.
    pub fn status(&self) -> Status {
        self.shape().status
    }

    /// Returns the parts of a request that are forwarded to the target.
    pub fn forward(&self) -> Forward {
        self.shape().forward
    }

    /// Returns the parts of a request that are forwarded if it leads to no variant: with `below`,
    /// `forward: all` is only for variants.
    pub fn own_forward(&self) -> Forward {
        match self.below() {
            Some(_) => self.forward().besides_all(),
            None => self.forward(),
        }
    }

    /// Returns the URL to which paths below its codes are appended, if the target is only for the codes
    /// themselves.
    pub fn below(&self) -> Option<&'t str> {
        if !self.shape().has_below {
            return None;
        }
        self.notes(NoteKind::Below).next()
    }

    /// Returns the URL to which paths below its codes are appended, if they are: that, or its target, which
    /// is given.
    pub(crate) fn path_target(&self, target: TargetParts<'t>) -> Option<TargetParts<'t>> {
        match self.below() {
            Some(below) => Some(TargetParts::of(below)),
            None => self.forward().path().then_some(target),
        }
    }

    /// Returns the URL to which paths below its codes are appended for a variant, if they are.
    pub(crate) fn path_target_of(&self, variant: Variant<'t>) -> Option<&'t str> {
        variant.path_target(self.forward(), self.below())
    }

    /// Returns whether paths below its codes are appended to a URL, at least for some requests.
    pub(crate) fn appends_path(&self) -> bool {
        let shape = self.shape();
        shape.has_below || shape.forward.path() || shape.variants_have_below
    }

    /// Returns whether paths below its codes lead anywhere.
    pub fn takes_below(&self) -> bool {
        self.shape().takes_below()
    }

    /// Returns the time for which its redirect may be cached, in seconds, if it never expired.
    pub fn cache_max_age(&self) -> u32 {
        self.shape().max_age
    }

    /// Returns the title.
    pub fn title(&self) -> Option<&'t str> {
        self.notes(NoteKind::Title).next()
    }

    /// Returns the person or team responsible for it.
    pub fn owner(&self) -> Option<&'t str> {
        self.notes(NoteKind::Owner).next()
    }

    /// Returns the tags.
    pub fn tags(&self) -> impl Iterator<Item = &'t str> {
        self.notes(NoteKind::Tag)
    }

    /// Returns the archived copy of the target.
    pub fn archive(&self) -> Option<&'t str> {
        self.notes(NoteKind::Archive).next()
    }

    /// Returns whether requests may lead to another target by the media types that they prefer.
    #[inline]
    pub fn has_variants(&self) -> bool {
        self.shape().has_variants
    }

    /// Returns its variants, in written order.
    pub fn variants(&self) -> impl Iterator<Item = Variant<'t>> + use<'t> {
        let notes = self.has_variants().then(|| self.notes(NoteKind::Variant));
        notes.into_iter().flatten().map(Variant::of_note)
    }

    /// Returns every target: its own, if it has not dropped it, and those of its variants.
    pub fn targets(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let variants = self.variants().map(|it| Cow::Borrowed(it.target()));
        self.target().into_iter().chain(variants)
    }

    /// Returns the URLs to which paths below its codes are appended, if they are not targets: its own, and those of its
    /// variants.
    pub fn urls_of_paths(&self) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let variants = self.variants().filter_map(|it| it.below());
        self.below().into_iter().chain(variants).map(Cow::Borrowed)
    }

    fn notes(&self, kind: NoteKind) -> impl Iterator<Item = &'t str> + use<'t> {
        let all = self.all_notes();
        all.filter(move |(it, _)| *it == kind).map(|(_, text)| text)
    }

    pub(crate) fn all_notes(&self) -> impl Iterator<Item = (NoteKind, &'t str)> + use<'t> {
        let site = self.site;
        let own = self
            .shape()
            .has_notes
            .then(|| site.notes.of(self.written()));
        own.into_iter().flatten()
    }

    /// Returns the end of its validity.
    pub(crate) fn term(&self) -> Term {
        let term = self
            .shape()
            .has_term
            .then(|| self.site.notes.term_of(self.written()));
        term.flatten().unwrap_or_default()
    }

    /// Returns the time at which it expires, if it does.
    pub fn expires(&self) -> Option<Timestamp> {
        self.term().expires
    }

    /// Returns the start of its retirement, which may be in the future.
    pub fn retired(&self) -> Option<Retired> {
        self.term().retired
    }

    /// Returns whether it is or will be retired.
    pub(crate) fn is_retired(&self) -> bool {
        self.term().retired.is_some()
    }

    /// Returns the time from which it answers 410, if any.
    #[inline]
    pub fn gone_from(&self) -> Option<Timestamp> {
        self.end(self.shape())
    }

    #[inline]
    fn end(&self, shape: &Shape) -> Option<Timestamp> {
        // Nearly no entry has one.
        if !shape.has_term {
            return None;
        }
        let Term { expires, retired } = self.term();
        let retired = retired.map(|retired| match retired {
            Retired::Always => Timestamp::MIN,
            Retired::From(time) => time,
        });
        [expires, retired].into_iter().flatten().min()
    }

    /// Returns whether it answers 410 at the given time.
    pub fn is_gone(&self, now: Timestamp) -> bool {
        self.gone_from().is_some_and(|time| time <= now)
    }

    /// Returns the number of the file in which it is written.
    pub(crate) fn file(&self) -> u32 {
        self.site.lines.of(self.written()).file
    }

    /// Returns the place at which it is written.
    pub fn place(&self) -> Place {
        let record = self.record();
        let block = self.site.lines.of(record.target);
        let position = Position {
            line: block.line + u32::from(record.line),
            column: self.shape().column,
        };
        Place::new(self.site.file(block.file), position)
    }

    /// Returns the place of its URL, or its own start if it has none.
    pub(crate) fn place_of_url(&self) -> Place {
        let mut place = self.place();
        if let Some(url) = self.shape().url {
            place.position = Position {
                line: place.position.line + url.line,
                column: url.column,
            };
        }
        place
    }

    /// Returns whether another entry equals this one, except for its place.
    pub(crate) fn says_the_same_as(&self, other: Entry<'_>) -> bool {
        self.has_the_code_of(other) && self.aliases().eq(other.aliases()) && self.agrees_with(other)
    }

    /// Returns whether another entry equals this one, except for its codes and its place.
    pub(crate) fn agrees_with(&self, other: Entry<'_>) -> bool {
        self.target_parts() == other.target_parts()
            && self.status() == other.status()
            && self.forward() == other.forward()
            && self.cache_max_age() == other.cache_max_age()
            && self.term() == other.term()
            && self.all_notes().eq(other.all_notes())
    }

    fn has_the_code_of(&self, other: Entry<'_>) -> bool {
        // If both codes encode the hashes of targets, they need not be written out.
        let is_hashed = self.shape().is_hashed && other.shape().is_hashed;
        (is_hashed && self.key() == other.key()) || self.code() == other.code()
    }
}
