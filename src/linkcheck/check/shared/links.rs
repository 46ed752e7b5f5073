//! The links of a table: each target once, with the entries that lead to it.
//!
//! There may be millions, so texts and hashes stay in the table: an entry takes 8 bytes here. The
//! rows are in the order of the hashes by which the table finds targets. The key under which a link
//! is kept begins with that hash, so comparing rows with others of their kind, in a state or of
//! another table, is one pass over both.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::entry_target::EntryTarget;
use super::link_key::LinkKey;
use super::table_link::{LinkUse, Resolution, TableLink, may_be_requested};
use super::url_counts::UrlCounts;
use crate::frontier::Host;
use crate::mapping::{End, Entry, Site, Table, TargetParts, Timestamp};

/// The kind of a row of [`Links`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    /// The target itself is requested.
    Requested,
    /// Another URL is requested: it is stored next to the rows.
    Elsewhere,
    NoHost,
    Prefix,
    OwnPage,
    OwnGone,
    OwnNothing,
    /// The target is that of the previous row.
    Repeated,
}

/// An entry that leads to a target.
#[derive(Debug, Clone, Copy)]
struct LinkRow {
    /// Its number over all sites, in the order of storage.
    entry: u32,
    /// Which of its targets it is: 0 is its own, 1 that of its first variant, if it has any, and URLs to which
    /// paths are appended follow.
    target: u16,
    kind: RowKind,
}

/// An entry whose row is not yet sorted.
struct UnplacedRow {
    hash: u64,
    row: LinkRow,
}

/// The targets of a table.
#[derive(Debug, Default)]
pub struct Links {
    entries: Entries,
    /// In the order of the hashes of their targets; the entries of each target follow one another,
    /// in the order of the table.
    rows: Vec<LinkRow>,
    /// How many targets there are.
    len: usize,
    /// The URLs that are requested instead of targets that lead through the table's own sites.
    elsewhere: BTreeMap<LinkKey, String>,
    /// Those of these URLs that are not targets themselves.
    others: BTreeMap<LinkKey, String>,
    /// How many URLs of each host are requested.
    hosts: HashMap<Host, u64>,
}

impl Links {
    /// Returns the targets of the entries of a table that are in use at a time and for which `wants`
    /// returns true.
    pub fn of(table: &Arc<Table>, now: Timestamp, wants: impl Fn(&str) -> bool) -> Self {
        let mut links = Self {
            entries: Entries::of(table),
            ..Self::default()
        };
        let mut hosts = UrlCounts::default();
        let mut found = Vec::with_capacity(table.len());
        let mut target = String::new();
        let entries = numbered_sites(table).flat_map(|(start, site)| {
            let entries = site.stored_entries();
            entries.map(move |entry| (start + entry.number(), entry))
        });
        for (number, entry) in entries {
            for (led, place) in EntryTarget::all(entry, now).zip(0..=u16::MAX) {
                let (start, rest) = led.parts().parts();
                target.clear();
                target.push_str(start);
                target.push_str(rest);
                if !wants(&target) {
                    continue;
                }
                let kind = links.kind(table, led, &target, now, &mut hosts);
                let row = LinkRow {
                    entry: number,
                    target: place,
                    kind,
                };
                let hash = led.hash();
                found.push(UnplacedRow { hash, row });
            }
        }
        found.sort_unstable_by_key(|it| (it.hash, it.row.entry));
        links.take_in(found, &mut hosts);
        let urls = links.elsewhere.values();
        let urls = urls.map(|url| (LinkKey::of(url), url.clone()));
        links.others = urls
            .filter(|(key, _)| !links.requests_target(*key))
            .collect();
        for url in links.others.values() {
            hosts.add(url);
        }
        links.hosts = hosts.into_counts();
        links
    }

    /// Decides about the row of a target.
    fn kind(
        &mut self,
        table: &Table,
        led: EntryTarget<'_>,
        target: &str,
        now: Timestamp,
        hosts: &mut UrlCounts,
    ) -> RowKind {
        let end = table
            .may_own(led.parts().host_and_rest())
            .then(|| led.follow(table, now))
            .flatten();
        match end {
            _ if led.is_prefix(target) => RowKind::Prefix,
            None => match hosts.add(target) {
                true => RowKind::Requested,
                false => RowKind::NoHost,
            },
            Some(End::Elsewhere(url)) => match may_be_requested(&url) {
                true => {
                    self.elsewhere.insert(LinkKey::of(target), url);
                    RowKind::Elsewhere
                }
                false => RowKind::NoHost,
            },
            Some(End::Page) => RowKind::OwnPage,
            Some(End::Gone) => RowKind::OwnGone,
            Some(End::Nothing | End::Loop(_)) => RowKind::OwnNothing,
        }
    }

