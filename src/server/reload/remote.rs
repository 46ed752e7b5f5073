//! A remote repository as a server's source: followed by this process, and read from its commits.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::git::StateError;
use crate::mapping::TableFile;
use crate::source::{
    Earlier, Fingerprint, Follower, Following, Reading, RepositoryPlace, Revision, SourceError,
};

use crate::server::state::{Fetching, Source};

/// A table in a remote repository.
pub struct RemoteSource(Arc<Follower>);

impl RemoteSource {
    /// Starts to follow. Must be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails if the state directory cannot be used.
    pub fn start(following: Following) -> Result<Self, StateError> {
        let follower = Follower::start(following)?;
        Ok(Self(Arc::new(follower)))
    }

    /// Returns its follower.
    pub fn follower(&self) -> &Arc<Follower> {
        &self.0
    }
}

impl Source for RemoteSource {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn hints(&self) -> Arc<Notify> {
        self.0.hints()
    }

    fn refresh(&self) {
        self.0.refresh();
    }

    fn read(
        &self,
        known: Option<&Fingerprint>,
        earlier: Earlier<'_>,
    ) -> Result<Option<Reading<TableFile>>, SourceError> {
        if known.is_some_and(|known| !self.0.may_differ_from(known)) {
            return Ok(None);
        }
        Ok(Some(self.0.read_changes(earlier)?))
    }

    fn accepted(&self, revision: &Revision) {
        self.0.accepted(revision);
    }

    fn ended(&self) {
        self.0.end_attempt();
    }

    fn prefer_newest(&self) {
        self.0.prefer_newest();
    }

    fn fall_back(&self) -> bool {
        self.0.fall_back()
    }

    fn retry(&self) -> bool {
        self.0.retry()
    }

    fn place(&self) -> RepositoryPlace {
        self.0.place()
    }

    fn fetching(&self) -> Option<Fetching> {
        let status = self.0.status();
        Some(Fetching {
            last: status.last_fetch.clone(),
            last_success: status.last_success,
            remote: Some(status),
        })
    }
}
