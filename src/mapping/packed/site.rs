//! A site: all entries under one base URL, compiled.
//!
//! It is built for tables of millions: an entry takes its target, fifteen bytes, and its rare
//! properties. Its auto code is not stored: it is the hash by which the entries are sorted.
//! Invariant: a site never changes once it is built, and every code in it leads to one entry.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::draft::Draft;
use super::review_scope::ReviewScope;
use super::stores::{
    CodeKind, Codes, Index, Lines, Notes, PartedDocument, Pieces, Shape, Shapes, Targets, index,
};
use crate::mapping::value::{About, BaseUrl, Case, Code, NewCode, Scheme, fold_case};

/// The characters to escape in the path of a short link: all but the ASCII part of the code
/// grammar.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// All entries under one base URL.
#[derive(Debug)]
pub struct Site {
    head: Head,
    pub(crate) targets: Targets,
    pub(crate) shapes: Shapes,
    pub(super) lines: Lines,
    pub(crate) index: Index,
    pub(crate) codes: Codes,
    pub(crate) notes: Notes,
    /// The number of entries whose code encodes the hash of their target.
    hashed: usize,
    forwarding_depth: usize,
    pieces: Pieces,
    /// The keys of entries whose targets other entries share, in ascending order.
    shared: Vec<u64>,
    review_scope: ReviewScope,
}

/// The stored data of a site's entries.
pub(super) struct Stores {
    pub(super) targets: Targets,
    pub(super) shapes: Shapes,
    pub(super) lines: Lines,
    pub(super) index: Index,
    pub(super) codes: Codes,
    pub(super) notes: Notes,
}

/// The properties of a site besides its entries.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) base_url: BaseUrl,
    pub(crate) scheme: Scheme,
    pub(crate) new_code: NewCode,
    pub(crate) about: About,
    /// The files of the table.
    pub(crate) files: Arc<[Arc<str>]>,
    /// The numbers of the files in which the site is written.
    pub(crate) own_files: Box<[u32]>,
}

impl Site {
    /// Builds a site from entries. The codes of the draft are listed in their order; conflicts are
    /// not resolved yet.
    pub(crate) fn build(head: Head, draft: &mut Draft, documents: &[PartedDocument]) -> Self {
        draft.list_codes(head.scheme);
        draft.begin_pieces(documents);
        let index = Index::new(std::mem::take(&mut draft.records));
        let mut codes = Codes::new(head.about.case());
        codes.reserve(draft.codes.len());
        for code in &draft.codes {
            let text = draft.code_texts.get(code.text);
            let entry = index.number_of(code.owner.key, code.owner.target);
            let entry = entry.expect("codes belong to entries of their draft");
            match code.kind {
                CodeKind::Auto => codes.push(head.scheme.code(text).as_str(), entry, code.kind),
                _ => codes.push(text, entry, code.kind),
            };
        }
        let mut targets = std::mem::take(&mut draft.targets);
        let mut notes = std::mem::take(&mut draft.notes);
        targets.complete();
        notes.complete();
        let mut lines = std::mem::take(&mut draft.lines);
        lines.shrink();
        let stores = Stores {
            targets,
            shapes: std::mem::take(&mut draft.shapes).complete(),
            lines,
            index,
            codes,
            notes,
        };
        Self::of(head, stores, Pieces::of_new(documents))
    }

    pub(super) fn of(head: Head, stores: Stores, pieces: Pieces) -> Self {
        let Stores {
            targets,
            shapes,
            lines,
            index,
            codes,
            notes,
        } = stores;
        let mut site = Self {
            head,
            targets,
            shapes,
            lines,
            index,
            codes,
            notes,
            hashed: 0,
            forwarding_depth: 0,
            pieces,
            shared: Vec::new(),
            review_scope: ReviewScope::default(),
        };
        site.count();
        site
    }

    /// Returns the pieces of its documents.
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Returns the keys of entries whose targets other entries share.
    pub(crate) fn shared(&self) -> &[u64] {
        &self.shared
    }

    /// Records the keys of entries whose targets other entries share.
    pub(crate) fn set_shared(&mut self, shared: Vec<u64>) {
        self.shared = shared;
    }

    /// Returns what its review must look at, as far as that is known.
    pub(crate) fn review_scope(&self) -> &ReviewScope {
        &self.review_scope
    }

    /// Records what a review of the next version must look at besides its changes.
    pub(super) fn set_review_scope(&mut self, review_scope: ReviewScope) {
        self.review_scope = review_scope.kept();
    }

