//! The links of a table: each target once, with the entries that lead to it.
//!
//! There may be millions, so the texts stay in the table: a link takes 24 bytes here. The links are
//! in the order of the keys under which they are kept, so that comparing them with others of their
//! kind, in a state or of another table, is one pass over both.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::host::{authority, host_of_target};
use super::link_key::LinkKey;
use super::table_link::{LinkUse, Resolution, TableLink, is_prefix, may_be_asked};
use crate::frontier::Host;
use crate::mapping::{End, Entry, Table, Timestamp, follow};

/// What a row of [`Links`] says of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is asked itself.
    Asked,
    /// Another URL is asked: it is beside the rows.
    Elsewhere,
    NoHost,
    Prefix,
    OwnPage,
    OwnGone,
    OwnNothing,
}

/// A target.
#[derive(Debug, Clone, Copy)]
struct LinkRow {
    key: LinkKey,
    /// Where its entries begin.
    first: u32,
    kind: Kind,
}

/// The targets of a table.
#[derive(Debug, Default)]
pub struct Links {
    table: Option<Arc<Table>>,
    /// In the order of their keys.
    rows: Vec<LinkRow>,
    /// The entries of each row, in the order of the table; numbered through all sites.
    entries: Vec<u32>,
    /// What is asked instead of a target that leads through the table's own sites.
    elsewhere: BTreeMap<LinkKey, String>,
    /// The URLs of these that are no targets themselves.
    others: BTreeMap<LinkKey, String>,
    /// How many URLs of each host are asked.
    hosts: HashMap<Host, u64>,
}

impl Links {
    /// Returns the targets of the entries of a table that are in use at a time and for which `wants`
    /// returns true.
    pub fn of(table: &Arc<Table>, now: Timestamp, wants: impl Fn(&str) -> bool) -> Self {
        let mut links = Self {
            table: Some(Arc::clone(table)),
            ..Self::default()
        };
        let mut names = HostNames::default();
        let mut found = Vec::with_capacity(table.len());
        let mut target = String::new();
        let mut number = 0;
        for site in table.sites() {
            for entry in site.entries() {
                let Some((scheme, rest)) = entry.target_parts().filter(|_| !entry.is_gone(now))
                else {
                    continue;
                };
                target.clear();
                target.push_str(scheme);
                target.push_str(rest);
                if wants(&target) {
                    let key = LinkKey::of(&target);
                    let end = table
                        .may_own(rest)
                        .then(|| follow(table, entry, now))
                        .flatten();
                    let kind = match end {
                        _ if is_prefix(entry, &target) => Kind::Prefix,
                        None => match names.host(&target) {
                            Some(_) => Kind::Asked,
                            None => Kind::NoHost,
                        },
                        Some(End::Elsewhere(url)) => match may_be_asked(&url) {
                            true => {
                                links.elsewhere.insert(key, url);
                                Kind::Elsewhere
                            }
                            false => Kind::NoHost,
                        },
                        Some(End::Page) => Kind::OwnPage,
                        Some(End::Gone) => Kind::OwnGone,
                        Some(End::Nothing | End::Loop(_)) => Kind::OwnNothing,
                    };
                    found.push((key, number + entry.number(), kind));
                }
            }
            number += index(site.len());
        }
        // Stable, so that the entries of a target stay in the order of the table.
        found.sort_by_key(|(key, ..)| *key);
        links.collect(&found);
        links.count(&mut names);
        links
    }

    /// Makes rows of the entries of each target.
    fn collect(&mut self, found: &[(LinkKey, u32, Kind)]) {
        self.entries = found.iter().map(|(_, entry, _)| *entry).collect();
        let targets = found.chunk_by(|one, other| one.0 == other.0);
        self.rows.reserve_exact(targets.clone().count());
        let mut first = 0;
        for entries in targets {
            // Another entry may lead to the URL itself.
            let mut kinds = entries.iter().map(|(_, _, kind)| *kind);
            let kind = kinds.find(|kind| *kind != Kind::Prefix);
            self.rows.push(LinkRow {
                key: entries[0].0,
                first,
                kind: kind.unwrap_or(Kind::Prefix),
            });
            first += index(entries.len());
        }
    }

