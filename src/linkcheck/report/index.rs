//! The verdicts of all links of a table in memory, in 16 bytes a link.
//!
//! A request reads them without a lock and without I/O: a binary search among the hashes of the
//! targets, and one load. The hash is keyed, so nobody can construct two targets with the same
//! hash; with a million links, the probability that any two share one is one in forty million, and
//! then a page shows the wrong verdict.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::summary::LinkSummary;
use crate::linkcheck::check::{Links, Resolution};
use crate::linkcheck::conclude::{LinkRecord, Verdict};

/// Marks a verdict that needs no request, which no answer changes.
const NOT_REQUESTED: u64 = 1 << 63;

/// How many links have each verdict, in the order of [`Verdict::ALL`].
pub type VerdictCounts = [(Verdict, usize); Verdict::ALL.len()];

/// The verdicts of the links of a table. One thread at a time writes; any number reads.
#[derive(Debug, Default)]
pub(super) struct VerdictIndex {
    hasher: RandomState,
    /// The hashes of the targets, in order, and the summary of each.
    targets: Box<[u64]>,
    known: Box<[AtomicU64]>,
    /// The places of targets that are checked through another URL, by its hash.
    elsewhere: HashMap<u64, Vec<usize>>,
    /// How many links have each verdict.
    counts: [AtomicUsize; Verdict::ALL.len()],
    /// The number of changes worth reporting.
    changes: AtomicU64,
}

impl VerdictIndex {
    /// Returns the index of the links of a table, before any result.
    #[cfg(test)]
    fn of(links: &Links) -> Self {
        Self::hashed(links, RandomState::new())
    }

    /// Returns the index of the links of the next table, with the known results.
    pub(super) fn next(&self, links: &Links) -> Self {
        let next = Self::hashed(links, self.hasher.clone());
        next.take_over(self);
        next
    }

    fn hashed(links: &Links, hasher: RandomState) -> Self {
        let mut rows = Vec::with_capacity(links.len());
        let mut others = Vec::new();
        for link in links.all() {
            let target = hasher.hash_one(&*link.target);
            let known = match &link.resolution {
                Resolution::Requested(url) if *url == link.target => 0,
                Resolution::Requested(url) => {
                    others.push((hasher.hash_one(&**url), target));
                    0
                }
                Resolution::NoHost | Resolution::Prefix => NOT_REQUESTED,
                Resolution::OwnPage => {
                    NOT_REQUESTED | LinkSummary::without_request(Verdict::Ok).packed()
                }
                Resolution::OwnGone => {
                    NOT_REQUESTED | LinkSummary::without_request(Verdict::Gone).packed()
                }
                Resolution::OwnNothing => {
                    NOT_REQUESTED | LinkSummary::without_request(Verdict::Failing).packed()
                }
            };
            rows.push((target, known));
        }
        rows.sort_unstable();
        rows.dedup_by_key(|(target, _)| *target);
        let index = Self {
            hasher,
            targets: rows.iter().map(|(target, _)| *target).collect(),
            known: rows
                .iter()
                .map(|(_, known)| AtomicU64::new(*known))
                .collect(),
            ..Self::default()
        };
        for (_, known) in rows {
            index.count(known).fetch_add(1, Ordering::Relaxed);
        }
        let mut elsewhere = HashMap::<_, Vec<_>>::new();
        for (url, target) in others {
            let places = elsewhere.entry(url).or_default();
            places.extend(index.targets.binary_search(&target));
        }
        Self { elsewhere, ..index }
    }

    /// Returns the summary of a target; `None` if the table does not have it in use.
    pub(super) fn summary(&self, target: &str) -> Option<LinkSummary> {
        let target = self.hasher.hash_one(target);
        let place = self.targets.binary_search(&target).ok()?;
        Some(LinkSummary::unpacked(
            self.known[place].load(Ordering::Relaxed),
        ))
    }

    /// Returns how many links have each verdict.
    pub(super) fn counts(&self) -> VerdictCounts {
        let counts = self.counts.each_ref();
        let mut counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
        Verdict::ALL.map(|verdict| (verdict, counts.next().unwrap_or_default()))
    }

    /// Returns a number that grows when anything changes that is worth reporting.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Records a new result for a URL.
    pub(super) fn observe(&self, url: &str, record: &LinkRecord) {
        for place in self.places_of(url) {
            self.set(place, LinkSummary::from(record));
        }
    }