    /// Removes entries with all their data, and listed codes, by number; the codes keep their
    /// order.
    pub(crate) fn remove(&mut self, entries: &HashSet<u32>, codes: &HashSet<usize>) {
        let mut kept = Vec::with_capacity(self.len() - entries.len());
        // The new number of each entry.
        let mut numbers = vec![0; self.index.numbers_end()];
        for number in self.index.numbers_by_key() {
            numbers[number as usize] = index(kept.len());
            if !entries.contains(&number) {
                kept.push(self.index.record(number));
            }
        }
        let empty = Codes::new(self.about().case());
        let old = std::mem::replace(&mut self.codes, empty);
        for (number, &listed) in old.listed().iter().enumerate() {
            if !entries.contains(&listed.entry) && !codes.contains(&number) {
                let entry = numbers[listed.entry as usize];
                self.codes.push(old.text(listed), entry, listed.kind);
            }
        }
        self.index = Index::new(kept);
        let records = self.index.numbers();
        self.shapes
            .recount(records.map(|number| self.index.record(number)));
        // Without them, an entry that lost a conflict would reappear in the next version.
        self.pieces = Pieces::default();
        self.count();
    }

    fn count(&mut self) {
        self.codes.shrink();
        self.hashed = self.shapes.hashed_count();
        let mut depth = 0;
        let mut shapes = self.shapes.used();
        if shapes.any(|it| it.is_hashed && it.takes_below()) {
            depth = 1;
        }
        let may_forward = self.shapes.used().any(Shape::takes_below);
        let listed = match may_forward {
            true => self.codes.listed(),
            false => &[],
        };
        for &listed in listed {
            let record = &self.index.record(listed.entry);
            if self.shapes.of(record).takes_below() {
                depth = depth.max(self.codes.text(listed).split('/').count());
            }
        }
        self.forwarding_depth = depth;
    }

    /// Returns the base URL.
    pub fn base_url(&self) -> &BaseUrl {
        &self.head.base_url
    }

    /// Returns the part of its base URL that identifies it in requests: host and base path.
    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.base_url().host(), self.base_url().path())
    }

    /// Returns the scheme by which the site derives auto codes.
    pub fn scheme(&self) -> Scheme {
        self.head.scheme
    }

    /// Returns how a new entry gets its code.
    pub fn new_code(&self) -> NewCode {
        self.head.new_code
    }

    /// Returns the description of the collection.
    pub fn about(&self) -> &About {
        &self.head.about
    }

    /// Returns a code that a person chose in the form in which it is compared with others: two are the same
    /// to requests if this is.
    pub(crate) fn compared_form<'c>(&self, code: &'c str) -> Cow<'c, str> {
        match self.about().case() {
            Case::Exact => Cow::Borrowed(code),
            Case::Fold => fold_case(code),
        }
    }

    /// Returns the paths of all files of its table.
    pub(crate) fn all_files(&self) -> &[Arc<str>] {
        &self.head.files
    }

    /// Returns the path of the file with the given number.
    pub(crate) fn file(&self, number: u32) -> &Arc<str> {
        &self.head.files[number as usize]
    }

    /// Returns the paths of the files in which it is written, in the given order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let numbers = self.head.own_files.iter();
        numbers.map(|&number| &**self.file(number))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns a number that is greater than that of every entry.
    pub(crate) fn numbers_end(&self) -> usize {
        self.index.numbers_end()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the highest `number` of all entries; a custom code that looks like one does not
    /// count.
    pub fn highest_number(&self) -> Option<u64> {
        let listed = self.codes.listed().iter();
        let numbers = listed.filter(|listed| listed.kind == CodeKind::Number);
        let values = numbers.filter_map(|&listed| Code::number_of(self.codes.text(listed)));
        values.max()
    }

    /// Returns the number of codes.
    pub(crate) fn code_count(&self) -> usize {
        self.hashed + self.codes.listed().len()
    }

    /// Returns the maximum number of segments of a code that takes paths below it; 0 if there is
    /// none.
    pub(crate) fn forwarding_depth(&self) -> usize {
        self.forwarding_depth
    }

    /// Returns the short link of a code: the base URL followed by the percent-encoded code.
    pub fn short_url(&self, code: &str) -> String {
        format!(
            "{}{}",
            self.base_url().as_str(),
            utf8_percent_encode(code, ESCAPED)
        )
    }

    /// Returns whether it still has much data of former versions that a site built from scratch
    /// would not have.
    pub(crate) fn is_worn(&self) -> bool {
        self.targets.has_former_hosts(self.len()) || self.shapes.has_former()
    }

    /// Returns the memory that the site uses, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.targets.heap_bytes()
            + self.shapes.heap_bytes()
            + self.lines.heap_bytes()
            + self.index.heap_bytes()
            + self.codes.heap_bytes()
            + self.notes.heap_bytes()
            + self.pieces.heap_bytes()
            + self.shared.capacity() * size_of::<u64>()
            + self.review_scope.heap_bytes()
    }
}
