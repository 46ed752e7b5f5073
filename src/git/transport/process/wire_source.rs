//! A remote whose `upload-pack` is used directly: a daemon, or a path of this machine.
//!
//! For a path, libgit2 has a transport of its own that always copies the whole history. It is used
//! if there is no program `git`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use git2::{Indexer, Oid, Repository};

use super::fetch_source::{FetchSource, FetchedObjects};
use super::packing::pack_failure;
use super::session::{RemoteSession, failure, too_much_memory};
use crate::git::error_chain::chain;
use crate::git::packs::{ReceivedPack, complete};
use crate::git::random::random;
use crate::git::transport::clone::PARTIAL_PACK;
use crate::git::transport::orders::FetchDepth;
use crate::git::transport::remote::{RemoteUrl, TransferFailure, Transport};
use crate::git::transport::transfer::{SECRET_VARIABLES, SERVICE_VARIABLES};
use crate::git::wire::{
    AdvertisedRef, Endpoint, FetchRequest, ShallowChange, UploadPack, WireError,
};

/// The reference that keeps the remote's tip in a clone of our own: reported to the remote as
/// known.
pub(crate) const TIP: &str = "refs/waypost/tip";

/// The maximum number of commits that the remote is informed of.
const MAX_HAVES: usize = 256;

/// The file that lists the commits of a clone whose parents are not in it.
const SHALLOW: &str = "shallow";

type Count = Box<dyn FnMut(u64) -> io::Result<()>>;

/// A remote whose `upload-pack` is used directly.
pub(crate) struct WireSource<'s> {
    endpoint: Endpoint,
    conversation: UploadPack<Count>,
    repository: &'s Repository,
    session: &'s RemoteSession,
    /// Whether the request of the connection was already sent.
    spent: bool,
}

impl<'s> WireSource<'s> {
    /// Connects to the remote at an address, if it can be used directly.
    pub(crate) fn of(
        address: &str,
        repository: &'s Repository,
        session: &'s RemoteSession,
    ) -> Result<Option<Self>, TransferFailure> {
        let Some(endpoint) = endpoint(address) else {
            return Ok(None);
        };
        // The program has these limits too. The references are limited as they are read.
        session.begin_transfer()?;
        match connect(&endpoint, session) {
            Ok(conversation) => Ok(Some(Self {
                endpoint,
                conversation,
                repository,
                session,
                spent: false,
            })),
            Err(WireError::Program(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(explained(&error)),
        }
    }

    /// Returns the commits that the remote is informed of: where it was seen last, and those before.
    fn haves(&self) -> Result<Vec<Oid>, git2::Error> {
        let Ok(tip) = self.repository.refname_to_id(TIP) else {
            return Ok(Vec::new());
        };
        let mut walk = self.repository.revwalk()?;
        walk.push(tip)?;
        // If the history ends early, its rest is unknown.
        Ok(walk.map_while(Result::ok).take(MAX_HAVES).collect())
    }

    fn wants(&self, objects: &FetchedObjects<'_>) -> Vec<Oid> {
        match objects {
            FetchedObjects::Chosen(choice) => vec![choice.id],
            FetchedObjects::Commit(id) => vec![id.0],
            FetchedObjects::Everything => {
                let references = self.conversation.references().iter();
                let mut ids: Vec<Oid> = references
                    .filter(|it| {
                        ["refs/heads/", "refs/tags/"]
                            .iter()
                            .any(|p| it.name.starts_with(p))
                    })
                    // The target of a tag is sent with it.
                    .filter(|it| !it.name.ends_with("^{}"))
                    .map(|it| it.id)
                    .collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            }
        }
    }

    /// Receives a pack that refers to no other objects, and adds it to the clone.
    fn receive_whole(
        &mut self,
        directory: &Path,
        change: &ShallowChange,
    ) -> Result<(), TransferFailure> {
        let mut indexer = Indexing::new(self.repository, directory)?;
        let received = self.conversation.pack(|bytes| indexer.write(bytes));
        indexer.check()?;
        received.map_err(|error| explained(&error))?;
        self.session.complete();
        self.adding(change, || indexer.commit())
    }

    /// Receives a pack that may refer to local objects that it does not contain.
    fn receive_thin(
        &mut self,
        directory: &Path,
        change: &ShallowChange,
    ) -> Result<(), TransferFailure> {
        let aside = directory.join(format!("{PARTIAL_PACK}{:016x}", random()));
        let received = self.receive_file(&aside);
        let added = received.and_then(|pack| {
            self.adding(change, || {
                let max = self.session.max_object();
                let is_complete = match pack.may_be_thin() {
                    true => complete(&pack, directory, &aside, max).map_err(pack_failure)?,
                    false => false,
                };
                if is_complete {
                    return Ok(());
                }
                // There is nothing to complete, or the missing objects are not in a pack.
                let mut indexer = Indexing::new(self.repository, directory)?;
                let mut file = File::open(&aside).map_err(|e| unwritable(&aside, &e))?;
                let copied = io::copy(&mut file, &mut indexer.indexer);
                copied.map_err(|error| {
                    refused(&error).unwrap_or_else(|| unwritable(&aside, &error))
                })?;
                indexer.commit()
            })
        });
        // If it fails, the next fetch removes it.
        let _ = fs::remove_file(&aside);
        added
    }

    fn receive_file(&mut self, aside: &Path) -> Result<ReceivedPack, TransferFailure> {
        let unwritable = |error: &io::Error| unwritable(aside, error);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(aside);
        let mut file = file.map_err(|error| unwritable(&error))?;
        let mut failed = None;
        let received = self.conversation.pack(|bytes| {
            file.write_all(bytes)
                .inspect_err(|error| failed = Some(unwritable(error)))
        });
        if let Some(failed) = failed {
            return Err(failed);
        }
        received.map_err(|error| explained(&error))?;
        self.session.complete();
        ReceivedPack::read(file).map_err(pack_failure)
    }

    /// Adds a pack to the clone. Before it becomes visible, the commits whose parents are missing
    /// are listed.
    fn adding(
        &self,
        change: &ShallowChange,
        add: impl FnOnce() -> Result<(), TransferFailure>,
    ) -> Result<(), TransferFailure> {
        let mut before = self.shallow();
        let mut shallow = before.clone();
        shallow.extend(&change.added);
        self.set_shallow(&mut shallow)?;
        if let Err(error) = add() {
            self.set_shallow(&mut before)?;
            return Err(error);
        }
        if !change.removed.is_empty() {
            shallow.retain(|id| !change.removed.contains(id));
            self.set_shallow(&mut shallow)?;
        }
        Ok(())
    }

    /// Returns the commits of the clone whose parents are not in it.
    fn shallow(&self) -> Vec<Oid> {
        let text = fs::read_to_string(self.repository.path().join(SHALLOW)).unwrap_or_default();
        text.lines()
            .filter_map(|it| Oid::from_str(it).ok())
            .collect()
    }

    fn set_shallow(&self, ids: &mut Vec<Oid>) -> Result<(), TransferFailure> {
        ids.sort_unstable();
        ids.dedup();
        let text: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let path = self.repository.path().join(SHALLOW);
        let aside = path.with_extension("lock");
        let written = fs::write(&aside, text).and_then(|()| fs::rename(&aside, &path));
        written.map_err(|error| unwritable(&path, &error))
    }
}

impl FetchSource for WireSource<'_> {
    fn references(&self) -> Result<Vec<AdvertisedRef>, TransferFailure> {
        Ok(self.conversation.references().to_vec())
    }

    fn download(
        &mut self,
        objects: FetchedObjects<'_>,
        depth: FetchDepth,
    ) -> Result<(), TransferFailure> {
        if std::mem::replace(&mut self.spent, true) {
            self.conversation = connect(&self.endpoint, self.session).map_err(|e| explained(&e))?;
        }
        let request = FetchRequest {
            wants: self.wants(&objects),
            haves: self.haves().map_err(|e| failure(&e))?,
            shallow: self.shallow(),
            without_history: depth == FetchDepth::Commit,
        };
        if request.wants.is_empty() {
            return Ok(());
        }
        let change = self.conversation.request(&request);
        let change = change.map_err(|error| explained(&error))?;
        let directory = self.repository.path().join("objects/pack");
        match request.haves.is_empty() {
            true => self.receive_whole(&directory, &change),
            false => self.receive_thin(&directory, &change),
        }
    }
}

/// A pack that libgit2 adds to a clone.
struct Indexing<'r> {
    indexer: Indexer<'r>,
    refused: Option<TransferFailure>,
}

