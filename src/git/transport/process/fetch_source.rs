//! The source of fetched objects: a connected remote, through libgit2 or otherwise.

use git2::{AutotagOption, FetchOptions, RemoteConnection};

use super::advertised::heads;
use super::session::{RemoteSession, failure, proxy};
use crate::git::commit_id::CommitId;
use crate::git::transport::orders::FetchDepth;
use crate::git::transport::remote::{Choice, TransferFailure};
use crate::git::wire::AdvertisedRef;

/// The objects to fetch.
pub(crate) enum FetchedObjects<'c> {
    /// A reference.
    Chosen(&'c Choice),
    /// A commit, by its id.
    Commit(CommitId),
    /// All branches and tags.
    Everything,
}

/// A connected remote.
pub(crate) trait FetchSource {
    /// Returns the references that the remote advertises.
    fn references(&self) -> Result<Vec<AdvertisedRef>, TransferFailure>;

    /// Fetches objects into the repository. Connects again if that is necessary.
    fn download(
        &mut self,
        objects: FetchedObjects<'_>,
        depth: FetchDepth,
    ) -> Result<(), TransferFailure>;
}

/// A remote that libgit2 is connected to.
pub(crate) struct LibrarySource<'r, 'repo, 'cb, 's> {
    pub(crate) connection: RemoteConnection<'repo, 'r, 'cb>,
    pub(crate) session: &'s RemoteSession,
    /// Whether it can send a commit without its history.
    pub(crate) is_shallow_capable: bool,
}

impl FetchSource for LibrarySource<'_, '_, '_, '_> {
    fn references(&self) -> Result<Vec<AdvertisedRef>, TransferFailure> {
        heads(&self.connection).map_err(|e| failure(&e))
    }

    fn download(
        &mut self,
        objects: FetchedObjects<'_>,
        depth: FetchDepth,
    ) -> Result<(), TransferFailure> {
        let names = match objects {
            FetchedObjects::Chosen(choice) => vec![choice.name.clone()],
            FetchedObjects::Commit(id) => vec![id.to_string()],
            FetchedObjects::Everything => ["refs/heads/*:refs/x/*", "refs/tags/*:refs/y/*"]
                .map(str::to_owned)
                .to_vec(),
        };
        let is_shallow = depth == FetchDepth::Commit && self.is_shallow_capable;
        let mut options = FetchOptions::new();
        options
            .remote_callbacks(self.session.callbacks())
            .proxy_options(proxy())
            .download_tags(AutotagOption::None)
            .depth(i32::from(is_shallow));
        let remote = self.connection.remote();
        (remote.download(&names, Some(&mut options))).map_err(|e| failure(&e))
    }
}
