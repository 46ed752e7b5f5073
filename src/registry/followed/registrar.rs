//! The registrar of a followed branch: makes all requested registrations and edits in one commit.
//!
//! The branch is not fetched as long as the last push is believed to be its tip: if it is not, only
//! the next push is lost. Invariants: a link returned as registered is in the remote's branch; the
//! follower is at that commit or a later one, unless it reports otherwise itself.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use git2::Oid;
use tracing::warn;

use super::group::{ChangeOutcome, Submission, decide_all};
use crate::git::{CommitId, SeenBranch, chain};
use crate::mapping::{Cut, SoundTable};
use crate::registry::decide::{ProvedTable, RegistrationRefusal};
use crate::registry::publish::{
    BranchTip, CloneBranch, CommitIdentity, NotPublished, PublishError, TablePath, publish_known,
};
use crate::registry::text::{BlobCuts, compile_text};
use crate::source::{CommitTable, Follower, Following, RemoteError, Turn};

/// How long to compete with other writers for the branch.
pub(super) const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// A compiled table, and the commit that has it.
pub struct CommittedTable {
    /// The commit.
    pub commit: CommitId,
    /// The table, compiled from the files of that commit.
    pub compiled: SoundTable,
}

/// The result of submissions.
#[derive(Debug)]
pub struct PublishedGroup {
    /// The outcome of each submission, in order: at least one is known. Those without an outcome
    /// must be submitted again.
    pub outcomes: Vec<Option<ChangeOutcome>>,
    /// The commit that they were decided on, or that has the changes.
    pub commit: CommitId,
}

/// Why nothing was decided. No message contains a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrarError {
    /// The table already has errors.
    #[error(transparent)]
    Table(RegistrationRefusal),
    /// The newest table may exceed this machine's memory.
    #[error("the newest table may have ended the previous process, and is not loaded")]
    InDoubt,
    /// There is no clone to register in.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The change could not be published.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

impl RegistrarError {
    /// Returns whether the clone seems to be at fault. Then nothing was pushed.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Publish(error) if error.is_damage())
    }
}

/// A table that was compiled, for a reader of its files.
#[derive(Debug)]
pub struct OfferedTable {
    /// The table.
    pub proved: ProvedTable,
    /// The files that its commit changes, by their content in Git, and where they were cut; those that
    /// are not known are read.
    pub cuts: Vec<(Oid, Arc<Cut>)>,
}

impl From<ProvedTable> for OfferedTable {
    fn from(proved: ProvedTable) -> Self {
        let cuts = Vec::new();
        Self { proved, cuts }
    }
}

/// Changes the branch that a follower follows, through the follower's clone.
pub struct Registrar {
    follower: Arc<Follower>,
    author: CommitIdentity,
    table: TablePath,
    /// The last known position of the branch.
    seen: Option<SeenBranch>,
    /// Where the files of the last tip were cut.
    cuts: BlobCuts,
}

impl Registrar {
    /// Takes the followed branch, to change it in the name of `author`.
    pub fn new(follower: Arc<Follower>, author: CommitIdentity) -> Self {
        let Following {
            path, max_bytes, ..
        } = follower.following();
        Self {
            table: TablePath::new(path, *max_bytes),
            follower,
            author,
            seen: None,
            cuts: BlobCuts::default(),
        }
    }

    /// Applies the submitted changes: in one commit, or none if nothing changes. Blocks the thread.
    ///
    /// `live` is not compiled again if it is the table at the branch's tip, and `offer` gets the
    /// table of a commit before it is followed, so that it is not compiled again either.
    ///
    /// # Errors
    ///
    /// If nothing was decided and, as far as is known, nothing changed.
    pub fn publish(
        &mut self,
        submissions: &[Submission],
        live: Option<&CommittedTable>,
        offer: impl Fn(OfferedTable),
    ) -> Result<PublishedGroup, RegistrarError> {
        match self.attempt(submissions, live, &offer) {
            Err(error) if error.is_damage() => {
                let error = chain(&error);
                warn!(error, "the clone is damaged, registering in a new one");
                self.follower.distrust_clone();
                self.attempt(submissions, live, &offer)
            }
            ended => ended,
        }
    }

