//! What a table changes since one base, the table where a line of work branched off: the promises
//! that it breaks, and the dates that it sets.

use std::collections::HashSet;

use super::lineage::{HistoryError, Lineage, PublishedTable};
use super::note::HistoryNote;
use crate::git::CommitId;
use crate::mapping::{
    Broken, Diagnostic, Statement, Statements, TRAILER, Table, Timestamp, breaches, near_ends,
};

/// The reported changes of a table since a base.
#[derive(Debug, Default)]
pub struct SinceBase {
    /// The promises that it breaks.
    pub broken: Vec<Broken>,
    /// Warnings about links that it makes expire now or soon.
    pub near_ends: Vec<Diagnostic>,
    /// The table with which it was compared, if there was one.
    pub before: Option<Table>,
}

impl Lineage {
    /// Returns the promises of the table at the merge base that a table breaks, and the expiry
    /// dates near `now` that it sets.
    ///
    /// # Errors
    ///
    /// If `base` names no commit, or Git cannot read the history.
    pub fn since_base(
        &self,
        base: &str,
        table: &Table,
        stated: &Statements,
        now: Timestamp,
        note: &dyn Fn(&HistoryNote),
    ) -> Result<SinceBase, HistoryError> {
        let repository = &self.repository;
        let rev = repository.commit(base)?;
        let base = repository.merge_base(rev, self.tip)?;
        let Some((commit, old)) = self.last_sound(base, Some(table), note)? else {
            return Ok(SinceBase::default());
        };
        // If branches were merged both ways, the base lacks some commits of REV, whose statements
        // are used up.
        let mut stating = repository.since(rev, self.tip)?;
        stating.extend(repository.since(commit, base)?);
        let mut stated = stated.clone();
        for commit in stating {
            for text in repository.trailers(commit, TRAILER)? {
                match Statement::read(&text) {
                    Some(read) => stated.state(0, read),
                    None => note(&HistoryNote::UnknownStatement { commit, text }),
                }
            }
        }
        let origin = self.origin(commit)?;
        let mut broken = breaches(&old, &origin, table, &stated);
        // If there are several bases, the chosen one may lack a statement that is in another. A
        // breach that REV already has is not caused by this change.
        if !broken.is_empty()
            && repository.has_several_bases(rev, self.tip)?
            && let PublishedTable::Sound(theirs) = self.table_at(rev, Some(table))?
        {
            let anew = breaches(&theirs, &origin, table, &stated);
            let anew: HashSet<_> = anew.into_iter().map(|it| it.link).collect();
            broken.retain(|it| anew.contains(&it.link));
        }
        Ok(SinceBase {
            broken,
            near_ends: near_ends(&old, table, now),
            before: Some(old),
        })
    }

    /// Returns the table that was served where the line of work that leads to the tip branched off from
    /// a base: if the one there has errors, the last valid one before it.
    ///
    /// # Errors
    ///
    /// If `base` names no commit, or Git cannot read the history.
    pub fn table_at_base(
        &self,
        base: &str,
        note: &dyn Fn(&HistoryNote),
    ) -> Result<Option<Table>, HistoryError> {
        let found = self.last_sound(self.branch_point(base)?, None, note)?;
        Ok(found.map(|(_, table)| table))
    }

    /// Returns the table that was served at a commit: if the one there has errors, the last valid one
    /// before it. The more it has in common with `other`, the less that costs.
    pub(super) fn last_sound(
        &self,
        base: CommitId,
        other: Option<&Table>,
        note: &dyn Fn(&HistoryNote),
    ) -> Result<Option<(CommitId, Table)>, HistoryError> {
        let mut unsound = None;
        let mut next = Some(base);
        while let Some(commit) = next {
            let version = Some(self.version(commit)?);
            if version != unsound {
                match self.table_at(commit, other)? {
                    PublishedTable::Sound(table) => {
                        if commit != base {
                            let sound = commit;
                            note(&HistoryNote::EarlierBase { base, sound });
                        }
                        return Ok(Some((commit, table)));
                    }
                    PublishedTable::Nothing => break,
                    PublishedTable::Unsound => unsound = version,
                }
            }
            next = self.repository.first_parent(commit)?;
        }
        note(&match unsound {
            None => HistoryNote::NothingPublished { base },
            Some(_) => HistoryNote::NothingSound { base },
        });
        Ok(None)
    }
}