    /// Creates the rows of entries in the order of their hashes.
    fn take_in(&mut self, mut found: Vec<UnplacedRow>, hosts: &mut UrlCounts) {
        let entries = &self.entries;
        self.rows.reserve_exact(found.len());
        for same_hash in found.chunk_by_mut(|one, other| one.hash == other.hash) {
            if same_hash.len() > 1 {
                same_hash.sort_by_cached_key(|it| entries.place(&it.row));
            }
            let target = |it: &UnplacedRow| entries.target_parts(&it.row);
            for entries in same_hash.chunk_by(|one, other| target(one) == target(other)) {
                // Another entry may lead to the URL itself.
                let mut kinds = entries.iter().map(|it| it.row.kind);
                let kind = kinds
                    .find(|it| *it != RowKind::Prefix)
                    .unwrap_or(RowKind::Prefix);
                let counted = entries
                    .iter()
                    .filter(|it| it.row.kind == RowKind::Requested);
                for _ in usize::from(kind == RowKind::Requested)..counted.count() {
                    let target = target(&entries[0]);
                    hosts.subtract(&target.map(|it| it.to_string()).unwrap_or_default());
                }
                self.len += 1;
                let kinds = std::iter::once(kind).chain(std::iter::repeat(RowKind::Repeated));
                let rows = entries
                    .iter()
                    .zip(kinds)
                    .map(|(it, kind)| LinkRow { kind, ..it.row });
                self.rows.extend(rows);
            }
        }
    }

    /// Returns how many targets there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no target.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all targets, each with its entries.
    pub fn all(&self) -> impl Iterator<Item = TableLink> {
        let targets = (self.rows).chunk_by(|_, next| next.kind == RowKind::Repeated);
        targets.map(|rows| self.link(rows))
    }

    fn link(&self, rows: &[LinkRow]) -> TableLink {
        let target = self.target(&rows[0]).unwrap_or_default();
        let resolution = match rows[0].kind {
            RowKind::Requested => Resolution::Requested(target.to_string()),
            RowKind::Elsewhere => {
                let url = self.elsewhere.get(&LinkKey::of(&target)).cloned();
                Resolution::Requested(url.unwrap_or_default())
            }
            RowKind::NoHost => Resolution::NoHost,
            // The first row of a target repeats none.
            RowKind::Prefix | RowKind::Repeated => Resolution::Prefix,
            RowKind::OwnPage => Resolution::OwnPage,
            RowKind::OwnGone => Resolution::OwnGone,
            RowKind::OwnNothing => Resolution::OwnNothing,
        };
        let uses = rows.iter().filter_map(|row| self.entries.led(row));
        TableLink {
            uses: uses.map(LinkUse::of).collect(),
            target: target.into_owned(),
            resolution,
        }
    }

    /// Returns the URLs to request.
    pub fn urls(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let targets = self.requested_rows().filter_map(|row| self.target(row));
        targets.chain(self.others.values().map(|url| Cow::Borrowed(&**url)))
    }

    /// Returns the keys of the URLs to request: of targets in order, and then of others.
    pub(crate) fn requested(&self) -> impl Iterator<Item = LinkKey> {
        let targets = self.requested_rows().filter_map(|row| self.key(row));
        targets.chain(self.others.keys().copied())
    }

    /// Returns the keys of the URLs to request that the links of another table do not have.
    pub(crate) fn newly_requested(&self, before: &Self) -> Vec<LinkKey> {
        let mut rows = before.requested_rows().peekable();
        let mut is_new = |row: &&LinkRow| {
            let hash = self.hash(row);
            while rows.next_if(|row| before.hash(row) < hash).is_some() {}
            let mut same_hash = rows.clone().take_while(|row| before.hash(row) == hash);
            let target = self.entries.target_parts(row);
            same_hash.all(|row| before.entries.target_parts(row) != target)
        };
        let targets = self.requested_rows().filter(|row| is_new(row));
        let targets = targets.filter_map(|row| self.key(row));
        let targets = targets.filter(|key| !before.others.contains_key(key));
        let others = self.others.keys().copied();
        let others = others.filter(|key| !before.others.contains_key(key));
        let others = others.filter(|key| !before.requests_target(*key));
        targets.chain(others).collect()
    }

