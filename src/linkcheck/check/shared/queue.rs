//! The queue of each host: the requests to send to it, by time.
//!
//! A key is the host, the time and the purpose of the request, so that the rows of a host are
//! consecutive, the first due one first. Requests for which others wait have no time, and come
//! before all links.
//!
//! Each link has a row, so rows are short: that of a link that has not begun has only the key under
//! which the link is stored. Its URL is in the table.

use serde::{Deserialize, Serialize};

use super::link_key::LinkKey;
use crate::frontier::{Host, StoreError};
use crate::linkcheck::check::state::{Space, StateAccess, StateRow, decoded};
use crate::linkcheck::request::{Inquiry, WebUrl};

/// The position of links in the order of requests that are due at the same time.
const LINK: u8 = 2;

/// The purpose of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LeasePurpose {
    /// The robots.txt of an origin of a host.
    Robots { origin: String, host: String },
    /// The answer of a host for a nonexistent page.
    Sibling { host: String },
    /// Whether a link works.
    Link { target: String },
    /// Whether an archive has a copy of a dead link, with the URL of the query; and the time, in
    /// milliseconds, when it was requested.
    Archive { question: String, wanted: u64 },
}

/// A request to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Work {
    /// Its purpose.
    pub(crate) purpose: LeasePurpose,
    /// Its inquiry, if it has begun.
    pub(crate) inquiry: Option<Inquiry>,
}

impl Work {
    /// Returns the work for a link that has not begun.
    pub(crate) fn link(target: &str) -> Self {
        let target = target.to_owned();
        Self {
            purpose: LeasePurpose::Link { target },
            inquiry: None,
        }
    }

    /// Returns a look-up of a copy of a link, which any worker may send to an archive.
    pub(crate) fn archive(question: WebUrl, wanted: u64) -> Self {
        Self {
            purpose: LeasePurpose::Archive {
                question: question.as_str().to_owned(),
                wanted,
            },
            inquiry: Some(Inquiry::of_body(question)),
        }
    }

    /// Returns its key in the queue of a host for a time in milliseconds.
    pub(crate) fn key(&self, host: &Host, due: u64) -> Vec<u8> {
        let (order, name) = match &self.purpose {
            LeasePurpose::Robots { origin, .. } => (0, origin),
            LeasePurpose::Sibling { host } => (1, host),
            LeasePurpose::Link { target } => return link_at(host, due, LinkKey::of(target)),
            LeasePurpose::Archive { question, .. } => (3, question),
        };
        let mut key = at(host, due);
        key.push(order);
        key.extend(name.as_bytes());
        key
    }

    /// Queues it.
    pub(crate) fn queued(&self, host: &Host, due: u64) -> StateRow {
        StateRow::put(Space::Queue, self.key(host, due), self)
    }
}

/// A row of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueuedRow {
    /// A link that has not begun.
    Link(LinkKey),
    /// Anything else.
    Work(Work),
}

impl QueuedRow {
    fn read(key: &[u8], value: &[u8]) -> Result<Self, StoreError> {
        let link = value.is_empty().then(|| {
            let (_, link) = key.split_last_chunk()?;
            Some(Self::Link(LinkKey::from(*link)))
        });
        match link.flatten() {
            Some(link) => Ok(link),
            None => Ok(Self::Work(decoded(value)?)),
        }
    }
}

/// Queues a link at a host for a time in milliseconds.
pub(crate) fn queued_link(link: LinkKey, host: &Host, due: u64) -> StateRow {
    StateRow {
        space: Space::Queue,
        key: link_at(host, due, link),
        value: Some(Vec::new()),
    }
}

fn link_at(host: &Host, due: u64, link: LinkKey) -> Vec<u8> {
    let mut key = at(host, due);
    key.push(LINK);
    key.extend(link.bytes());
    key
}

