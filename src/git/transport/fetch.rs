//! One fetch, run in a process of its own: connect, choose, download.
//!
//! It may hang or be killed anywhere. So it changes nothing that counts: it adds objects, and in a
//! clone of our own moves a reference that only informs the remote of what is here already.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use git2::{
    AutotagOption, Commit, Direction, ErrorCode, FetchOptions, FileMode, Oid, RemoteConnection,
    Repository,
};

use super::advertised::heads;
use super::failure::TransferFailure;
use super::job::{FetchOrder, Job, Tip};
use super::leftovers::{LOCK, remove_all};
use super::session::{RemoteSession, failure, proxy};
use super::target::CloneTarget;
use super::wanted::Wanted;
use crate::git::commit_id::CommitId;
use crate::git::setting::Setting;

/// The reference that keeps the remote's tip in a clone of our own: what the remote is informed of.
const TIP: &str = "refs/waypost/tip";

/// The maximum size of a commit in bytes, which the server holds in memory.
const MAX_COMMIT: usize = 16 << 20;

/// Runs one fetch.
pub(crate) fn fetch(job: &Job, order: &FetchOrder) -> Result<Tip, TransferFailure> {
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
        session: RemoteSession::of(job),
    };
    let tip = fetch.run(&job.remote);
    tip.map_err(|error| fetch.session.explain(error))
}

/// Makes a clone's directory, waits for its last fetch to end, and removes the leftovers of that.
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
        let mut connection = remote
            .connect_auth(
                Direction::Fetch,
                Some(self.session.callbacks()),
                Some(proxy()),
            )
            .map_err(|e| failure(&e))?;
        self.session.begin_transfer()?;
        if let Wanted::Commit(id) = self.order.wanted {
            return self.commit(&mut connection, id);
        }
        let heads = heads(&connection).map_err(|e| failure(&e))?;
        let choice = (self.order.wanted.choose(&heads)).map_err(|error| {
            let setting = error.setting();
            TransferFailure::new(error.to_string()).with_setting(setting)
        })?;
        if self.repository.find_object(choice.id, None).is_err() {
            self.download(&mut connection, &[&choice.name], self.order.shallow)
                .map_err(|e| failure(&e))?;
        }
        self.keep(Some(choice.name), choice.id)
    }

    /// Fetches a commit by its id where the remote allows that, otherwise among all branches and
    /// tags.
    fn commit(
        &self,
        connection: &mut RemoteConnection<'_, '_, '_>,
        id: CommitId,
    ) -> Result<Tip, TransferFailure> {
        let directly = self.download(connection, &[&id.to_string()], self.order.shallow);
        if directly.is_err() || self.repository.find_commit(id.0).is_err() {
            // It reconnects if the remote hung up.
            self.download(
                connection,
                &["refs/heads/*:refs/x/*", "refs/tags/*:refs/y/*"],
                false,
            )
            .map_err(|e| failure(&e))?;
        }
        self.keep(None, id.0).map_err(|error| match error.damage {
            true => TransferFailure::new(format!(
                "no branch or tag of the remote holds the commit {id}"
            )),
            false => error,
        })
    }

    fn download(
        &self,
        connection: &mut RemoteConnection<'_, '_, '_>,
        names: &[&str],
        shallow: bool,
    ) -> Result<(), git2::Error> {
        let mut options = FetchOptions::new();
        options
            .remote_callbacks(self.session.callbacks())
            .proxy_options(proxy())
            .download_tags(AutotagOption::None)
            .depth(i32::from(shallow));
        connection.remote().download(names, Some(&mut options))
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
                total = total.saturating_add(self.size(file.id())? as u64);
            }
            self.session.bound(total)?;
        }
        Ok(())
    }

    fn size(&self, id: Oid) -> Result<usize, git2::Error> {
        Ok(self.repository.odb()?.read_header(id)?.0)
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
                (self.repository.reference(TIP, commit.id(), true, "fetch")).map(drop)
            }
        };
        kept.map_err(|e| failure(&e))?;
        Ok(Tip {
            name,
            commit: commit.id().into(),
        })
    }
}
