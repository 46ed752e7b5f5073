//! Known files: the pieces of an earlier version of a table that the next one can take over.

use std::collections::HashMap;

use super::pieces::OldDocument;
use crate::mapping::packed::{Part, Table};
use crate::mapping::value::KnownPieces;

/// The files of an earlier version of a table.
pub struct KnownFiles<'b> {
    before: &'b Table,
    /// The number of each file by its path.
    numbers: HashMap<&'b str, u32>,
    /// The number of the last file with each name: a table in a commit has other paths than in a work
    /// tree.
    names: HashMap<&'b str, u32>,
    /// The number of the site that each file is in, if no pieces were taken over from it.
    sites: HashMap<u32, usize>,
    /// The first piece of each site that may still be taken over.
    first: Vec<usize>,
}

impl<'b> KnownFiles<'b> {
    /// Returns the files of a table.
    pub fn of(before: &'b Table) -> Self {
        let paths = || before.files().iter().map(|path| &**path);
        let sites = before.sites().iter().enumerate();
        let files = sites.flat_map(|(site, it)| it.pieces().files().map(move |file| (file, site)));
        Self {
            before,
            numbers: paths().zip(0..).collect(),
            names: paths().map(name).zip(0..).collect(),
            sites: files.collect(),
            first: vec![0; before.sites().len()],
        }
    }

    /// Returns the pieces of the file at a path whose text need not be read to compile the next version.
    pub fn pieces(&self, path: &str) -> KnownPieces {
        let found = self.find(path);
        let pieces = found.into_iter().flat_map(|(_, document)| {
            let pieces = document.site.pieces();
            pieces.identified(document.file)
        });
        KnownPieces::of(pieces)
    }

    /// Returns the document at a path, and the number of its site.
    pub(super) fn find(&self, path: &str) -> Option<(usize, OldDocument<'b>)> {
        let same = self.numbers.get(path);
        let file = *same.or_else(|| self.names.get(name(path)))?;
        let site = *self.sites.get(&file)?;
        let document = OldDocument {
            site: &self.before.sites()[site],
            file,
            first: self.first[site],
        };
        Some((site, document))
    }

    /// Records that pieces of a file in a site were taken over.
    pub(super) fn pass(&mut self, site: usize, file: u32, parts: &[Part]) {
        self.sites.remove(&file);
        for part in parts {
            if let Part::Known { number, .. } = part {
                self.first[site] = number + 1;
            }
        }
    }
}

/// Returns the name of the file at a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