/// Returns the prefix of the keys of a host from a time on.
fn at(host: &Host, due: u64) -> Vec<u8> {
    let mut key = host.as_str().as_bytes().to_vec();
    key.push(0);
    key.extend(due.to_be_bytes());
    key
}

/// Returns the name of the host and the time of a key.
pub(crate) fn read_key(key: &[u8]) -> Option<(&str, u64)> {
    let end = key.iter().position(|byte| *byte == 0)?;
    let host = str::from_utf8(&key[..end]).ok()?;
    let due = key.get(end + 1..end + 9)?;
    Some((host, u64::from_be_bytes(due.try_into().ok()?)))
}

/// Returns the link of a key, if it is that of a link.
pub(crate) fn read_link(key: &[u8]) -> Option<LinkKey> {
    let end = key.iter().position(|byte| *byte == 0)?;
    match key.get(end + 9..)? {
        [LINK, link @ ..] => <[u8; 12]>::try_from(link).ok().map(LinkKey::from),
        _ => None,
    }
}

/// The rows of a host that were not visited yet.
#[derive(Debug, Clone)]
pub(crate) struct HostQueue {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl HostQueue {
    /// Returns all rows of a host.
    pub(crate) fn of(host: &Host) -> Self {
        let mut to = host.as_str().as_bytes().to_vec();
        to.push(1);
        Self {
            from: at(host, 0),
            to,
        }
    }

    /// Returns when the first row is due, in milliseconds, and the row.
    pub(crate) async fn first(
        &self,
        access: &StateAccess,
    ) -> Result<Option<(u64, Vec<u8>, QueuedRow)>, StoreError> {
        let Some((key, value)) = access.first(&self.from, &self.to).await? else {
            return Ok(None);
        };
        let due = read_key(&key).map(|(_, due)| due).unwrap_or_default();
        let row = QueuedRow::read(&key, &value)?;
        Ok(Some((due, key, row)))
    }

    /// Returns when the first row is due, in milliseconds.
    pub(crate) async fn due(&self, access: &StateAccess) -> Result<Option<u64>, StoreError> {
        let row = access.first(&self.from, &self.to).await?;
        Ok(row.and_then(|(key, _)| read_key(&key).map(|(_, due)| due)))
    }

    /// Skips all rows up to a key.
    pub(crate) fn after(&mut self, key: &[u8]) {
        self.from = key.to_vec();
        self.from.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_host_are_in_the_order_in_which_they_are_due() {
        let host = Host::parse("a.example").unwrap();
        let robots = Work {
            purpose: LeasePurpose::Robots {
                origin: "https://a.example".to_owned(),
                host: "a.example".to_owned(),
            },
            inquiry: None,
        };
        let link = Work::link("https://a.example/");
        let keys = [
            robots.key(&host, 0),
            link.key(&host, 0),
            link.key(&host, 255),
            link.key(&host, 256),
            link.key(&Host::parse("a.example:81").unwrap(), 0),
            link.key(&Host::parse("a.exampleb").unwrap(), 0),
        ];
        assert!(keys.is_sorted());
        assert_eq!(read_key(&keys[3]), Some(("a.example", 256)));
        let HostQueue { from, to } = HostQueue::of(&host);
        let inside = keys.map(|key| from <= key && key < to);
        assert_eq!(inside, [true, true, true, true, false, false]);
    }

    #[test]
    fn a_link_that_has_not_begun_is_all_in_its_key() {
        let host = Host::parse("a.example").unwrap();
        let link = LinkKey::of("https://a.example/");
        let row = queued_link(link, &host, 7);
        assert_eq!(row.key, Work::link("https://a.example/").key(&host, 7));
        let read = QueuedRow::read(&row.key, &row.value.unwrap()).unwrap();
        assert_eq!(read, QueuedRow::Link(link));
        assert_eq!(read_key(&row.key), Some(("a.example", 7)));
        assert_eq!(read_link(&row.key), Some(link));
        assert!(QueuedRow::read(b"short", b"").is_err());
    }
}
