//! The promises of a history: all commits that lead to one, visited from the first on.
//!
//! The state of a commit is dropped when the last of its children has taken it over, so that memory
//! grows only with the number of parallel lines of work. A commit that only changes the entries of some
//! files is visited by these changes; the table is compiled where they are not sufficient.

use std::rc::Rc;

use super::lineage::{HistoryError, Lineage, PublishedTable};
use super::past_files::PastFiles;
use crate::git::{CommitId, HistoryStep, Version};
use crate::mapping::{
    Broken, Neighbourhood, Outset, Promises, Statement, Statements, TRAILER, Table, compile_after,
    report_exact_case, report_known, report_shadowing,
};

/// The maximum number of compiled tables that are kept: those of two lines of work and their merge.
const MAX_COMPILED: usize = 3;

/// The state at a commit.
#[derive(Clone)]
struct CommitState {
    promises: Rc<Promises>,
    version: Version,
    /// Whether the commit published a table.
    is_sound: bool,
    /// The last table that was published up to this commit.
    served: Option<Rc<ServedTable>>,
}

/// A table that was published.
struct ServedTable {
    /// The number of the last commit that published it.
    number: usize,
    commit: CommitId,
    version: Version,
    outset: Rc<Outset>,
    /// The size of its files, in bytes.
    size: u64,
}

/// A walk through a history.
struct HistoryWalk<'l> {
    lineage: &'l Lineage,
    /// The states of commits with children to visit, by their numbers.
    known: Vec<Option<CommitState>>,
    /// The number of children to visit, by the numbers of commits.
    children: Vec<usize>,
    /// All codes that were ever published.
    near: Neighbourhood,
    files: PastFiles<'l>,
    /// The tables that were compiled last.
    compiled: Vec<Rc<CompiledTable>>,
}

/// A table that was compiled as a whole.
struct CompiledTable {
    version: Version,
    table: Table,
    /// The size of its files, in bytes.
    size: u64,
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
        let mut walk = HistoryWalk::new(self, &steps);
        for (number, step) in steps.iter().enumerate() {
            let known = walk.visit(number, step)?;
            walk.known[number] = Some(known);
        }
        let Some(Some(tip)) = walk.known.pop() else {
            return Ok(Vec::new());
        };
        let taken_down = tip.promises.taken_down();
        let mut all = Vec::new();
        for (number, broken) in tip.promises.broken(table, stated) {
            let commit = steps[number].commit;
            let old = self.sound_table_at(commit, table)?;
            let origin = self.origin(commit)?;
            all.extend(report_known(&old, &origin, table, &broken, &taken_down));
        }
        let mut promises = tip.promises;
        if let Some(served) = &tip.served {
            let old = self.sound_table_at(served.commit, table)?;
            Rc::make_mut(&mut promises).shadow(table, &[(served.number, &old)]);
        }
        for (number, links) in promises.shadowing(table, stated) {
            let commit = steps[number].commit;
            let old = self.sound_table_at(commit, table)?;
            let origin = self.origin(commit)?;
            all.extend(report_shadowing(&old, &origin, table, &links, &taken_down));
        }
        for (number, addresses) in promises.no_longer_folding(table) {
            let commit = steps[number].commit;
            let old = self.sound_table_at(commit, table)?;
            let origin = self.origin(commit)?;
            all.extend(report_exact_case(&old, &origin, table, &addresses));
        }
        Ok(all)
    }

    /// Returns the table in a commit where it was valid before.
    fn sound_table_at(&self, commit: CommitId, like: &Table) -> Result<Table, HistoryError> {
        match self.table_at(commit, Some(like))? {
            PublishedTable::Sound(table) => Ok(table),
            PublishedTable::Nothing | PublishedTable::Unsound => Err(HistoryError::Changed(commit)),
        }
    }
}

impl<'l> HistoryWalk<'l> {
    fn new(lineage: &'l Lineage, steps: &[HistoryStep]) -> Self {
        let mut children = vec![0; steps.len()];
        for parent in steps.iter().flat_map(|step| &step.parents) {
            children[*parent] += 1;
        }
        Self {
            lineage,
            known: vec![None; steps.len()],
            children,
            near: Neighbourhood::default(),
            files: PastFiles::of(lineage),
            compiled: Vec::new(),
        }
    }

