//! The promises of a history: all commits that lead to one, visited from the first on.
//!
//! A table is compiled once for each commit that changes it. The state of a commit is dropped when
//! the last of its children has taken it over, so that memory grows only with the number of
//! parallel lines of work.

use std::rc::Rc;

use super::lineage::{HistoryError, Lineage, PublishedTable};
use crate::git::{HistoryStep, Version};
use crate::mapping::{
    Broken, Promises, Statement, Statements, TRAILER, Table, report_known, report_shadowing,
};

/// The state at a commit.
#[derive(Clone)]
struct CommitState {
    promises: Rc<Promises>,
    version: Version,
    /// None if the commit published nothing.
    table: Option<Rc<Table>>,
    /// The last table that was published up to this commit, with the number of its commit.
    served: Option<(usize, Rc<Table>)>,
}

/// The states of commits with children to visit, by their numbers.
struct Unfinished {
    known: Vec<Option<CommitState>>,
    /// The number of children to visit.
    children: Vec<usize>,
}

impl Lineage {
    /// Returns the promises of all tables published before that a table breaks.
    ///
    /// # Errors
    ///
    /// If Git cannot read the history, or the clone is shallow and so incomplete.
    pub fn broken_ever(
        &self,
        table: &Table,
        stated: &Statements,
    ) -> Result<Vec<Broken>, HistoryError> {
        let steps = self.repository.history(self.tip)?;
        let mut unfinished = Unfinished::new(&steps);
        for (number, step) in steps.iter().enumerate() {
            let known = unfinished.follow(number, step, self)?;
            unfinished.known[number] = Some(known);
        }
        let Some(Some(tip)) = unfinished.known.pop() else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for (number, broken) in tip.promises.broken(table, stated) {
            let commit = steps[number].commit;
            let PublishedTable::Sound(old) = self.table_at(commit, Some(table))? else {
                // It was valid when it kept these promises.
                return Err(HistoryError::Changed(commit));
            };
            let origin = self.origin(commit)?;
            all.extend(report_known(&old, &origin, table, &broken));
        }
        let mut promises = tip.promises;
        if let Some((number, served)) = &tip.served {
            Rc::make_mut(&mut promises).shadow(table, &[(*number, served)]);
        }
        for (number, links) in promises.shadowing(table, stated) {
            let commit = steps[number].commit;
            let PublishedTable::Sound(old) = self.table_at(commit, Some(table))? else {
                return Err(HistoryError::Changed(commit));
            };
            let origin = self.origin(commit)?;
            all.extend(report_shadowing(&old, &origin, table, &links));
        }
        Ok(all)
    }
}

impl Unfinished {
    fn new(steps: &[HistoryStep]) -> Self {
        let mut children = vec![0; steps.len()];
        for parent in steps.iter().flat_map(|step| &step.parents) {
            children[*parent] += 1;
        }
        Self {
            known: vec![None; steps.len()],
            children,
        }
    }

    /// Visits a commit after its parents.
    fn follow(
        &mut self,
        number: usize,
        step: &HistoryStep,
        lineage: &Lineage,
    ) -> Result<CommitState, HistoryError> {
        let repository = &lineage.repository;
        let version = lineage.version(step.commit)?;
        let mut stated = Vec::new();
        for text in repository.trailers(step.commit, TRAILER)? {
            stated.extend(Statement::read(&text).into_iter().flatten());
        }
        let parents: Vec<_> = (step.parents.iter())
            .filter_map(|&parent| self.take(parent))
            .collect();
        let like = parents.iter().find(|it| it.version == version);
        let is_news = like.is_none() || parents.len() > 1 || !stated.is_empty();
        let last = parents.iter().find_map(|it| it.served.as_ref());
        let last = last.map(|(_, table)| &**table);
        let table = match like {
            Some(like) => like.table.clone(),
            None => match lineage.table_at(step.commit, last)? {
                PublishedTable::Sound(table) => Some(Rc::new(table)),
                PublishedTable::Nothing | PublishedTable::Unsound => None,
            },
        };
        let before: Vec<_> = parents.iter().filter_map(|it| it.served.clone()).collect();
        let mut parents = parents.into_iter().map(|it| it.promises);
        let mut promises = parents.next().unwrap_or_default();
        for other in parents {
            Rc::make_mut(&mut promises).join(&other);
        }
        if is_news {
            let promises = Rc::make_mut(&mut promises);
            promises.state(number, stated);
            if let Some(table) = &table {
                let is_other = |it: &&(usize, Rc<Table>)| !Rc::ptr_eq(&it.1, table);
                let others = before.iter().filter(is_other);
                let others: Vec<_> = others.map(|(number, it)| (*number, &**it)).collect();
                promises.publish(number, table, &others);
            }
        }
        let own = table.clone().map(|table| (number, table));
        Ok(CommitState {
            promises,
            version,
            table,
            served: own.or_else(|| before.into_iter().next()),
        })
    }

    /// Returns the state at a parent: the original for its last child, otherwise a copy.
    fn take(&mut self, parent: usize) -> Option<CommitState> {
        self.children[parent] -= 1;
        match self.children[parent] {
            0 => self.known[parent].take(),
            _ => self.known[parent].clone(),
        }
    }
}
