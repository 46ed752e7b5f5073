//! A replacement for [`fleet`](super) in a program built without it: a type with no values.
//!
//! It has the shape of the real one, so that no other code needs to know which is compiled in.

use prometheus::Registry;
use serde::Serialize;

/// The replicas of a table, which a program built without this feature does not support.
#[derive(Debug, Clone)]
pub enum Fleet {}

/// The state of the fleet.
#[derive(Serialize)]
pub(super) enum FleetView {}

/// An announcement of another replica.
pub(super) enum Announcement {}

/// A link that a request registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegisteredLink {
    pub(super) site: String,
    pub(super) code: String,
}

/// A claim of a key.
#[derive(Debug)]
pub(super) enum KeyClaim {}

/// The state of a key.
#[expect(dead_code, reason = "no fleet makes one")]
pub(super) enum KeyClaimed {
    New(KeyClaim, Option<RegisteredLink>),
    InProgress,
    Differs,
    Unknown,
}

/// The queue in which a place is.
#[derive(Debug, Clone, Copy)]
pub(super) enum PlaceKind {
    Change,
    Proposal,
}

/// A place of an owner.
#[derive(Debug)]
pub(super) enum OwnerPlace {}

/// Whether there is a place for an owner.
#[expect(dead_code, reason = "no fleet makes one")]
pub(super) enum PlaceTaken {
    Taken(OwnerPlace),
    None,
    Unknown,
}

impl Fleet {
    pub(super) fn register(&self, _registry: &Registry) {
        match *self {}
    }

    pub(super) fn view(&self) -> FleetView {
        match *self {}
    }

    pub(super) fn announce(&self, _commit: Option<String>) {
        match *self {}
    }

    pub(super) async fn run(&self, _on_announcement: impl Fn(Announcement)) {
        match *self {}
    }

    pub(super) async fn turn(&self) {
        match *self {}
    }

    pub(super) async fn claim(&self, _key: &[u8; 32], _body: &[u8; 32]) -> KeyClaimed {
        match *self {}
    }

    pub(super) async fn take_place(
        &self,
        _kind: PlaceKind,
        _owner: &str,
        _count: usize,
    ) -> PlaceTaken {
        match *self {}
    }
}

impl KeyClaim {
    pub(super) fn answered(self, _link: Option<&RegisteredLink>) {
        match self {}
    }
}

impl Announcement {
    pub(super) fn is_news_to(&self, _live: Option<&str>) -> bool {
        match *self {}
    }
}
