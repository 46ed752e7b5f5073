//! The mapping table (stub: the signatures are final, the bodies are being written).

use super::{Forward, Place, Status, Timestamp};

/// All entries that one server serves, compiled and immutable.
pub struct Table;

impl Table {
    /// Returns the sites, at least one.
    pub fn sites(&self) -> &[Site] {
        todo!()
    }
    /// Returns the number of entries of all sites.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// Returns the memory that the table holds, in bytes.
    pub fn heap_bytes(&self) -> usize {
        todo!()
    }
}

/// All entries under one base URL.
pub struct Site;

impl Site {
    /// Returns the base URL, which ends in `/`.
    pub fn base_url(&self) -> &str {
        todo!()
    }
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// Returns the full short link of a code: base URL and percent-encoded code.
    pub fn short_url(&self, _code: &str) -> String {
        todo!()
    }
    /// Returns up to `limit` codes that resemble a request's path (as sent, base path included),
    /// nearest first.
    pub fn suggestions(&self, _path: &str, _limit: usize) -> Vec<String> {
        todo!()
    }
}

/// One entry of a table.
#[derive(Clone, Copy)]
pub struct Entry<'t>(&'t Table);

impl<'t> Entry<'t> {
    /// Returns the site it belongs to.
    pub fn site(&self) -> &'t Site {
        todo!()
    }
    /// Returns its code: custom, number or auto.
    pub fn code(&self) -> &'t str {
        todo!()
    }
    /// Returns where it leads; a retired entry may have dropped it.
    pub fn target(&self) -> Option<&'t str> {
        todo!()
    }
    /// Returns the redirect status.
    pub fn status(&self) -> Status {
        todo!()
    }
    /// Returns what is carried over to the target.
    pub fn forward(&self) -> Forward {
        todo!()
    }
    /// Returns the title.
    pub fn title(&self) -> Option<&'t str> {
        todo!()
    }
    /// Returns the owner.
    pub fn owner(&self) -> Option<&'t str> {
        todo!()
    }
    /// Returns the tags.
    pub fn tags(&self) -> Vec<&'t str> {
        todo!()
    }
    /// Returns the archived copy of the target.
    pub fn archive(&self) -> Option<&'t str> {
        todo!()
    }
    /// Returns the time from which the entry answers 410.
    pub fn gone_from(&self) -> Option<Timestamp> {
        todo!()
    }
    /// Returns where the entry is written.
    pub fn place(&self) -> Place {
        todo!()
    }
}
