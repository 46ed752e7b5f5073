//! The relations between the commits of a local repository, and the contents of their messages.

use std::collections::HashMap;

use git2::{Sort, message_trailers_strs};

use super::repository::LocalRepository;
use super::repository::damaged;
use super::repository_error::RepositoryError;
use crate::git::commit_id::CommitId;

/// A commit of a history, with its parents.
#[derive(Debug)]
pub struct HistoryStep {
    /// The commit.
    pub commit: CommitId,
    /// Its parents, by their numbers in the history.
    pub parents: Vec<usize>,
}

impl LocalRepository {
    /// Finds the merge base of two lines of work.
    ///
    /// # Errors
    ///
    /// If there is none, or a shallow clone does not reach that far.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Result<CommitId, RepositoryError> {
        match self.repository.merge_base(one.0, other.0) {
            Ok(id) => Ok(CommitId(id)),
            Err(_) if self.repository.is_shallow() => Err(RepositoryError::Shallow { one, other }),
            Err(_) => Err(RepositoryError::Unrelated { one, other }),
        }
    }

    /// Returns whether two lines of work have several merge bases, because each has since merged
    /// the other.
    ///
    /// # Errors
    ///
    /// If Git cannot read them.
    pub fn has_several_bases(
        &self,
        one: CommitId,
        other: CommitId,
    ) -> Result<bool, RepositoryError> {
        let bases = self.repository.merge_bases(one.0, other.0);
        Ok(bases.map_err(|source| damaged(other, source))?.len() > 1)
    }

    /// Returns the commits that lead to a tip and not to a base.
    ///
    /// # Errors
    ///
    /// If Git cannot read them.
    pub fn since(&self, base: CommitId, tip: CommitId) -> Result<Vec<CommitId>, RepositoryError> {
        self.walk(tip, Some(base))
    }

    /// Returns all commits that lead to a tip, the tip last and each after its parents.
    ///
    /// # Errors
    ///
    /// If Git cannot read them, or the clone is shallow and so incomplete.
    pub fn history(&self, tip: CommitId) -> Result<Vec<HistoryStep>, RepositoryError> {
        if self.repository.is_shallow() {
            return Err(RepositoryError::CutOff);
        }
        let mut numbers = HashMap::new();
        let mut steps = Vec::new();
        for commit in self.walk(tip, None)? {
            let parents = self.find(commit)?;
            let parents = parents.parent_ids().map(|id| numbers[&id]).collect();
            numbers.insert(commit.0, steps.len());
            steps.push(HistoryStep { commit, parents });
        }
        Ok(steps)
    }

    fn walk(
        &self,
        tip: CommitId,
        base: Option<CommitId>,
    ) -> Result<Vec<CommitId>, RepositoryError> {
        let walk = || -> Result<_, git2::Error> {
            let mut walk = self.repository.revwalk()?;
            walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
            walk.push(tip.0)?;
            if let Some(base) = base {
                walk.hide(base.0)?;
            }
            walk.map(|id| id.map(CommitId)).collect::<Result<_, _>>()
        };
        walk().map_err(|source| damaged(tip, source))
    }

    /// Returns the first parent of this commit, if there is one.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit, or a shallow clone does not reach that far.
    pub fn first_parent(&self, commit: CommitId) -> Result<Option<CommitId>, RepositoryError> {
        match self.find(commit)?.parent_ids().next() {
            None if self.repository.is_shallow() => Err(RepositoryError::CutOff),
            parent => Ok(parent.map(CommitId)),
        }
    }

    /// Returns the time of a commit, in seconds since the Unix epoch.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit.
    pub fn time(&self, commit: CommitId) -> Result<i64, RepositoryError> {
        Ok(self.find(commit)?.time().seconds())
    }

    /// Returns the value of a key in the trailers of a commit's message
    /// (git-interpret-trailers(1)), regardless of the key's case.
    ///
    /// # Errors
    ///
    /// If Git cannot read the commit.
    pub fn trailers(&self, commit: CommitId, key: &str) -> Result<Vec<String>, RepositoryError> {
        let found = self.find(commit)?;
        let message = String::from_utf8_lossy(found.message_bytes());
        let trailers = message_trailers_strs(&message).map_err(|e| damaged(commit, e))?;
        let values = (trailers.iter())
            .filter(|(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.to_owned());
        Ok(values.collect())
    }
}