    /// Records an earlier result for a URL, unless a newer one is known.
    pub(super) fn recall(&self, url: &str, record: &LinkRecord) {
        for place in self.places_of(url) {
            if self.known[place].load(Ordering::Relaxed) == 0 {
                self.set(place, LinkSummary::from(record));
            }
        }
    }

    /// Records a result for a URL that another worker may have found.
    pub(super) fn renew(&self, url: &str, record: &LinkRecord) {
        let summary = LinkSummary::from(record);
        for place in self.places_of(url) {
            if self.known[place].load(Ordering::Relaxed) != summary.packed() {
                self.set(place, summary);
            }
        }
    }

    /// Takes over the results of the previous table's index.
    fn take_over(&self, before: &Self) {
        self.changes
            .fetch_add(before.changes() + 1, Ordering::Relaxed);
        // A target that is checked through another URL may now be checked through a different one.
        let (here, there) = (self.resolved_elsewhere(), before.resolved_elsewhere());
        let mut rows = before.targets.iter().enumerate().peekable();
        for (place, target) in self.targets.iter().enumerate() {
            while rows.next_if(|(_, other)| *other < target).is_some() {}
            let Some((other, _)) = rows.next_if(|(_, other)| *other == target) else {
                continue;
            };
            let known = before.known[other].load(Ordering::Relaxed);
            if known & NOT_REQUESTED == 0
                && self.known[place].load(Ordering::Relaxed) == 0
                && !here.contains(&place)
                && !there.contains(&other)
            {
                self.set(place, LinkSummary::unpacked(known));
            }
        }
    }

    fn resolved_elsewhere(&self) -> HashSet<usize> {
        self.elsewhere.values().flatten().copied().collect()
    }

    /// Returns whether no result is known for a URL.
    pub(super) fn lacks(&self, url: &str) -> bool {
        let mut places = self.places_of(url);
        places.any(|place| self.known[place].load(Ordering::Relaxed) == 0)
    }

    /// Returns the places of all links that are checked through a URL.
    fn places_of(&self, url: &str) -> impl Iterator<Item = usize> {
        let url = self.hasher.hash_one(url);
        let itself = self.targets.binary_search(&url).ok();
        let itself =
            itself.filter(|place| self.known[*place].load(Ordering::Relaxed) & NOT_REQUESTED == 0);
        let others = self.elsewhere.get(&url).into_iter().flatten();
        itself.into_iter().chain(others.copied())
    }