    /// Returns the URL of a key, if it is to be requested.
    pub(crate) fn url(&self, key: LinkKey) -> Option<Cow<'_, str>> {
        match self.others.get(&key) {
            Some(url) => Some(Cow::Borrowed(url)),
            None => self.target(self.requested_row(key)?),
        }
    }

    /// Returns how many URLs of a host are requested.
    pub(crate) fn of_host(&self, host: &Host) -> u64 {
        self.hosts.get(host).copied().unwrap_or_default()
    }

    fn requests_target(&self, key: LinkKey) -> bool {
        self.requested_row(key).is_some()
    }

    /// Returns the rows of the targets that are requested themselves.
    fn requested_rows(&self) -> impl Iterator<Item = &LinkRow> + Clone {
        self.rows
            .iter()
            .filter(|row| row.kind == RowKind::Requested)
    }

    /// Returns the row of the target with a key, if it is requested itself.
    fn requested_row(&self, key: LinkKey) -> Option<&LinkRow> {
        let hash = Some(key.hash());
        let from = self.rows.partition_point(|row| self.hash(row) < hash);
        let rows = self.rows[from..].iter();
        let mut rows = rows.take_while(|row| self.hash(row) == hash);
        rows.find(|row| row.kind == RowKind::Requested && self.key(row) == Some(key))
    }

    fn hash(&self, row: &LinkRow) -> Option<u64> {
        Some(self.entries.led(row)?.hash())
    }

    fn key(&self, row: &LinkRow) -> Option<LinkKey> {
        let target = self.entries.target_parts(row)?;
        Some(LinkKey::of_parts(target.parts()))
    }

    fn target(&self, row: &LinkRow) -> Option<Cow<'_, str>> {
        Some(Cow::Owned(self.entries.target_parts(row)?.to_string()))
    }
}

/// The entries of a table, numbered over all sites.
#[derive(Debug, Default)]
struct Entries {
    table: Option<Arc<Table>>,
    /// The number from which those of the entries of each site count.
    starts: Vec<u32>,
}

impl Entries {
    fn of(table: &Arc<Table>) -> Self {
        Self {
            starts: numbered_sites(table).map(|(start, _)| start).collect(),
            table: Some(Arc::clone(table)),
        }
    }

    fn site(&self, number: u32) -> Option<usize> {
        let after = self.starts.partition_point(|start| *start <= number);
        after.checked_sub(1)
    }

    fn get(&self, number: u32) -> Option<Entry<'_>> {
        let site = self.site(number)?;
        let entry = self.table.as_ref()?.sites()[site].entry(number - self.starts[site]);
        Some(entry)
    }

    /// Returns the target of a row.
    fn led(&self, row: &LinkRow) -> Option<EntryTarget<'_>> {
        EntryTarget::nth(self.get(row.entry)?, row.target)
    }

    /// Returns the target of a row, in two parts.
    fn target_parts(&self, row: &LinkRow) -> Option<TargetParts<'_>> {
        Some(self.led(row)?.parts())
    }

    /// Returns the sort key of a row: by target, and for one target in the order of the table.
    fn place<'e>(&'e self, row: &LinkRow) -> Option<impl Ord + use<'e>> {
        let led = self.led(row)?;
        Some((
            led.parts(),
            self.site(row.entry),
            led.entry().written(),
            row.target,
        ))
    }
}

