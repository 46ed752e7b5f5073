//! A link of a table: a target, the way to check it, and the entries that lead to it.

use super::entry_target::{EntryTarget, LinkRole};
use super::host::host_of;
use crate::linkcheck::request::WebUrl;
use crate::mapping::{End, Entry, Place, Site, Table, Timestamp};

/// An entry that leads to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkUse {
    /// Its code.
    pub code: String,
    /// Where it is in the table.
    pub place: Place,
    /// The archived copy that it names.
    pub archive: Option<String>,
    /// What of it leads there.
    pub role: LinkRole,
}

/// The way to check whether a target works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// By requesting a URL: the target, or where it leads through the table's own sites.
    Requested(String),
    /// It cannot be requested: no host can have its name.
    NoHost,
    /// It is not requested: it is only the beginning of URLs, to which paths are appended.
    Prefix,
    /// It is a page of the table's own sites.
    OwnPage,
    /// It is a link of the table's own sites that is retired or has expired.
    OwnGone,
    /// It is under the table's own sites and leads nowhere.
    OwnNothing,
}

impl Resolution {
    /// Returns the URL to request.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Requested(url) => Some(url),
            _ => None,
        }
    }
}

/// A target, and the entries that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLink {
    /// The target.
    pub target: String,
    /// The way to check whether it works.
    pub resolution: Resolution,
    /// The entries, in the order of the table.
    pub uses: Vec<LinkUse>,
}

impl LinkUse {
    pub(super) fn of(led: EntryTarget<'_>) -> Self {
        let entry = led.entry();
        Self {
            code: entry.code().into_owned(),
            place: entry.place(),
            archive: entry.archive().map(str::to_owned),
            role: led.role(),
        }
    }
}

impl TableLink {
    fn unused(target: &str) -> Self {
        Self {
            target: target.to_owned(),
            resolution: Resolution::Prefix,
            uses: Vec::new(),
        }
    }

    /// Returns a target from the links of its whole table, with the entries of one site that are in
    /// use at a time; `None` if there are none.
    pub(crate) fn of_site(
        table: &Table,
        site: &Site,
        target: &str,
        now: Timestamp,
    ) -> Option<Self> {
        let mut link = Self::unused(target);
        for other in table.sites() {
            let mut entries = other.leading_to(target);
            entries.extend(other.leading_to_by_variants(target));
            entries.extend(other.leading_to_by_below(target));
            entries.sort_unstable_by_key(Entry::written);
            entries.dedup_by_key(|entry| entry.number());
            let led = (entries.into_iter()).flat_map(|entry| EntryTarget::all(entry, now));
            for led in led.filter(|led| led.parts().to_string() == target) {
                link.resolve(table, led, now);
                if std::ptr::eq(other, site) {
                    link.uses.push(LinkUse::of(led));
                }
            }
        }
        (!link.uses.is_empty()).then_some(link)
    }

    /// Resolves the target for an entry that leads to it, unless another entry leads to the URL
    /// itself.
    fn resolve(&mut self, table: &Table, led: EntryTarget<'_>, now: Timestamp) {
        if self.resolution != Resolution::Prefix || led.is_prefix(&self.target) {
            return;
        }
        self.resolution = match led.follow(table, now) {
            None => resolution(&self.target),
            Some(End::Elsewhere(url)) => resolution(&url),
            Some(End::Page) => Resolution::OwnPage,
            Some(End::Gone) => Resolution::OwnGone,
            Some(End::Nothing | End::Loop(_)) => Resolution::OwnNothing,
        };
    }
}

fn resolution(url: &str) -> Resolution {
    match may_be_requested(url) {
        true => Resolution::Requested(url.to_owned()),
        false => Resolution::NoHost,
    }
}

/// Returns whether a URL can be requested.
pub(super) fn may_be_requested(url: &str) -> bool {
    WebUrl::parse(url).is_ok_and(|url| host_of(&url).is_some())
}
