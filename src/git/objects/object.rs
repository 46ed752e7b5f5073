//! An object that is in no repository yet.

use std::borrow::Cow;

use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use super::delta::delta;

/// An object, with its id.
#[derive(Debug)]
pub(super) struct NewObject<'o> {
    pub(super) kind: ObjectType,
    pub(super) id: Oid,
    pub(super) bytes: Cow<'o, [u8]>,
    /// The difference from the previous object, if it is small.
    pub(super) delta: Option<ObjectDelta>,
}

/// An object as the difference from another one.
#[derive(Debug)]
pub(super) struct ObjectDelta {
    pub(super) base: Oid,
    pub(super) bytes: Vec<u8>,
}

impl<'o> NewObject<'o> {
    /// Creates an object, given the one that it replaces.
    pub(super) fn new(
        kind: ObjectType,
        bytes: impl Into<Cow<'o, [u8]>>,
        before: Option<(Oid, &[u8])>,
    ) -> Self {
        let bytes = bytes.into();
        let mut hash = Sha1::new_with_prefix(format!("{} {}\0", kind.str(), bytes.len()));
        hash.update(&bytes);
        let delta = before.and_then(|(base, old)| {
            let bytes = delta(old, &bytes)?;
            Some(ObjectDelta { base, bytes })
        });
        Self {
            kind,
            id: Oid::from_bytes(&hash.finalize()).expect("a SHA-1 is an id"),
            bytes,
            delta,
        }
    }
}
