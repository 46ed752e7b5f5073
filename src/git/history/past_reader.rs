//! Contents of past commits, read one after the other.

use std::rc::Rc;

use git2::{ObjectType, Oid};

use super::repository::LocalRepository;
use crate::git::object_header::header;
use crate::git::packs::ObjectReader;

/// A reader of what was committed; the closer two versions are, the less the second takes.
pub struct PastReader<'r> {
    pub(super) repository: &'r LocalRepository,
    /// The packs; without them, Git reads each object by itself.
    packs: Option<ObjectReader>,
}

impl<'r> PastReader<'r> {
    /// Opens the packs of a repository. What is not in them, or cannot be read there, Git reads.
    pub fn of(repository: &'r LocalRepository) -> Self {
        let packs = repository.repository.commondir().join("objects/pack");
        Self {
            repository,
            packs: ObjectReader::open(&packs).ok().flatten(),
        }
    }

    /// Reads a blob; `None` if it is none, or has more than `max` bytes.
    pub(super) fn blob(&mut self, id: Oid, max: u64) -> Result<Option<Rc<Vec<u8>>>, git2::Error> {
        let packed = self.packs.as_mut().map(|packs| packs.blob(id, max));
        match packed {
            Some(Ok(Some(bytes))) => Ok(Some(bytes)),
            _ => self.read(id, ObjectType::Blob, max),
        }
    }

    /// Reads a tree, in the form of `git cat-file tree`; `None` if it is none, or has more than `max` bytes.
    pub(super) fn tree(&mut self, id: Oid, max: u64) -> Result<Option<Rc<Vec<u8>>>, git2::Error> {
        let packed = self.packs.as_mut().map(|packs| packs.tree(id, max));
        match packed {
            Some(Ok(Some(bytes))) => Ok(Some(bytes)),
            _ => self.read(id, ObjectType::Tree, max),
        }
    }

    fn read(
        &self,
        id: Oid,
        kind: ObjectType,
        max: u64,
    ) -> Result<Option<Rc<Vec<u8>>>, git2::Error> {
        let odb = self.repository.repository.odb()?;
        let (size, found) = header(&odb, id)?;
        if found != kind || size > max {
            return Ok(None);
        }
        Ok(Some(Rc::new(odb.read(id)?.data().to_vec())))
    }
}
