//! Changes of an entry's content, and which of them are refused.

use std::collections::HashSet;

use super::content::EntryContent;
use super::entry_edit::{EntryEdit, ExpectedContent};
use super::entry_tag::EntryTag;
use super::refusal::EditRefusal;
use super::value::EntryValue;
use crate::mapping::{Entry, Place, Table, Target, Timestamp};
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
        self.check_target()
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
        match self.after.expires.filter(|time| *time <= self.now) {
            Some(since) => Err(EditRefusal::Expired { place, since }),
            None => Ok(()),
        }
    }

    /// Checks that an entry without a target is retired, and names no copy of a former one.
    fn check_without_target(&self) -> Result<(), EditRefusal> {
        if !self.after.is_retired(self.now) {
            return Err(EditRefusal::NotRetired);
        }
        match self.after.archive {
            Some(_) => Err(EditRefusal::NoArchive {
                place: self.place(),
            }),
            None => Ok(()),
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
            if let Some(holder) = site.lookup(code) {
                return Err(EditRefusal::CodeTaken {
                    code: code.to_owned(),
                    holder: Holder::of(holder, self.now),
                });
            }
        }
        Ok(())
    }

    /// Checks that a new target may be given to the entry.
    fn check_target(&self) -> Result<(), EditRefusal> {
        let Some(target) = &self.after.target else {
            return Ok(());
        };
        if self.after.target == self.before.target {
            return Ok(());
        }
        if self.before.retired.is_some() {
            return Err(EditRefusal::Retired);
        }
        let target = Target::parse(target).map_err(|_| EditRefusal::SideEffects)?;
        if self.table.covers(&target) {
            return Err(EditRefusal::OwnLink);
        }
        match taken_down(self.entry.site(), &target, self.now) {
            Some(_) => Err(EditRefusal::TakenDown),
            None => Ok(()),
        }
    }
}
