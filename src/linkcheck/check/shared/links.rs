//! The links of a table: each target once, with the codes that lead to it.

use std::collections::{BTreeMap, HashMap};

use super::host::host_of;
use crate::frontier::Host;
use crate::linkcheck::ask::WebUrl;
use crate::mapping::{End, Entry, Place, Site, Table, Timestamp, follow};

/// An entry that leads to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkUse {
    /// Its code.
    pub code: String,
    /// Where it is in the table.
    pub place: Place,
    /// The archived copy that it names.
    pub archive: Option<String>,
}

/// How it is found out whether a target works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// By asking a URL: the target, or where it leads to through the table's own sites.
    Asked(String),
    /// It cannot be asked: no host can have its name.
    NoHost,
    /// It is not asked: it is only the beginning of URLs, to which paths are appended.
    Prefix,
    /// It is a page of the table's own sites.
    OwnPage,
    /// It is a link of the table's own sites that is gone.
    OwnGone,
    /// It is under the table's own sites and leads nowhere.
    OwnNothing,
}

impl Resolution {
    /// Returns the URL that is asked.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Asked(url) => Some(url),
            _ => None,
        }
    }
}

/// A target, and the entries that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLink {
    /// The target.
    pub target: String,
    /// How it is found out whether it works.
    pub resolution: Resolution,
    /// The entries, in the order of the table.
    pub uses: Vec<LinkUse>,
}