    fn attempt(
        &mut self,
        submissions: &[Submission],
        live: Option<&CommittedTable>,
        offer: &impl Fn(OfferedTable),
    ) -> Result<PublishedGroup, RegistrarError> {
        let follower = &*self.follower;
        let turn = begin(follower)?;
        let mut branch = CloneBranch::new(turn.branch(), Some(self.author.clone()), None);
        branch.expect_changes(submissions.len());
        // Another writer's commit may have been fetched since, or that of another branch.
        let fetched = turn.seen();
        if let Some(seen) = self
            .seen
            .take()
            .filter(|seen| fetched.as_ref() == Some(seen))
        {
            branch.assume(seen);
        }
        let max_bytes = self.table.max_bytes();
        let mut last = None;
        let (table, cuts) = (&self.table, &mut self.cuts);
        let published = publish_known(&mut branch, table, RETRY_TIMEOUT, cuts, |tip| {
            let compiled = compiled(tip, live)?;
            let now = SystemTime::now().into();
            let decision = decide_all(&tip.files, &compiled, submissions, max_bytes, now);
            if let Some(path) = decision.lost_text() {
                return Err(PublishError::TextLost { path }.into());
            }
            let edit = decision.edit(submissions);
            last = Some((tip.commit, decision));
            edit.ok_or(NotPublished::Unchanged)
        });
        let commit = match published {
            Ok(published) => Some(published.commit),
            Err(NotPublished::Unchanged) => None,
            Err(NotPublished::Failed(error)) => return Err(error),
        };
        let (tip, decision) = last.expect("what was published was decided");
        let seen = SeenBranch {
            branch: branch.name().to_owned(),
            commit: commit.unwrap_or(tip),
        };
        let table = match decision.proved {
            Some(proved) => {
                let cuts = self.cuts.take_committed();
                offer(OfferedTable { proved, cuts });
                CommitTable::Compiled
            }
            None => CommitTable::Unknown,
        };
        follow(follower, turn, &seen, table);
        let commit = seen.commit;
        self.seen = Some(seen);
        Ok(PublishedGroup {
            outcomes: decision.outcomes,
            commit,
        })
    }
}

impl Registrar {
    /// Returns the branch's table.
    pub(super) fn table(&self) -> &TablePath {
        &self.table
    }

    /// Returns the author of commits.
    pub(super) fn author(&self) -> &CommitIdentity {
        &self.author
    }

    /// Returns the follower of the branch.
    pub(super) fn follower(&self) -> &Follower {
        &self.follower
    }
}

/// Begins a turn at the followed branch.
pub(super) fn begin(follower: &Follower) -> Result<Turn<'_>, RegistrarError> {
    match follower.is_in_doubt() {
        true => Err(RegistrarError::InDoubt),
        false => Ok(follower.turn()?),
    }
}

/// Follows a commit at which the branch was seen, if it is not followed already, and ends the turn.
pub(super) fn follow(follower: &Follower, turn: Turn<'_>, seen: &SeenBranch, table: CommitTable) {
    if turn.seen().as_ref() == Some(seen) {
        return;
    }
    let followed = turn.follow(seen, table);
    drop(turn);
    if let Err(error) = followed {
        warn!(error = %error, "cannot follow a commit at once, fetching it");
        follower.refresh();
    }
}

/// Returns the table at a tip: the live one, or else it is compiled.
fn compiled(
    tip: &BranchTip,
    live: Option<&CommittedTable>,
) -> Result<SoundTable, NotPublished<RegistrarError>> {
    if let Some(live) = live.filter(|live| live.commit == tip.commit) {
        return Ok(live.compiled.clone());
    }
    let before = live.map(|live| &*live.compiled.table);
    let Some(compiled) = compile_text(&tip.files, before) else {
        let path = tip.files.first().map_or("", |file| &file.path).to_owned();
        return Err(PublishError::TextLost { path }.into());
    };
    compiled.into_sound().map_err(|diagnostics| {
        let refusal = RegistrationRefusal::TableHasErrors(diagnostics);
        NotPublished::Failed(RegistrarError::Table(refusal))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::SourceFile;

    fn tip(text: &str) -> BranchTip {
        let file = SourceFile {
            path: "mapping.yaml".into(),
            bytes: text.into(),
        };
        BranchTip {
            commit: "0".repeat(40).parse().unwrap(),
            files: vec![file.into()],
        }
    }

    #[test]
    fn the_live_table_of_the_tip_is_not_compiled_again() {
        let tip = tip("base_url: https://s.code/\nmapping: []\n");
        let first = compiled(&tip, None).ok().unwrap();
        let live = |commit: CommitId| CommittedTable {
            commit,
            compiled: first.clone(),
        };
        let again = compiled(&tip, Some(&live(tip.commit))).ok().unwrap();
        assert!(Arc::ptr_eq(&again.table, &first.table));
        let other = "1".repeat(40).parse().unwrap();
        let again = compiled(&tip, Some(&live(other))).ok().unwrap();
        assert!(!Arc::ptr_eq(&again.table, &first.table));
    }

    #[test]
    fn a_table_with_errors_takes_nothing() {
        let error = compiled(&tip("mapping: 1\n"), None).err().unwrap();
        assert!(matches!(
            error,
            NotPublished::Failed(RegistrarError::Table(RegistrationRefusal::TableHasErrors(
                _
            )))
        ));
    }
}
