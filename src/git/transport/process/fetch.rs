//! One fetch, run in a process of its own: connect, choose, download.
//!
//! It may hang or be killed anywhere. So it changes nothing important: it adds objects, and in a
//! clone of our own moves a reference that only informs the remote of existing objects.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use git2::{Commit, Direction, ErrorCode, FileMode, Oid, Repository};

use super::fetch_source::{FetchSource, FetchedObjects, LibrarySource};
use super::session::{RemoteSession, failure, proxy};
use super::wire_source::{TIP, WireSource};
use crate::git::commit_id::CommitId;
use crate::git::object_header::header;
use crate::git::setting::Setting;
use crate::git::transport::clone::{CloneTarget, LOCK, remove_all};
use crate::git::transport::orders::{FetchDepth, FetchOrder, Job, Progress, Tip};
use crate::git::transport::remote::{TransferFailure, Wanted, is_local};

/// The reference that keeps what the followed one of the remote leads to: a commit, or a tag.
const SEEN: &str = "refs/waypost/seen";

/// The maximum size of a commit in bytes, which the server holds in memory.
const MAX_COMMIT: u64 = 16 << 20;

/// Runs one fetch.
pub(crate) fn fetch(
    job: &Job,
    order: &FetchOrder,
    progress: &Progress,
) -> Result<Tip, TransferFailure> {
    let mut _lock = None;
    let repository = if order.target == CloneTarget::OwnClone {
        _lock = Some(enter(&job.repository).map_err(|error| {
            TransferFailure::new(format!(
                "cannot write to {}: {error}",
                job.repository.display()
            ))
        })?);
        match job.repository.join("HEAD").exists() {
            true => Repository::open(&job.repository),
            false => Repository::init_bare(&job.repository),
        }
    } else {
        Repository::open(&job.repository)
    };
    let repository = repository.map_err(|error| failure(&error))?;

    let mut fetch = FetchRun {
        order,
        repository: &repository,
        session: RemoteSession::of(job).reporting_to(progress),
    };
    let tip = fetch.run(&job.remote);
    tip.map_err(|error| fetch.session.explain(error))
}

/// Creates a clone's directory, waits for its last fetch to end, and removes the leftovers of that
/// fetch.
fn enter(repository: &Path) -> io::Result<File> {
    fs::create_dir_all(repository)?;
    let lock = File::create(repository.join(LOCK))?;
    lock.lock()?;
    remove_all(repository)?;
    Ok(lock)
}

struct FetchRun<'a> {
    order: &'a FetchOrder,
    repository: &'a Repository,
    session: RemoteSession,
}

impl FetchRun<'_> {
    fn run(&mut self, address: &str) -> Result<Tip, TransferFailure> {
        if let Some(id) = self.order.wanted.commit()
            && self.repository.find_commit(id.0).is_ok()
        {
            // A commit id never leads to another commit.
            return self.keep(None, id.0);
        }
        let mut remote = (self.repository.remote_anonymous(address)).map_err(|e| failure(&e))?;
        self.session.leads_to(&remote);
        let used = remote.url().unwrap_or(address).to_owned();
        if self.order.target == CloneTarget::OwnClone
            && let Some(mut source) = WireSource::of(&used, self.repository, &self.session)?
        {
            return self.run_from(&mut source);
        }
        let connection = remote
            .connect_auth(
                Direction::Fetch,
                Some(self.session.callbacks()),
                Some(proxy()),
            )
            .map_err(|e| failure(&e))?;
        self.session.begin_transfer()?;
        self.run_from(&mut LibrarySource {
            connection,
            session: &self.session,
            is_shallow_capable: !is_local(&used),
        })
    }

    fn run_from(&self, source: &mut impl FetchSource) -> Result<Tip, TransferFailure> {
        if let Wanted::Commit(id) = self.order.wanted {
            return self.commit(source, id);
        }
        let heads = source.references()?;
        let choice = (self.order.wanted.choose(&heads)).map_err(|error| {
            let setting = error.setting();
            TransferFailure::new(error.to_string()).with_setting(setting)
        })?;
        if self.repository.find_object(choice.id, None).is_err() {
            source.download(FetchedObjects::Chosen(&choice), self.order.depth)?;
        }
        self.keep(Some(choice.name), choice.id)
    }

    /// Fetches a commit by its id where the remote allows that, otherwise among all branches and
    /// tags.
    fn commit(&self, source: &mut impl FetchSource, id: CommitId) -> Result<Tip, TransferFailure> {
        let directly = source.download(FetchedObjects::Commit(id), self.order.depth);
        if directly.is_err() || self.repository.find_commit(id.0).is_err() {
            source.download(FetchedObjects::Everything, FetchDepth::History)?;
        }
        self.keep(None, id.0).map_err(|error| match error.damage {
            true => TransferFailure::new(format!(
                "no branch or tag of the remote holds the commit {id}"
            )),
            false => error,
        })
    }

    /// Checks that the files of a checkout would not be larger than the receive limit: they may be
    /// packed so well that little of them is sent.
    fn bound_checkout(&self, commit: &Commit<'_>) -> Result<(), git2::Error> {
        let current = self
            .repository
            .head()
            .and_then(|head| head.peel_to_tree())
            .ok();
        let diff =
            self.repository
                .diff_tree_to_tree(current.as_ref(), Some(&commit.tree()?), None)?;
        let mut total = 0_u64;
        for delta in diff.deltas() {
            let file = delta.new_file();
            if matches!(
                file.mode(),
                FileMode::Blob | FileMode::BlobExecutable | FileMode::Link
            ) {
                total = total.saturating_add(self.size(file.id())?);
            }
            self.session.bound(total)?;
        }
        Ok(())
    }

    fn size(&self, id: Oid) -> Result<u64, git2::Error> {
        Ok(header(&self.repository.odb()?, id)?.0)
    }

    /// Checks that a commit is here and not too long, and in a clone of our own makes the next
    /// fetch build on it.
    fn keep(&self, name: Option<String>, id: Oid) -> Result<Tip, TransferFailure> {
        let object = self.repository.find_object(id, None);
        let commit =
            object
                .and_then(|object| object.peel_to_commit())
                .map_err(|error| match error.code() {
                    ErrorCode::Peel | ErrorCode::InvalidSpec => TransferFailure::new(
                        "what is followed leads to no commit: name a branch or a tag",
                    )
                    .with_setting(Setting::Reference),
                    _ => failure(&error),
                })?;
        let size = self.size(commit.id()).map_err(|e| failure(&e))?;
        if size > MAX_COMMIT {
            let message = format!("the commit {} is {size} bytes long", commit.id());
            return Err(TransferFailure::new(message));
        }
        let kept = match self.order.target {
            CloneTarget::Shared => self.bound_checkout(&commit),
            CloneTarget::OwnClone => {
                // The object of a tag is kept too, so that it is recognised.
                let seen = self.repository.reference(SEEN, id, true, "fetch");
                seen.and_then(|_| self.repository.reference(TIP, commit.id(), true, "fetch"))
                    .map(drop)
            }
        };
        kept.map_err(|e| failure(&e))?;
        Ok(Tip {
            name,
            commit: commit.id().into(),
        })
    }
}
