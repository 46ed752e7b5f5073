//! An object that is in no repository yet.

use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use super::delta::delta;

/// An object, with its id.
#[derive(Debug)]
pub(super) struct NewObject {
    pub(super) kind: ObjectType,
    pub(super) id: Oid,
    pub(super) bytes: Vec<u8>,
    /// The difference from the previous object, if it is small.
    pub(super) delta: Option<ObjectDelta>,
}

/// An object as the difference from another one.
#[derive(Debug)]
pub(super) struct ObjectDelta {
    pub(super) base: Oid,
    pub(super) bytes: Vec<u8>,
}

impl NewObject {
    /// Creates an object, given the one that it replaces.
    pub(super) fn new(kind: ObjectType, bytes: Vec<u8>, before: Option<(Oid, &[u8])>) -> Self {
        Self::with_id(id_of(kind, &bytes), kind, bytes, before)
    }

    /// Creates an object whose id was computed before.
    pub(super) fn with_id(
        id: Oid,
        kind: ObjectType,
        bytes: Vec<u8>,
        before: Option<(Oid, &[u8])>,
    ) -> Self {
        let delta = before.and_then(|(base, old)| {
            let bytes = delta(old, &bytes)?;
            Some(ObjectDelta { base, bytes })
        });
        Self {
            kind,
            id,
            bytes,
            delta,
        }
    }
}

/// Returns the id of an object.
pub(crate) fn id_of(kind: ObjectType, bytes: &[u8]) -> Oid {
    let mut hash = Sha1::new_with_prefix(format!("{} {}\0", kind.str(), bytes.len()));
    hash.update(bytes);
    Oid::from_bytes(&hash.finalize()).expect("a SHA-1 is an id")
}