    /// Records the current result.
    fn set(&self, place: usize, summary: LinkSummary) {
        let before = self.known[place].swap(summary.packed(), Ordering::Relaxed);
        self.count(before).fetch_sub(1, Ordering::Relaxed);
        self.count(summary.packed()).fetch_add(1, Ordering::Relaxed);
        let verdicts = [LinkSummary::unpacked(before).verdict, summary.verdict];
        if verdicts.iter().any(|verdict| verdict.rule().is_some()) {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count(&self, known: u64) -> &AtomicUsize {
        let verdict = LinkSummary::unpacked(known).verdict;
        let at = Verdict::ALL.iter().position(|it| *it == verdict);
        &self.counts[at.unwrap_or_default()]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::linkcheck::conclude::{Observation, Policy, Seen};
    use crate::linkcheck::request::Failure;
    use crate::mapping::{SourceFile, Timestamp, compile};

    const TABLE: &str = "\
base_url: https://short.code/
mapping:
- {url: https://a.example/, short-code: a}
- {url: https://a.example/, short-code: b}
- {url: https://c.example/, short-code: c}
- {url: https://short.code/a, short-code: chain}
- {url: https://short.code/none, short-code: n}
- {url: https://short.code/gone, short-code: to-gone}
- {url: https://g.example/, short-code: gone, retired: true}
- {url: https://p.example/wiki/, short-code: p, forward: path}
";

    fn links(text: &str) -> Links {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into(),
        };
        let table = Arc::new(compile(&[file]).table.unwrap());
        Links::of(&table, Timestamp::from_unix(1_795_219_200), |_| true)
    }

    fn record(seen: Seen, day: i64) -> LinkRecord {
        let mut record = LinkRecord::default();
        let time = Timestamp::from_unix(day * 86_400);
        record.observe(&Observation::without_request(seen), time, Policy::default());
        record
    }

    fn counted(index: &VerdictIndex) -> Vec<(&'static str, usize)> {
        let counts = index.counts().into_iter();
        let counted = counts.filter(|(_, count)| *count > 0);
        counted
            .map(|(verdict, count)| (verdict.name(), count))
            .collect()
    }

    #[track_caller]
    fn assert_verdict(index: &VerdictIndex, target: &str, verdict: Verdict) {
        let known = index.summary(target).map(|it| it.verdict);
        assert_eq!(known, Some(verdict), "{target}");
    }

    #[test]
    fn what_the_table_says_is_known_from_the_start() {
        let index = VerdictIndex::of(&links(TABLE));
        assert_verdict(&index, "https://short.code/none", Verdict::Failing);
        assert_verdict(&index, "https://short.code/gone", Verdict::Gone);
        assert_verdict(&index, "https://p.example/wiki/", Verdict::Unchecked);
        assert_eq!(index.summary("https://g.example/"), None, "it is retired");
        assert_eq!(index.summary("https://elsewhere.example/"), None);
        let expected = [("failing", 1), ("gone", 1), ("unchecked", 4)];
        assert_eq!(counted(&index), expected);
        // No answer changes that.
        index.observe("https://p.example/wiki/", &record(Seen::Answered(200), 9));
        index.observe("https://short.code/none", &record(Seen::Answered(200), 9));
        assert_eq!(counted(&index), expected);
    }

    #[test]
    fn an_answer_is_that_of_each_link_that_leads_to_it() {
        let index = VerdictIndex::of(&links(TABLE));
        let quiet = index.changes();
        index.observe("https://a.example/", &record(Seen::Answered(200), 20_000));
        assert_verdict(&index, "https://a.example/", Verdict::Ok);
        assert_verdict(&index, "https://short.code/a", Verdict::Ok);
        let summary = index.summary("https://a.example/").unwrap();
        assert_eq!(summary.last_ok.unwrap().to_string(), "2024-10-04");
        assert_eq!(index.changes(), quiet, "nothing of that is reported");
        index.observe("https://a.example/", &record(Seen::Answered(404), 20_001));
        assert!(index.changes() > quiet);
        let expected = [("failing", 3), ("gone", 1), ("unchecked", 2)];
        assert_eq!(counted(&index), expected);
        index.observe("https://unknown.example/", &record(Seen::Answered(404), 1));
        assert_eq!(counted(&index), expected);
    }

    #[test]
    fn what_was_known_never_replaces_what_is_newer() {
        let index = VerdictIndex::of(&links(TABLE));
        let url = "https://c.example/";
        assert!(index.lacks(url));
        index.observe(url, &record(Seen::Answered(410), 20_000));
        assert!(!index.lacks(url) && index.lacks("https://a.example/"));
        index.recall(url, &record(Seen::Answered(200), 10_000));
        assert_verdict(&index, url, Verdict::Gone);
    }

    #[test]
    fn another_table_keeps_what_is_known_of_its_links() {
        let before = VerdictIndex::of(&links(TABLE));
        let failed = record(Seen::Failed(Failure::Refused), 20_000);
        before.observe("https://a.example/", &record(Seen::Answered(200), 20_000));
        before.observe("https://c.example/", &failed);
        let text = TABLE
            .replace("https://short.code/none", "https://new.example/")
            // The chain now leads to another URL, without a result yet.
            .replace(
                "https://a.example/, short-code: a",
                "https://z.example/, short-code: a",
            )
            .replace("https://c.example/", "https://d.example/");
        let text = format!("{text}- {{url: https://e.example/, short-code: e}}\n");
        let index = before.next(&links(&text));
        assert!(index.changes() > before.changes());
        assert_verdict(&index, "https://a.example/", Verdict::Ok);
        assert_eq!(index.summary("https://c.example/"), None);
        for unknown in ["https://short.code/a", "https://d.example/"] {
            assert_verdict(&index, unknown, Verdict::Unchecked);
        }
        assert!(index.lacks("https://new.example/") && !index.lacks("https://a.example/"));
        assert_eq!(counted(&index), [("ok", 1), ("gone", 1), ("unchecked", 6)]);
    }
}
