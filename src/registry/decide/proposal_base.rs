//! The data that decide about proposals for a table, prepared once per table: a proposal then costs
//! a few look-ups, however many entries and files the table has.

use std::sync::Arc;

use crate::mapping::{NewCode, Site, SourceFile, Table};

/// The largest file whose text is kept, in bytes: more than fits into the address of an editor.
const MAX_KEPT_TEXT: usize = 8 * 1024;

/// A table, with the data about it and its files that proposals need.
pub struct ProposalBase {
    table: Arc<Table>,
    /// The numbers of its files in the order of their paths; `None` if they are in that order.
    order: Option<Box<[u32]>>,
    /// The highest number of each site that gives new links numbers: finding it takes a pass over all
    /// codes.
    highest: Box<[Option<u64>]>,
    /// The only file, if it is small.
    only_file: Option<SourceFile>,
}

impl ProposalBase {
    /// Prepares proposals for a table; `only_file` is its file, if it has only one and its text is
    /// available.
    pub fn new(table: Arc<Table>, only_file: Option<&SourceFile>) -> Self {
        let sites = table.sites().iter();
        let numbered = sites.map(|site| (site.new_code() == NewCode::Number).then_some(site));
        let highest = numbered.map(|site| site?.highest_number()).collect();
        let only_file = only_file.filter(|only| only.bytes.len() <= MAX_KEPT_TEXT);
        Self {
            order: order(table.files()),
            highest,
            only_file: only_file.cloned(),
            table,
        }
    }

    /// Returns the table.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the only file of the table, if it is small.
    pub(super) fn only_file(&self) -> Option<&SourceFile> {
        self.only_file.as_ref()
    }

    /// Returns whether a path is that of a file of the table.
    pub fn has_file(&self, path: &str) -> bool {
        let files = self.table.files();
        let found = match &self.order {
            None => files.binary_search_by(|file| (**file).cmp(path)),
            Some(order) => order.binary_search_by(|&number| (*files[number as usize]).cmp(path)),
        };
        found.is_ok()
    }

    /// Returns whether a file cannot be added: it exists, or one of its directories is a file.
    pub(super) fn obstructs(&self, path: &str) -> bool {
        let directories = path.match_indices('/').map(|(end, _)| &path[..end]);
        directories.chain([path]).any(|path| self.has_file(path))
    }

    /// Returns the highest number of a site of the table; takes a pass over its codes if the site does
    /// not give new links numbers.
    pub(super) fn highest_number(&self, site: &Site) -> Option<u64> {
        if site.new_code() != NewCode::Number {
            return site.highest_number();
        }
        let mut sites = self.table.sites().iter();
        let number = sites.position(|other| std::ptr::eq(other, site))?;
        self.highest[number]
    }
}

/// Returns the numbers of paths in the order of the paths, unless they are in that order.
fn order(paths: &[Arc<str>]) -> Option<Box<[u32]>> {
    if paths.is_sorted() {
        return None;
    }
    let mut order: Vec<u32> = (0..).take(paths.len()).collect();
    order.sort_by_key(|&number| &paths[number as usize]);
    Some(order.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;

    fn base(paths: &[&str]) -> ProposalBase {
        let file = |path: &&str| SourceFile {
            path: (*path).into(),
            bytes: b"base_url: https://s.code/\nmapping: []\n".to_vec(),
        };
        let files: Vec<_> = paths.iter().map(file).collect();
        let only = files.first().filter(|_| files.len() == 1);
        ProposalBase::new(Arc::new(compile(&files).table.unwrap()), only)
    }

    #[test]
    fn files_are_found_whatever_their_order() {
        let paths = ["links/b.yaml", "links/a.yaml", "links-old.yaml", "z", "é"];
        let mut sorted = paths;
        sorted.sort_unstable();
        for (paths_given, is_sorted) in [(&paths, false), (&sorted, true)] {
            let base = base(paths_given);
            assert_eq!(base.order.is_none(), is_sorted);
            for path in paths {
                assert!(base.has_file(path), "{path}");
            }
            for path in ["links", "links/", "links/c.yaml", ""] {
                assert!(!base.has_file(path), "{path}");
            }
            assert!(base.obstructs("links/a.yaml") && base.obstructs("z/new.yaml"));
            assert!(!base.obstructs("links/new.yaml") && !base.obstructs("z.yaml"));
        }
    }

    #[test]
    fn only_a_small_file_is_kept() {
        assert!(base(&["a.yaml"]).only_file().is_some());
        assert!(base(&["a.yaml", "b.yaml"]).only_file().is_none());
        let text = format!(
            "base_url: https://s.code/\nmapping: []\n# {}\n",
            "é".repeat(4_100)
        );
        let file = SourceFile {
            path: "a.yaml".into(),
            bytes: text.into(),
        };
        let files = [file];
        let table = Arc::new(compile(&files).table.unwrap());
        assert!(
            ProposalBase::new(table, files.first())
                .only_file()
                .is_none()
        );
    }
}