    /// Counts what is asked of each host.
    fn count(&mut self, names: &mut HostNames) {
        let mut hosts = HashMap::<Host, u64>::new();
        let mut add = |url: &str| {
            if let Some(host) = names.host(url) {
                match hosts.get_mut(host) {
                    Some(count) => *count += 1,
                    None => drop(hosts.insert(host.clone(), 1)),
                }
            }
        };
        for row in self.rows.iter().filter(|row| row.kind == Kind::Asked) {
            if let Some(target) = self.target(row) {
                add(&target);
            }
        }
        let urls = self.elsewhere.values();
        let urls = urls.map(|url| (LinkKey::of(url), url.clone()));
        self.others = urls.filter(|(key, _)| !self.asks_target(*key)).collect();
        self.others.values().for_each(|url| add(url));
        self.hosts = hosts;
    }

    /// Returns how many targets there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there is no target.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all targets, each with its entries.
    pub fn all(&self) -> impl ExactSizeIterator<Item = TableLink> {
        (0..self.rows.len()).map(|at| self.link(at))
    }

    fn link(&self, at: usize) -> TableLink {
        let row = &self.rows[at];
        let target = self.target(row).unwrap_or_default();
        let resolution = match row.kind {
            Kind::Asked => Resolution::Asked(target.to_string()),
            Kind::Elsewhere => {
                let url = self.elsewhere.get(&row.key).cloned();
                Resolution::Asked(url.unwrap_or_default())
            }
            Kind::NoHost => Resolution::NoHost,
            Kind::Prefix => Resolution::Prefix,
            Kind::OwnPage => Resolution::OwnPage,
            Kind::OwnGone => Resolution::OwnGone,
            Kind::OwnNothing => Resolution::OwnNothing,
        };
        let end = self.rows.get(at + 1).map(|next| next.first as usize);
        let entries = &self.entries[row.first as usize..end.unwrap_or(self.entries.len())];
        let entries = entries.iter().filter_map(|number| self.entry(*number));
        TableLink {
            uses: entries.map(LinkUse::of).collect(),
            target: target.into_owned(),
            resolution,
        }
    }

    /// Returns the URLs that are asked.
    pub fn urls(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.asked().filter_map(|key| self.url(key))
    }

    /// Returns the keys of the URLs that are asked, of targets in order and then of others.
    pub(crate) fn asked(&self) -> impl Iterator<Item = LinkKey> {
        let asked = self.rows.iter().filter(|row| row.kind == Kind::Asked);
        asked.map(|row| row.key).chain(self.others.keys().copied())
    }

    /// Returns the keys of the URLs that are asked, and were not by the links of another table.
    pub(crate) fn asked_anew(&self, before: &Self) -> Vec<LinkKey> {
        let mut rows = before.rows.iter().peekable();
        let mut is_new = |key| {
            while rows.next_if(|row| row.key < key).is_some() {}
            rows.next_if(|row| row.key == key)
                .is_none_or(|row| row.kind != Kind::Asked)
        };
        let targets = self.rows.iter().filter(|row| row.kind == Kind::Asked);
        let targets = targets.map(|row| row.key).filter(|key| is_new(*key));
        let targets = targets.filter(|key| !before.others.contains_key(key));
        let others = self.others.keys().copied();
        let others = others.filter(|key| !before.others.contains_key(key));
        let others = others.filter(|key| !before.asks_target(*key));
        targets.chain(others).collect()
    }

    /// Returns the URL of a key, if it is asked.
    pub(crate) fn url(&self, key: LinkKey) -> Option<Cow<'_, str>> {
        match self.others.get(&key) {
            Some(url) => Some(Cow::Borrowed(url)),
            None => {
                let row = self.row(key).filter(|row| row.kind == Kind::Asked)?;
                self.target(row)
            }
        }
    }

    /// Returns how many URLs of a host are asked.
    pub(crate) fn of_host(&self, host: &Host) -> u64 {
        self.hosts.get(host).copied().unwrap_or_default()
    }

    fn asks_target(&self, key: LinkKey) -> bool {
        self.row(key).is_some_and(|row| row.kind == Kind::Asked)
    }

    fn row(&self, key: LinkKey) -> Option<&LinkRow> {
        let at = self.rows.binary_search_by_key(&key, |row| row.key).ok()?;
        Some(&self.rows[at])
    }

    fn target(&self, row: &LinkRow) -> Option<Cow<'_, str>> {
        self.entry(self.entries[row.first as usize])?.target()
    }

    /// Returns an entry by its number through all sites.
    fn entry(&self, mut number: u32) -> Option<Entry<'_>> {
        for site in self.table.as_ref()?.sites() {
            match number.checked_sub(index(site.len())) {
                Some(rest) => number = rest,
                None => return Some(site.entry(number)),
            }
        }
        None
    }
}