impl LinkUse {
    fn of(entry: Entry<'_>) -> Self {
        Self {
            code: entry.code().into_owned(),
            place: entry.place(),
            archive: entry.archive().map(str::to_owned),
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

    /// Returns a target as the links of its whole table have it, with the entries of one site that
    /// are in use at a time; `None` if there are none.
    pub(crate) fn of_site(
        table: &Table,
        site: &Site,
        target: &str,
        now: Timestamp,
    ) -> Option<Self> {
        let mut link = Self::unused(target);
        for other in table.sites() {
            for entry in other.leading_to(target) {
                if entry.is_gone(now) {
                    continue;
                }
                link.resolve(table, entry);
                if std::ptr::eq(other, site) {
                    link.uses.push(LinkUse::of(entry));
                }
            }
        }
        (!link.uses.is_empty()).then_some(link)
    }

    /// Resolves the target for an entry that leads to it, unless one does that leads to the URL itself.
    fn resolve(&mut self, table: &Table, entry: Entry<'_>) {
        if self.resolution != Resolution::Prefix || is_prefix(entry, &self.target) {
            return;
        }
        self.resolution = match follow(table, entry) {
            None => resolution(&self.target),
            Some(End::Elsewhere(url)) => resolution(&url),
            Some(End::Page) => Resolution::OwnPage,
            Some(End::Gone) => Resolution::OwnGone,
            Some(End::Nothing | End::Loop(_)) => Resolution::OwnNothing,
        };
    }
}

/// The targets of a table.
#[derive(Debug, Default)]
pub struct Links {
    all: Vec<TableLink>,
    /// In order, each once.
    asked: Vec<String>,
    /// How many URLs of each host are asked.
    hosts: HashMap<Host, u64>,
}

impl Links {
    /// Returns the targets of the entries of a table that are in use at a time and for which `wants`
    /// returns true.
    pub fn of(table: &Table, now: Timestamp, wants: impl Fn(&str) -> bool) -> Self {
        let mut targets = BTreeMap::<String, TableLink>::new();
        for entry in table.sites().iter().flat_map(|site| site.entries()) {
            let Some(target) = entry.target().filter(|_| !entry.is_gone(now)) else {
                continue;
            };
            if !wants(&target) {
                continue;
            }
            let link = match targets.get_mut(&*target) {
                Some(link) => link,
                None => (targets.entry(target.to_string())).or_insert(TableLink::unused(&target)),
            };
            link.resolve(table, entry);
            link.uses.push(LinkUse::of(entry));
        }
        let mut links = Self {
            all: targets.into_values().collect(),
            ..Self::default()
        };
        let asked = links.all.iter().filter_map(|link| match &link.resolution {
            Resolution::Asked(url) => Some(url.clone()),
            _ => None,
        });
        links.asked = asked.collect();
        links.asked.sort_unstable();
        links.asked.dedup();
        for host in links.asked.iter().filter_map(|url| host(url)) {
            *links.hosts.entry(host).or_default() += 1;
        }
        links
    }

    /// Returns all targets, in order.
    pub fn all(&self) -> &[TableLink] {
        &self.all
    }

    /// Forgets all but the URLs that are asked.
    #[must_use]
    pub fn asked_only(self) -> Self {
        Self {
            all: Vec::new(),
            ..self
        }
    }

    /// Returns the URLs that are asked, in order.
    pub fn asked(&self) -> &[String] {
        &self.asked
    }

    /// Returns whether a URL is asked.
    pub(crate) fn asks(&self, url: &str) -> bool {
        let found = self.asked.binary_search_by(|it| it.as_str().cmp(url));
        found.is_ok()
    }

    /// Returns how many URLs of a host are asked.
    pub(crate) fn of_host(&self, host: &Host) -> u64 {
        self.hosts.get(host).copied().unwrap_or_default()
    }
}

/// Returns whether an entry appends paths to its target, which then need not work by itself. Home
/// pages do.
fn is_prefix(entry: Entry<'_>, target: &str) -> bool {
    entry.forward().path() && !WebUrl::parse(target).is_ok_and(|url| url.is_home())
}

fn resolution(url: &str) -> Resolution {
    match host(url) {
        Some(_) => Resolution::Asked(url.to_owned()),
        None => Resolution::NoHost,
    }
}

fn host(url: &str) -> Option<Host> {
    host_of(&WebUrl::parse(url).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    #[test]
    fn a_target_is_one_question_and_own_targets_are_none() {
        let text = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: a}
- {url: https://a.example/, short-code: b}
- {url: https://b.example/, short-code: gone, retired: true}
- {url: https://short.code/a, short-code: c}
- {url: https://short.code/nothing, short-code: d}
- {url: https://short.code/gone, short-code: e}
- {url: https://short.code/, short-code: f}
- {url: https://w.example/wiki/, short-code: w, forward: path}
- {url: https://x.example/wiki/, short-code: x, forward: path-and-query}
- {url: https://x.example/wiki/, short-code: y}
- {url: https://z.example/, short-code: z, forward: path}
";
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        };
        let table = compile(&[file]).table.unwrap();
        let links = Links::of(&table, Timestamp::from_unix(1_795_219_200), |_| true);
        let found = links.all().iter().map(|link| {
            let codes: Vec<_> = link.uses.iter().map(|it| &*it.code).collect();
            (codes.join(" "), link.resolution.clone())
        });
        let asked = Resolution::Asked("https://a.example/".to_owned());
        let expected = [
            ("a b", asked.clone()),
            ("f", Resolution::OwnPage),
            ("c", asked),
            ("e", Resolution::OwnGone),
            ("d", Resolution::OwnNothing),
            ("w", Resolution::Prefix),
            (
                "x y",
                Resolution::Asked("https://x.example/wiki/".to_owned()),
            ),
            ("z", Resolution::Asked("https://z.example/".to_owned())),
        ];
        let expected = expected.map(|(codes, it)| (codes.to_owned(), it));
        assert_eq!(Vec::from_iter(found), expected);
        assert_eq!(links.asked().len(), 3);
        for link in links.all() {
            let now = Timestamp::from_unix(1_795_219_200);
            let found = TableLink::of_site(&table, &table.sites()[0], &link.target, now);
            assert_eq!(found.as_ref(), Some(link));
        }
        let links = links.asked_only();
        assert_eq!((links.all().len(), links.asked().len()), (0, 3));
        assert_eq!(links.of_host(&Host::parse("a.example").unwrap()), 1);
    }
}
