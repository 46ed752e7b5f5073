//! Changes of an entry's content, and which of them are refused.

use std::collections::HashSet;

use super::content::EntryContent;
use super::entry_edit::{EntryEdit, ExpectedContent};
use super::entry_tag::EntryTag;
use super::refusal::EditRefusal;
use super::value::EntryValue;
use crate::mapping::{Entry, Place, Table, Target, Timestamp, Variant};
use crate::registry::decide::choice::taken_down;
use crate::registry::decide::{Holder, check_reach};

/// What an entry says, and what it is to say.
pub(super) struct ContentChange<'c, 't> {
    pub(super) table: &'t Table,
    pub(super) entry: Entry<'t>,
    pub(super) before: &'c EntryContent,
    pub(super) after: &'c EntryContent,
    pub(super) now: Timestamp,
}

impl ContentChange<'_, '_> {
    /// Checks the change that an edit makes.
    pub(super) fn check(&self, edit: &EntryEdit) -> Result<(), EditRefusal> {
        self.check_expected(&edit.expected)?;
        if edit.values.contains(&EntryValue::Live) {
            self.check_live()?;
        }
        if self.after.target.is_none() {
            self.check_without_target()?;
        }
        if !edit.may_lose_aliases {
            self.check_lost_codes()?;
        }
        self.check_new_codes()?;
        self.check_urls()
    }

    fn place(&self) -> Place {
        self.entry.place()
    }

    /// Checks that the entry says what the edit expects, or already what it is to say.
    fn check_expected(&self, expected: &ExpectedContent) -> Result<(), EditRefusal> {
        let is_expected = match expected {
            ExpectedContent::Any => true,
            ExpectedContent::Content(expected) => **expected == *self.before,
            ExpectedContent::Tagged(tags) => {
                self.after == self.before || tags.contains(&EntryTag::of_content(self.before))
            }
        };
        match is_expected {
            true => Ok(()),
            false => Err(EditRefusal::Changed {
                place: self.place(),
            }),
        }
    }

    /// Checks that an entry which is restored would work.
    fn check_live(&self) -> Result<(), EditRefusal> {
        let place = self.place();
        if self.after.target.is_none() {
            return Err(EditRefusal::NoTarget { place });
        }
        match self.after.expired(self.now) {
            Some(since) => Err(EditRefusal::Expired { place, since }),
            None => Ok(()),
        }
    }

    /// Checks that an entry without a target is retired, and names neither a copy of a former one nor
    /// where paths or variants led.
    fn check_without_target(&self) -> Result<(), EditRefusal> {
        if !self.after.is_retired(self.now) {
            return Err(EditRefusal::NotRetired);
        }
        let place = self.place();
        if self.after.archive.is_some() {
            return Err(EditRefusal::NoArchive { place });
        }
        if self.after.below.is_some() {
            return Err(EditRefusal::NoBelow { place });
        }
        match self.after.variants.is_empty() {
            true => Ok(()),
            false => Err(EditRefusal::NoVariants { place }),
        }
    }

    /// Checks that each published code is kept.
    fn check_lost_codes(&self) -> Result<(), EditRefusal> {
        let kept: HashSet<_> = self.after.codes().collect();
        let lost = self.before.codes().filter(|code| !kept.contains(code));
        let codes: Vec<_> = lost.map(str::to_owned).collect();
        match codes.is_empty() {
            true => Ok(()),
            false => Err(EditRefusal::AliasesLost { codes }),
        }
    }

    /// Checks that each new code is free, and can be reached.
    fn check_new_codes(&self) -> Result<(), EditRefusal> {
        let site = self.entry.site();
        let known: HashSet<_> = self.before.codes().collect();
        for code in self.after.codes().filter(|code| !known.contains(code)) {
            check_reach(self.table, site, code)?;
            if let Some(holder) = site.lookup_in_any_case(code) {
                return Err(EditRefusal::CodeTaken {
                    code: code.to_owned(),
                    holder: Holder::of(holder, self.now),
                });
            }
        }
        Ok(())
    }

    /// Checks that a new target, a new URL for paths below, and those of new variants may be given to the
    /// entry.
    fn check_urls(&self) -> Result<(), EditRefusal> {
        let is_new = |after: &Option<String>, before| after.is_some() && after != before;
        if is_new(&self.after.target, &self.before.target) {
            if self.before.retired.is_some() {
                return Err(EditRefusal::Retired);
            }
            self.check_url("url", self.after.target.as_deref())?;
        }
        if is_new(&self.after.below, &self.before.below) {
            self.check_url("below", self.after.below.as_deref())?;
        }
        let known: HashSet<_> = urls_of_variants(self.before).collect();
        for url in urls_of_variants(self.after).filter(|url| !known.contains(url)) {
            self.check_url("variants", Some(url))?;
        }
        let both = self.before.destination().zip(self.after.destination());
        let is_kept = both.is_none_or(|(before, after)| before.lost_in(&after).is_none());
        match self.before.retired.is_some() && !is_kept {
            true => Err(EditRefusal::Retired),
            false => Ok(()),
        }
    }

    /// Checks that the URL of a key may be given to the entry.
    fn check_url(&self, key: &'static str, url: Option<&str>) -> Result<(), EditRefusal> {
        let Some(target) = url else {
            return Ok(());
        };
        let target = Target::parse(target).map_err(|_| EditRefusal::SideEffects)?;
        if self.table.covers(&target) {
            return Err(EditRefusal::OwnLink { key });
        }
        match taken_down(self.entry.site(), &target, self.now) {
            Some(_) => Err(EditRefusal::TakenDown { key }),
            None => Ok(()),
        }
    }
}

/// Returns the URLs of the variants of an entry.
fn urls_of_variants(content: &EntryContent) -> impl Iterator<Item = &str> {
    let variants = content.variants.iter().map(|note| Variant::of_note(note));
    variants.flat_map(|it| it.urls())
}
