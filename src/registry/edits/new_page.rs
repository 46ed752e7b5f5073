//! New pages: pages to which edits lead entries, and to which no other entry may lead. A page is a
//! URL without its fragment.

use std::collections::HashMap;

use super::entry_edit::EntryEdit;
use super::value::EntryValue;
use crate::mapping::{Entry, Place, Table};

/// The pages, and the entries of a table that already lead to them.
pub(super) struct NewPages<'e>(HashMap<&'e str, Vec<Place>>);

impl<'e> NewPages<'e> {
    /// Returns the pages of some edits of a table.
    pub(super) fn of(edits: &'e [EntryEdit], table: &Table) -> Self {
        let pages = edits.iter().filter_map(page_of);
        let mut pages: HashMap<_, Vec<Place>> = pages.map(|page| (page, Vec::new())).collect();
        if pages.is_empty() {
            return Self(pages);
        }
        for entry in table.sites().iter().flat_map(|site| site.entries()) {
            let target = entry.target();
            let places = target.and_then(|target| pages.get_mut(page(&target)));
            // One of two is not the edited entry.
            if let Some(places) = places.filter(|places| places.len() < 2) {
                places.push(entry.place());
            }
        }
        Self(pages)
    }

    /// Returns the place of another entry that leads to the page to which an edit leads its entry, if
    /// that must be new.
    pub(super) fn other(&self, edit: &EntryEdit, entry: Entry<'_>) -> Option<Place> {
        let places = self.0.get(page_of(edit)?)?;
        let own = entry.place();
        places.iter().find(|place| **place != own).cloned()
    }
}

fn page_of(edit: &EntryEdit) -> Option<&str> {
    edit.values.iter().find_map(|value| match value {
        EntryValue::UrlOfNewPage(target) => Some(page(target.as_str())),
        _ => None,
    })
}

/// Returns a target without its fragment.
fn page(target: &str) -> &str {
    target.split_once('#').map_or(target, |(page, _)| page)
}