    /// Visits a commit after its parents.
    fn visit(&mut self, number: usize, step: &HistoryStep) -> Result<CommitState, HistoryError> {
        let repository = &self.lineage.repository;
        let version = self.lineage.version(step.commit)?;
        let mut stated = Vec::new();
        for text in repository.trailers(step.commit, TRAILER)? {
            stated.extend(Statement::read(&text).into_iter().flatten());
        }
        let parents: Vec<_> = (step.parents.iter())
            .filter_map(|&parent| self.take(parent))
            .collect();
        let like = parents.iter().find(|it| it.version == version);
        let is_news = like.is_none() || parents.len() > 1 || !stated.is_empty();
        let is_sound = like.map(|like| like.is_sound);
        let before: Vec<_> = parents.iter().filter_map(|it| it.served.clone()).collect();
        let is_line = parents.len() == 1;
        let mut parents = parents.into_iter().map(|it| it.promises);
        let mut promises = parents.next().unwrap_or_default();
        for other in parents {
            Rc::make_mut(&mut promises).join(&other);
        }
        let mut state = CommitState {
            promises,
            version,
            is_sound: is_sound.unwrap_or_default(),
            served: before.first().cloned(),
        };
        if !is_news {
            return Ok(state);
        }
        let promises = Rc::make_mut(&mut state.promises);
        promises.state(number, stated);
        let (commit, version) = (step.commit, &state.version);
        let published = match &state.served {
            _ if is_sound == Some(false) => None,
            Some(served) if is_line => {
                self.publish_change(number, (commit, version), served, promises, is_sound)?
            }
            _ => None,
        };
        let published = match published {
            None if is_sound == Some(false) => None,
            None => self.publish_table(number, (commit, version), &before, promises)?,
            published => published,
        };
        state.is_sound = published.is_some();
        state.served = published.map(Rc::new).or(state.served);
        Ok(state)
    }

    /// Publishes the table of a commit by its differences from the one that was served; `None` if they
    /// are not sufficient. `is_sound` is known if the table is that of the parent.
    fn publish_change(
        &mut self,
        number: usize,
        (commit, version): (CommitId, &Version),
        served: &ServedTable,
        promises: &mut Promises,
        is_sound: Option<bool>,
    ) -> Result<Option<ServedTable>, HistoryError> {
        let next = |size| ServedTable {
            number,
            commit,
            version: version.clone(),
            outset: Rc::clone(&served.outset),
            size,
        };
        if *version == served.version {
            let is_known = is_sound == Some(true) && promises.publish_again(number);
            return Ok(is_known.then(|| next(served.size)));
        }
        let versions = (&served.version, version);
        let Some(changes) = self.files.changes((served.commit, commit), versions)? else {
            return Ok(None);
        };
        let size = (served.size + changes.added).saturating_sub(changes.removed);
        // One that is too large is refused when it is read as a whole.
        let is_allowed = size <= self.lineage.max_bytes;
        let difference = served.outset.difference(&changes.files());
        let Some(difference) = difference.filter(|_| is_allowed) else {
            return Ok(None);
        };
        self.files.compared(&changes);
        let is_published = promises.publish_difference(number, &difference, &mut self.near);
        Ok(is_published.then(|| next(size)))
    }

    /// Publishes the table of a commit in full; `None` if it has none without errors.
    fn publish_table(
        &mut self,
        number: usize,
        (commit, version): (CommitId, &Version),
        before: &[Rc<ServedTable>],
        promises: &mut Promises,
    ) -> Result<Option<ServedTable>, HistoryError> {
        let Some(table) = self.table_of(commit, version)? else {
            return Ok(None);
        };
        let mut others = Vec::new();
        for served in before.iter().filter(|it| it.version != *version) {
            // It was valid.
            let other = self.table_of(served.commit, &served.version)?;
            others.extend(other.map(|other| (served.number, other)));
        }
        let others: Vec<_> = (others.iter())
            .map(|(number, other)| (*number, &other.table))
            .collect();
        promises.publish(number, &table.table, &others, &mut self.near);
        Ok(Some(ServedTable {
            number,
            commit,
            version: version.clone(),
            outset: Rc::new(Outset::of(&table.table)),
            size: table.size,
        }))
    }

    /// Returns the table in a commit, if it has one without errors.
    fn table_of(
        &mut self,
        commit: CommitId,
        version: &Version,
    ) -> Result<Option<Rc<CompiledTable>>, HistoryError> {
        let known = self.compiled.iter().position(|it| it.version == *version);
        let table = match known {
            Some(known) => self.compiled.remove(known),
            None => {
                let last = self.compiled.last().map(|it| &it.table);
                let files = self.lineage.table_files_at(commit)?.unwrap_or_default();
                let Some(table) = compile_after(&files, last)
                    .table
                    .filter(|_| !files.is_empty())
                else {
                    return Ok(None);
                };
                Rc::new(CompiledTable {
                    version: version.clone(),
                    table,
                    size: files.iter().map(|file| file.bytes.len() as u64).sum(),
                })
            }
        };
        if self.compiled.len() == MAX_COMPILED {
            self.compiled.remove(0);
        }
        self.compiled.push(Rc::clone(&table));
        Ok(Some(table))
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