impl<'r> Indexing<'r> {
    fn new(repository: &'r Repository, directory: &Path) -> Result<Self, TransferFailure> {
        let objects = repository.odb().map_err(|e| failure(&e))?;
        let indexer = Indexer::new(Some(&objects), directory, 0, false);
        Ok(Self {
            indexer: indexer.map_err(|e| failure(&e))?,
            refused: None,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.indexer.write_all(bytes);
        written.inspect_err(|error| self.refused = refused(error))
    }

    /// Fails if the pack was refused.
    fn check(&mut self) -> Result<(), TransferFailure> {
        self.refused.take().map_or(Ok(()), Err)
    }

    fn commit(self) -> Result<(), TransferFailure> {
        self.indexer.commit().map(drop).map_err(|e| failure(&e))
    }
}

/// Returns libgit2's reason for refusing a pack.
fn refused(error: &io::Error) -> Option<TransferFailure> {
    let reason = error.get_ref()?.downcast_ref::<git2::Error>()?;
    Some(failure(reason))
}

fn unwritable(path: &Path, error: &io::Error) -> TransferFailure {
    TransferFailure::new(format!("cannot write to {}: {error}", path.display()))
}

/// Returns how to reach `upload-pack` at an address, if it can be used directly.
fn endpoint(address: &str) -> Option<Endpoint> {
    let remote = RemoteUrl::parse(address).ok()?;
    match remote.transport() {
        Transport::Git => Endpoint::daemon(address),
        // Repositories that libgit2 refuses to open are left to it, for its error message.
        Transport::Local => (remote.directory())
            .filter(|it| Repository::open(it).is_ok())
            .map(Endpoint::Directory),
        Transport::Http | Transport::Ssh { .. } => None,
    }
}

fn connect(endpoint: &Endpoint, session: &RemoteSession) -> Result<UploadPack<Count>, WireError> {
    let hidden = SECRET_VARIABLES.iter().chain(&SERVICE_VARIABLES);
    UploadPack::connect(endpoint, hidden, Box::new(session.counter()) as Count)
}

fn explained(error: &WireError) -> TransferFailure {
    match error {
        WireError::TooManyReferences => too_much_memory(),
        _ => TransferFailure::new(chain(error)),
    }
}
