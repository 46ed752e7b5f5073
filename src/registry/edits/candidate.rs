//! Candidates: edits whose entry exists and is what they expect, and what changes in it.

use super::content::EntryContent;
use super::entry_edit::EntryEdit;
use super::refusal::EditRefusal;
use crate::edit::KeyEdit;
use crate::mapping::{Entry, Statement, Table, Target};

/// An edit that changes an entry.
pub(super) struct Candidate<'t> {
    /// Its number among the edits.
    pub(super) number: usize,
    pub(super) edit: &'t EntryEdit,
    pub(super) entry: Entry<'t>,
    /// What the entry is to say.
    pub(super) content: EntryContent,
    pub(super) keys: Vec<KeyEdit>,
}

/// Finds the entry of an edit, and what changes in it.
pub(super) fn candidate<'t>(
    table: &'t Table,
    number: usize,
    edit: &'t EntryEdit,
) -> Result<Candidate<'t>, EditRefusal> {
    let mut sites = table.sites().iter();
    let site = sites.find(|site| site.base_url().as_str() == edit.site);
    let entry = site.and_then(|site| site.lookup(&edit.code));
    let entry = entry.ok_or_else(|| EditRefusal::NoSuchEntry {
        code: edit.code.clone(),
    })?;
    let before = EntryContent::of(entry);
    if edit.before.as_ref().is_some_and(|it| *it != before) {
        let place = entry.place();
        return Err(EditRefusal::Changed { place });
    }
    let mut content = before.clone();
    let given = edit.values.iter().filter(|value| value.give(&mut content));
    let keys: Vec<_> = given.map(|value| value.written()).collect();
    if content.target != before.target
        && let Some(target) = &content.target
    {
        if before.retired.is_some() && before.target.is_some() {
            return Err(EditRefusal::Retired);
        }
        if Target::parse(target).is_ok_and(|target| table.covers(&target)) {
            return Err(EditRefusal::OwnLink);
        }
    }
    Ok(Candidate {
        number,
        edit,
        entry,
        content,
        keys,
    })
}

impl Candidate<'_> {
    /// Returns the trailers that state that its codes are intended to lead elsewhere, if they do.
    pub(super) fn retargeted(&self, has_several_sites: bool) -> Vec<String> {
        let target = self.entry.target();
        let is_retargeted =
            self.content.target.is_some() && target.as_deref() != self.content.target.as_deref();
        if !is_retargeted {
            return Vec::new();
        }
        // Codes that are new were not published.
        let before = EntryContent::of(self.entry);
        let trailer = |code| Statement::trailer(self.entry.site(), code, has_several_sites);
        before.codes().map(trailer).collect()
    }
}
