//! Catalogues: the codes of a site by entry, for callers that visit all entries.
//!
//! An entry finds its listed codes by binary search, which adds up over a whole table. Here it is
//! one step, for four bytes an entry.

use std::borrow::Cow;

use super::entry::Entry;
use super::site::Site;
use super::stores::index;

/// The codes of a site by entry; or an empty catalogue for a missing site.
pub(crate) struct Catalogue<'t> {
    site: Option<&'t Site>,
    /// The start of the listed codes of each entry, by its number, if it has any; `None` if few entries
    /// are visited.
    starts: Option<Vec<u32>>,
}

impl<'t> Catalogue<'t> {
    pub(crate) fn new(site: Option<&'t Site>) -> Self {
        let mut starts = vec![0; site.map_or(0, Site::numbers_end)];
        let listed = site.map_or(&[][..], |site| site.codes.listed());
        // In reverse, so that the first code of an entry remains.
        for (at, code) in listed.iter().enumerate().rev() {
            starts[code.entry as usize] = index(at);
        }
        let starts = Some(starts);
        Self { site, starts }
    }

    /// Returns the catalogue of a site of which few entries are visited.
    pub(crate) fn for_few(site: &'t Site) -> Self {
        Self {
            site: Some(site),
            starts: None,
        }
    }

    /// Returns the site.
    pub(crate) fn site(&self) -> Option<&'t Site> {
        self.site
    }

    /// Returns the entries in the order of storage.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'t>> + use<'t> {
        self.site.into_iter().flat_map(Site::stored_entries)
    }

    /// Returns the entry that has exactly this code.
    pub(crate) fn lookup(&self, code: &str) -> Option<Entry<'t>> {
        self.site?.lookup(code)
    }

    /// Returns the entry that requests find under a code.
    pub(crate) fn lookup_in_any_case(&self, code: &str) -> Option<Entry<'t>> {
        self.site?.lookup_in_any_case(code)
    }

    /// Returns the codes of an entry of this site, starting with its own.
    pub(crate) fn codes(&self, entry: Entry<'t>) -> impl Iterator<Item = Cow<'t, str>> + use<'t> {
        let shape = entry.shape();
        let hashed = shape.is_hashed.then(|| entry.code());
        let codes = &entry.site().codes;
        let listed = match shape.has_codes {
            true => match &self.starts {
                Some(starts) => &codes.listed()[starts[entry.number() as usize] as usize..],
                None => entry.listed_from_first(),
            },
            false => &[],
        };
        let own = (listed.iter()).take_while(move |listed| listed.entry == entry.number());
        let own = own.map(|&listed| Cow::Borrowed(codes.text(listed)));
        hashed.into_iter().chain(own)
    }
}