/// The hosts of URLs, by their names: most URLs share theirs with others.
#[derive(Default)]
struct HostNames(HashMap<Box<str>, Option<Host>>);

impl HostNames {
    /// Returns the host of a target, unless its name is one that no host can have.
    fn host(&mut self, target: &str) -> Option<&Host> {
        let authority = authority(target);
        if !self.0.contains_key(authority) {
            self.0.insert(authority.into(), host_of_target(target));
        }
        self.0.get(authority)?.as_ref()
    }
}

/// Returns a count that fits, because the text of a table has 32-bit offsets.
fn index(count: usize) -> u32 {
    u32::try_from(count).expect("compile bounds the text of a table to 32-bit offsets")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    const NOW: Timestamp = Timestamp::from_unix(1_795_219_200);

    fn links(text: &str) -> Links {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        };
        let table = Arc::new(compile(&[file]).table.unwrap());
        Links::of(&table, NOW, |_| true)
    }

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
        let links = links(text);
        let mut found: Vec<_> = links.all().collect();
        found.sort_by(|one, other| one.target.cmp(&other.target));
        let found = found.into_iter().map(|link| {
            let codes: Vec<_> = link.uses.iter().map(|it| &*it.code).collect();
            (codes.join(" "), link.resolution)
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
        assert_eq!(links.asked().count(), 3);
        let table = links.table.as_ref().unwrap();
        for link in links.all() {
            let found = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(found, Some(link));
        }
        assert_eq!(links.of_host(&Host::parse("a.example").unwrap()), 1);
    }

    #[test]
    fn own_links_that_are_gone_by_their_date_are_not_asked() {
        let text = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: expired, expires: 2020-01-01}
- {url: https://b.example/, short-code: retired, retired: 2020-01-01}
- {url: https://c.example/, short-code: expires, expires: 2100-01-01}
- {url: https://d.example/, short-code: retires, retired: 2100-01-01}
- {url: https://short.code/expired, short-code: e}
- {url: https://short.code/retired, short-code: f}
- {url: https://short.code/expires, short-code: g}
- {url: https://short.code/retires, short-code: h}
- {url: https://short.code/e, short-code: i}
";
        let links = links(text);
        let table = links.table.as_ref().unwrap();
        let mut found = Vec::new();
        for link in links.all() {
            let alone = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(alone.as_ref(), Some(&link));
            found.push((link.uses[0].code.clone(), link.resolution));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let asked = |url: &str| Resolution::Asked(url.to_owned());
        let expected = [
            ("e", Resolution::OwnGone),
            ("expires", asked("https://c.example/")),
            ("f", Resolution::OwnGone),
            ("g", asked("https://c.example/")),
            ("h", asked("https://d.example/")),
            ("i", Resolution::OwnGone),
            ("retires", asked("https://d.example/")),
        ];
        let expected = expected.map(|(code, it)| (code.to_owned(), it));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_what_was_not_asked_before_is_asked_anew() {
        let of = |entries: &[&str]| {
            let entries = entries.iter().enumerate();
            let entries =
                entries.map(|(number, url)| format!("- {{url: {url}, short-code: c{number}}}\n"));
            let entries: String = entries.collect();
            links(&format!(
                "base_url: https://short.code/\nmapping:\n{entries}"
            ))
        };
        let anew = |before: &[&str], now: &[&str]| {
            let now = of(now);
            let keys = now.asked_anew(&of(before)).into_iter();
            let mut urls: Vec<_> = keys.map(|key| now.url(key).unwrap().into_owned()).collect();
            urls.sort();
            urls.join(" ")
        };
        let (a, b, c) = (
            "https://a.example/",
            "https://b.example/",
            "https://c.example/",
        );
        assert_eq!(anew(&[a, b], &[b, c, a]), c);
        assert_eq!(anew(&[a, b, c], &[c, a]), "");
        assert_eq!(anew(&[c], &[b, a]), format!("{a} {b}"));
        // What a link leads to is followed if that is under the table's own sites.
        let own = "https://short.code/c1";
        let prefix = &format!("{c}, forward: path");
        assert_eq!(anew(&[a], &[own, b]), b);
        assert_eq!(anew(&["https://short.code/none"], &[own, b, b]), b);
        assert_eq!(anew(&[b], &[own, prefix]), c);
        let deep = "https://d.example/wiki/, forward: path";
        assert_eq!(
            anew(&[deep], &["https://d.example/wiki/"]),
            "https://d.example/wiki/"
        );
        assert_eq!(
            of(&[deep]).url(LinkKey::of("https://d.example/wiki/")),
            None
        );
    }
}
