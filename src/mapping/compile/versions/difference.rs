//! Differences: the entries in which two versions of a table differ, found in the texts of the files
//! that changed, without compiling either version as a whole.
//!
//! The entries there form a table of their own, which is compiled like any table. Together with all
//! other entries it is the version, because each entry of a document in block form is read
//! independently. Only codes can be in conflict between entries, and only targets that lead back
//! into the table can make a loop: the caller, which knows all codes, must rule that out.

use std::collections::HashSet;
use std::sync::Arc;

use super::next::compile_after;
use crate::mapping::cutting::ListPlace;
use crate::mapping::packed::{Site, Table};
use crate::mapping::value::{Case, SourceFile};

/// The differing entries of two versions of a table that differ in the lists of a few files. Both
/// sides include some equal entries next to them.
#[derive(Debug)]
pub struct Difference {
    /// The entries that were changed or removed, as they were.
    pub gone: Table,
    /// The entries that were changed or added, as they are.
    pub added: Table,
}

/// A file whose content changed.
#[derive(Debug)]
pub struct ChangedFile<'t> {
    /// The path that diagnostics show.
    pub path: Arc<str>,
    /// Where its list is.
    pub list: ListPlace,
    /// The former content.
    pub old: &'t [u8],
    /// The present content.
    pub new: &'t [u8],
}

/// The properties of a version of a table that are needed to find differences from it.
#[derive(Debug)]
pub struct Outset {
    /// A document for each site, without entries.
    sites: Vec<SourceFile>,
    /// The files whose parts can be read independently.
    in_pieces: HashSet<Arc<str>>,
    /// Whether any target leads back into the table.
    has_own_targets: bool,
    /// Whether codes of different entries may be the same to requests, though no code is another's.
    folds_case: bool,
}

impl Outset {
    /// Returns these properties of a table that was compiled by `compile_after`.
    pub fn of(table: &Table) -> Self {
        let sites = table.sites().iter();
        let documents = sites.zip(0..).map(|(site, number)| {
            let (base_url, scheme) = (site.base_url().as_str(), site.scheme().name());
            let text = format!("base_url: {base_url:?}\ncode-scheme: {scheme}\nmapping: []\n");
            SourceFile::new(format!("{number}").into(), text.into_bytes())
        });
        Self {
            sites: documents.collect(),
            in_pieces: files_in_pieces(table),
            has_own_targets: has_own_targets(table),
            folds_case: (table.sites().iter()).any(|it| it.about().case() == Case::Fold),
        }
    }

    /// Returns the difference between this version and one without errors in which some files changed;
    /// `None` if that cannot be decided without compiling it as a whole.
    ///
    /// The caller must check that no added code is among those of other entries.
    pub fn difference(&self, files: &[ChangedFile<'_>]) -> Option<Difference> {
        if self.folds_case {
            return None;
        }
        let (mut gone, mut added) = (self.sites.clone(), self.sites.clone());
        for file in files {
            if !self.in_pieces.contains(&file.path) {
                return None;
            }
            let window = file.list.window(file.old, file.new)?;
            let part = |bytes| SourceFile::new(Arc::clone(&file.path), bytes);
            gone.push(part(file.list.with_part(file.old, window.old)));
            added.push(part(file.list.with_part(file.new, window.new)));
        }
        let difference = Difference {
            gone: self.sound(&gone)?,
            added: self.sound(&added)?,
        };
        let may_loop = has_own_targets(&difference.added)
            || self.has_own_targets && difference.changes_where_paths_lead();
        (!may_loop).then_some(difference)
    }

    /// Compiles parts of files, if their form allows reading parts independently.
    fn sound(&self, files: &[SourceFile]) -> Option<Table> {
        let table = compile_after(files, None).table?;
        let in_pieces = files_in_pieces(&table);
        let mut parts = files[self.sites.len()..].iter();
        parts
            .all(|it| in_pieces.contains(&it.path))
            .then_some(table)
    }
}

impl Difference {
    /// Returns whether a path that led to an entry may lead to an unchanged one now.
    fn changes_where_paths_lead(&self) -> bool {
        self.gone.sites().iter().any(|site| {
            let now = self.added.counterpart(site);
            let is_kept = |code: &str| now.is_some_and(|now| now.lookup(code).is_some());
            site.codes().any(|code| !is_kept(&code))
                || site.stored_entries().any(|it| it.takes_below())
        })
    }
}

/// Returns the files of a table that are read in pieces, all of which are known again if they do not
/// change.
fn files_in_pieces(table: &Table) -> HashSet<Arc<str>> {
    let mut in_pieces = HashSet::new();
    for site in table.sites() {
        let pieces = site.pieces();
        let documents = pieces.files().filter_map(|file| pieces.of_file(file));
        let known = documents.filter(|(_, numbers)| {
            let mut numbers = numbers.clone();
            !numbers.is_empty() && numbers.all(|number| pieces.piece(number).id.is_some())
        });
        in_pieces.extend(known.map(|(document, _)| Arc::clone(site.file(document.file))));
    }
    in_pieces
}

fn has_own_targets(table: &Table) -> bool {
    let abouts = table.sites().iter().map(Site::about);
    let mut of_sites = abouts.flat_map(|about| [about.home(), about.fallback()]);
    if of_sites.any(|it| it.is_some_and(|it| table.covers(&it.url))) {
        return true;
    }
    let mut sites = table.sites().iter();
    sites.any(|site| {
        !site
            .entries_leading_to(|rest| table.may_own(rest))
            .is_empty()
    })
}