/// Returns each site with the number from which those of its entries count.
fn numbered_sites(table: &Table) -> impl Iterator<Item = (u32, &Site)> {
    table.sites().iter().scan(0, |next, site| {
        let start = *next;
        *next += u32::try_from(site.numbers_end()).ok()?;
        Some((start, site))
    })
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
- {url: https://short.code/robots.txt, short-code: g}
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
        let requested = Resolution::Requested("https://a.example/".to_owned());
        let expected = [
            ("a b", requested.clone()),
            ("f", Resolution::OwnPage),
            ("c", requested),
            ("e", Resolution::OwnGone),
            ("d", Resolution::OwnNothing),
            ("g", Resolution::OwnPage),
            ("w", Resolution::Prefix),
            (
                "x y",
                Resolution::Requested("https://x.example/wiki/".to_owned()),
            ),
            ("z", Resolution::Requested("https://z.example/".to_owned())),
        ];
        let expected = expected.map(|(codes, it)| (codes.to_owned(), it));
        assert_eq!(Vec::from_iter(found), expected);
        assert_eq!(links.requested().count(), 3);
        let table = links.entries.table.as_ref().unwrap();
        for link in links.all() {
            let found = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(found, Some(link));
        }
        assert_eq!(links.of_host(&Host::parse("a.example").unwrap()), 1);
    }

    #[test]
    fn urls_of_paths_are_links_that_are_requested_if_they_are_home_pages() {
        let text = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: a, below: https://b.example/}
- {url: https://b.example/, short-code: b, below: https://c.example/docs/}
- url: https://d.example/
  short-code: d
  below: https://a.example/
  variants: [{accept: a/b, url: https://v.example/, below: https://w.example/}]
- {url: https://e.example/, short-code: e, retired: true, below: https://f.example/}
";
        let links = links(text);
        let mut found: Vec<_> = links.all().collect();
        found.sort_by(|one, other| one.target.cmp(&other.target));
        let table = links.entries.table.as_ref().unwrap();
        let shown = found.into_iter().map(|link| {
            let again = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(again.as_ref(), Some(&link));
            let uses = link.uses.iter();
            let uses: Vec<_> = uses
                .map(|it| format!("{}{}", it.code, it.role as u8))
                .collect();
            (
                link.target.clone(),
                uses.join(" "),
                link.resolution.url().is_some(),
            )
        });
        let expected = [
            ("https://a.example/", "a0 d2", true),
            ("https://b.example/", "a2 b0", true),
            ("https://c.example/docs/", "b2", false),
            ("https://d.example/", "d0", true),
            ("https://v.example/", "d1", true),
            ("https://w.example/", "d2", true),
        ];
        let expected = expected
            .map(|(target, uses, is_requested)| (target.to_owned(), uses.to_owned(), is_requested));
        assert_eq!(Vec::from_iter(shown), expected);
        assert_eq!(links.requested().count(), 5);
    }

    #[test]
    fn the_targets_of_variants_are_links_too() {
        let text = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: a, variants: [{accept: a/b, url: https://v.example/}]}
- {url: https://v.example/, short-code: v, variants: [{accept: a/b, url: https://short.code/a}]}
- {url: https://b.example/, short-code: b, variants: [{accept: a/b, url: https://b.example/}]}
- {url: https://c.example/, short-code: c, retired: true, variants: [{accept: a/b, url: https://d.example/}]}
";
        let links = links(text);
        let mut found: Vec<_> = (links.all())
            .map(|link| {
                let uses = link.uses.iter();
                let uses = uses.map(|it| format!("{}{}", it.code, it.role as u8));
                (link.target.clone(), uses.collect::<Vec<_>>().join(" "))
            })
            .collect();
        found.sort();
        let expected = [
            ("https://a.example/", "a0"),
            ("https://b.example/", "b0 b1"),
            ("https://short.code/a", "v1"),
            ("https://v.example/", "a1 v0"),
        ];
        let expected = expected.map(|(target, uses)| (target.to_owned(), uses.to_owned()));
        assert_eq!(found, expected);
        let mut urls: Vec<_> = links.urls().collect();
        urls.sort();
        assert_eq!(
            urls,
            [
                "https://a.example/",
                "https://b.example/",
                "https://v.example/"
            ]
        );
        for url in &urls {
            assert_eq!(links.url(LinkKey::of(url)).as_ref(), Some(url));
        }
        let table = links.entries.table.as_ref().unwrap();
        for link in links.all() {
            let found = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(found, Some(link));
        }
    }

    #[test]
    fn own_links_that_are_gone_by_their_date_are_not_requested() {
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
        let table = links.entries.table.as_ref().unwrap();
        let mut found = Vec::new();
        for link in links.all() {
            let alone = TableLink::of_site(table, &table.sites()[0], &link.target, NOW);
            assert_eq!(alone.as_ref(), Some(&link));
            found.push((link.uses[0].code.clone(), link.resolution));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let requested = |url: &str| Resolution::Requested(url.to_owned());
        let expected = [
            ("e", Resolution::OwnGone),
            ("expires", requested("https://c.example/")),
            ("f", Resolution::OwnGone),
            ("g", requested("https://c.example/")),
            ("h", requested("https://d.example/")),
            ("i", Resolution::OwnGone),
            ("retires", requested("https://d.example/")),
        ];
        let expected = expected.map(|(code, it)| (code.to_owned(), it));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_new_urls_are_newly_requested() {
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
            let keys = now.newly_requested(&of(before)).into_iter();
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
        // A link is followed while it leads to the table's own sites.
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
