//! Promises: what the tables of a history have promised, commit by commit.
//!
//! The first table that has a code promises where it leads, and every later table that keeps the
//! promise renews it. A table that breaks it leaves it unchanged: it is still broken when the
//! history ends, unless a later table kept it again. A statement moves the promise to where the
//! code leads, whether it comes before the change, with it or after; each is good for one commit.
//! The same applies to new codes that shadow other links.
//!
//! Commits are numbers here; their order is up to the caller.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::broken::Link;
use super::permanence::Breach;
use super::shadowing::shadowed;
use super::statement::{Statement, Statements};
use crate::mapping::packed::{Catalogue, Entry, Table};

/// The promises at one commit.
#[derive(Debug, Clone, Default)]
pub struct Promises {
    /// By the address of the site.
    sites: BTreeMap<String, SitePromises>,
    stated: Statements,
    /// New codes that shadow other links without a statement, each with a commit that has the links
    /// and not the code.
    shadowing: HashMap<Link, usize>,
    /// New codes with a statement that they shadow other links.
    may_shadow: HashSet<Link>,
}

/// The promises of one site, by code.
#[derive(Debug, Clone, Default)]
struct SitePromises {
    first: HashMap<Box<str>, Promise>,
    /// Other promises for the same codes from other lines of work, which the first has not
    /// superseded.
    rivals: HashMap<Box<str>, Vec<Promise>>,
}

/// The destination of a code: the parts of a target, or `None`.
type Goal = Option<(&'static str, Rc<str>)>;

/// The promise of one code.
#[derive(Debug, Clone)]
struct Promise {
    target: Goal,
    is_retired: bool,
    /// The last commit that kept it, with the target if it has one.
    kept: usize,
    /// Its former destinations, from which statements moved it.
    left: Vec<Goal>,
}

impl Promises {
    /// Joins another line of work: of two promises for a code, one moved by a statement from where
    /// the other still has it prevails. Otherwise both apply.
    pub fn join(&mut self, other: &Self) {
        for (address, theirs) in &other.sites {
            let own = self.sites.entry(address.clone()).or_default();
            for (code, promise) in &theirs.first {
                own.add(code, promise);
                for rival in theirs.rivals.get(code).into_iter().flatten() {
                    own.add(code, rival);
                }
            }
        }
        self.stated.join(&other.stated);
        self.may_shadow.extend(other.may_shadow.iter().cloned());
        for (link, &kept) in &other.shadowing {
            self.shadowing.entry(link.clone()).or_insert(kept);
        }
        let may_shadow = &self.may_shadow;
        self.shadowing.retain(|link, _| !may_shadow.contains(link));
    }

    /// Adds the statements of a commit, before its table.
    pub fn state(&mut self, commit: usize, statements: impl IntoIterator<Item = Statement>) {
        self.stated.state(commit, statements);
    }

    /// Adds the table of a commit; `before` are the tables of its parents, each with its commit.
    pub fn publish(&mut self, commit: usize, table: &Table, before: &[(usize, &Table)]) {
        self.shadow(table, before);
        let mut serving = self.allow_shadowing(table);
        for site in table.sites() {
            let codes = self.sites.entry(site.address()).or_default();
            let catalogue = Catalogue::new(Some(site));
            for entry in catalogue.entries() {
                for code in catalogue.codes(entry) {
                    let breaches = codes.publish(&code, entry, commit);
                    if breaches.is_empty() {
                        continue;
                    }
                    let stated = self.stated.waiting(site, &code);
                    if !stated.is_empty() && breaches.into_iter().all(Breach::can_be_intended) {
                        codes.settle(&code, entry, commit);
                    }
                    // A refused change is not requested again.
                    serving.extend(stated);
                }
            }
        }
        for statement in serving {
            self.stated.serve(&statement);
        }
    }

    /// Records which new codes of a table shadow links of its parents.
    pub fn shadow(&mut self, table: &Table, before: &[(usize, &Table)]) {
        for &(kept, old) in before {
            for found in shadowed(old, table) {
                let link = found.link();
                if !self.may_shadow.contains(&link) {
                    self.shadowing.entry(link).or_insert(kept);
                }
            }
        }
    }

    /// Records codes that a statement allows to shadow other links; returns the statements.
    fn allow_shadowing(&mut self, table: &Table) -> Vec<Statement> {
        let mut serving = Vec::new();
        for site in table.sites() {
            let address = site.address();
            self.shadowing.retain(|link, _| {
                let stated = match link.address == address {
                    true => self.stated.waiting(site, &link.code),
                    false => Vec::new(),
                };
                let is_stated = !stated.is_empty();
                if is_stated {
                    self.may_shadow.insert(link.clone());
                    serving.extend(stated);
                }
                !is_stated
            });
        }
        serving
    }

    /// Returns the new codes that shadow other links without a statement, by a commit that has the
    /// links and not the code.
    pub fn shadowing(&self, table: &Table, stated: &Statements) -> BTreeMap<usize, HashSet<Link>> {
        let mut shadowing: BTreeMap<_, HashSet<Link>> = BTreeMap::new();
        for site in table.sites() {
            let address = site.address();
            let here = self.shadowing.iter().filter(|it| it.0.address == address);
            for (link, &kept) in here {
                let is_stated = [stated, &self.stated]
                    .iter()
                    .any(|stated| !stated.waiting(site, &link.code).is_empty());
                if !is_stated {
                    shadowing.entry(kept).or_default().insert(link.clone());
                }
            }
        }
        shadowing
    }

    /// Returns the links that a proposed table breaks without a statement, and how, by the commit
    /// that last kept each promise.
    pub fn broken(
        &self,
        table: &Table,
        stated: &Statements,
    ) -> BTreeMap<usize, HashMap<Link, Breach>> {
        let mut broken: BTreeMap<usize, HashMap<Link, Breach>> = BTreeMap::new();
        let sites: HashMap<_, _> = (table.sites().iter())
            .map(|site| (site.address(), site))
            .collect();
        for (address, codes) in &self.sites {
            let site = sites.get(address).copied();
            for (code, first) in &codes.first {
                let now = site.and_then(|site| site.lookup(code));
                let rivals = codes.rivals.get(code).into_iter().flatten();
                let breaches = std::iter::once(first).chain(rivals);
                let breaches = breaches.filter_map(|it| Some((it.kept, it.breach(now)?)));
                // Of several, one that no statement permits is reported, and of these the last.
                let Some((kept, breach)) =
                    breaches.max_by_key(|(kept, breach)| (!breach.can_be_intended(), *kept))
                else {
                    continue;
                };
                let is_stated = |site| {
                    let mut all = [stated, &self.stated].into_iter();
                    all.any(|stated| !stated.waiting(site, code).is_empty())
                };
                if !breach.can_be_intended() || !site.is_some_and(is_stated) {
                    let link = Link {
                        address: address.clone(),
                        code: code.to_string(),
                    };
                    broken.entry(kept).or_default().insert(link, breach);
                }
            }
        }
        broken
    }
}

impl SitePromises {
    /// Adds a promise of another line of work.
    fn add(&mut self, code: &str, promise: &Promise) {
        let Some(first) = self.first.get_mut(code) else {
            self.first.insert(code.into(), promise.clone());
            return;
        };
        let rivals = self.rivals.get_mut(code).into_iter().flatten();
        for known in std::iter::once(&mut *first).chain(rivals) {
            if known.target == promise.target {
                return known.unite(promise);
            } else if known.supersedes(promise) {
                return;
            }
        }
        let mut rivals = self.rivals.remove(code).unwrap_or_default();
        rivals.retain(|known| !promise.supersedes(known));
        if promise.supersedes(first) {
            *first = promise.clone();
        } else {
            rivals.push(promise.clone());
        }
        if !rivals.is_empty() {
            self.rivals.insert(code.into(), rivals);
        }
    }

    /// Compares an entry with the promises of its code; returns how it breaks those that it does
    /// not keep.
    fn publish(&mut self, code: &str, entry: Entry<'_>, commit: usize) -> Vec<Breach> {
        let Some(first) = self.first.get_mut(code) else {
            self.first.insert(code.into(), Promise::new(entry, commit));
            return Vec::new();
        };
        let mut breaches = Vec::new();
        let rivals = self.rivals.get_mut(code).into_iter().flatten();
        for promise in std::iter::once(first).chain(rivals) {
            match promise.breach(Some(entry)) {
                Some(breach) => breaches.push(breach),
                None => promise.keep(entry, commit),
            }
        }
        breaches
    }

    /// Moves all promises of a code to an entry.
    fn settle(&mut self, code: &str, entry: Entry<'_>, commit: usize) {
        let rivals = self.rivals.remove(code).unwrap_or_default();
        if let Some(promise) = self.first.get_mut(code) {
            promise.left.push(promise.target.clone());
            promise.left.extend(rivals.into_iter().map(|it| it.target));
            promise.keep(entry, commit);
        }
    }
}

impl Promise {
    fn new(entry: Entry<'_>, commit: usize) -> Self {
        let mut promise = Self {
            target: None,
            is_retired: false,
            kept: commit,
            left: Vec::new(),
        };
        promise.keep(entry, commit);
        promise
    }

    fn target_parts(&self) -> Option<(&str, &str)> {
        let (start, rest) = self.target.as_ref()?;
        Some((start, rest))
    }

    /// Returns whether a statement has moved this from where the other still has it.
    fn supersedes(&self, other: &Self) -> bool {
        let has_left = self.left.contains(&other.target);
        let was_left = other.left.contains(&self.target);
        has_left && (!was_left || self.left.len() > other.left.len())
    }

    /// Merges the same promise of another line of work.
    fn unite(&mut self, other: &Self) {
        self.is_retired |= other.is_retired;
        self.kept = self.kept.max(other.kept);
        for target in &other.left {
            if !self.left.contains(target) {
                self.left.push(target.clone());
            }
        }
    }

    fn breach(&self, now: Option<Entry<'_>>) -> Option<Breach> {
        Breach::of(self.target_parts(), self.is_retired, now)
    }

    /// Updates the promise from an entry.
    fn keep(&mut self, entry: Entry<'_>, commit: usize) {
        self.is_retired = entry.is_retired();
        let target = entry.target_parts();
        if target.is_none() && self.target.is_some() {
            // A retired entry may drop its target, which is still the only one that the code may
            // have.
            return;
        }
        if self.target_parts() != target {
            self.target = target.map(|(start, rest)| (start, rest.into()));
        }
        self.kept = commit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::value::SourceFile;

    const A: &str = "- {url: https://a.example/, short-code: x}\n";
    const B: &str = "- {url: https://b.example/, short-code: x}\n";
    const C: &str = "- {url: https://c.example/, short-code: x}\n";
    const RETIRED: &str = "- {url: https://a.example/, short-code: x, retired: true}\n";
    const DROPPED: &str = "- {short-code: x, retired: true}\n";
    const OTHER: &str = "- {url: https://other.example/, short-code: other}\n";

    fn table(entries: &str) -> Table {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: format!("base_url: https://short.code/\nmapping:\n{entries}").into(),
        };
        compile(&[file]).table.unwrap()
    }

    /// Follows a line of commits, each with its statements, from the end of another.
    fn follow(from: &Promises, line: &[(usize, &str, &str)]) -> Promises {
        let mut promises = from.clone();
        let mut last: Option<(usize, Table)> = None;
        for &(commit, entries, stated) in line {
            let stated = Statement::read(stated).unwrap_or_default();
            promises.state(commit, stated);
            let table = table(entries);
            let before = last.as_ref().map(|(commit, table)| (*commit, table));
            promises.publish(commit, &table, before.as_slice());
            last = Some((commit, table));
        }
        promises
    }

    fn line(commits: &[(&str, &str)]) -> Promises {
        let numbered = commits.iter().zip(0..);
        let numbered: Vec<_> = numbered.map(|(&(table, it), n)| (n, table, it)).collect();
        follow(&Promises::default(), &numbered)
    }

    /// Returns the commits that kept the promises which a table breaks.
    fn broken(promises: &Promises, entries: &str) -> Vec<usize> {
        let broken = promises.broken(&table(entries), &Statements::default());
        broken.into_keys().collect()
    }

    fn holds(promises: &Promises, entries: &str) -> bool {
        broken(promises, entries).is_empty()
    }

    #[test]
    fn what_is_gone_is_missed_until_it_is_restored_or_retired() {
        let promises = line(&[(A, ""), (A, ""), (OTHER, ""), (OTHER, "")]);
        assert_eq!(broken(&promises, OTHER), [1]);
        for entries in [A, RETIRED, DROPPED] {
            assert!(holds(&promises, &format!("{OTHER}{entries}")), "{entries}");
        }
        assert_eq!(broken(&promises, &format!("{OTHER}{B}")), [1]);
        let both = format!("{A}{OTHER}");
        assert!(holds(&line(&[(A, ""), (OTHER, ""), (&both, "")]), &both));
    }

    #[test]
    fn an_unstated_target_does_not_become_the_promise() {
        let promises = line(&[(A, ""), (B, ""), (B, "")]);
        assert_eq!(broken(&promises, B), [0]);
        assert!(holds(&promises, A));
        // Nor is it one that must be kept.
        assert!(holds(&line(&[(A, ""), (B, ""), (A, "")]), A));
    }

    #[test]
    fn a_statement_may_come_before_the_change_with_it_or_after() {
        for commits in [
            [(A, "retarget x"), (A, ""), (B, "")],
            [(A, ""), (A, "retarget y, x"), (B, "")],
            [(A, ""), (B, "retarget https://short.code/x"), (B, "")],
            [(A, ""), (B, ""), (B, "retarget x")],
        ] {
            let promises = line(&commits);
            assert!(holds(&promises, B), "{commits:?}");
            assert_eq!(broken(&promises, A), [2], "{commits:?}");
        }
        // It is still waiting when the history ends, or comes from elsewhere.
        let promises = line(&[(A, "retarget x")]);
        assert!(holds(&promises, B));
        let stated = [Statement::retarget("x")].into_iter().collect();
        assert!(line(&[(A, "")]).broken(&table(B), &stated).is_empty());
    }

    #[test]
    fn a_statement_serves_once() {
        assert_eq!(
            broken(&line(&[(A, ""), (B, "retarget x"), (C, "")]), C),
            [1]
        );
        assert_eq!(
            broken(&line(&[(A, "retarget x"), (B, ""), (C, "")]), C),
            [1]
        );
        // It is not used for a change that needs none.
        let kept = line(&[(A, "retarget x"), (RETIRED, ""), (A, ""), (B, "")]);
        assert!(holds(&kept, B));
    }

    #[test]
    fn what_is_retired_is_given_to_nobody_else() {
        let promises = line(&[(A, ""), (RETIRED, ""), (B, "retarget x")]);
        assert_eq!(broken(&promises, B), [1]);
        let stated = [Statement::retarget("x")].into_iter().collect();
        assert_eq!(promises.broken(&table(B), &stated).len(), 1);
        assert!(holds(&promises, A));
        // Neither then nor later.
        let back = follow(&promises, &[(3, A, "")]);
        assert_eq!(broken(&back, B), [3]);
        // Nor if its target was already dropped.
        let dropped = line(&[(A, ""), (DROPPED, "")]);
        assert!(holds(&dropped, A));
        assert!(holds(&follow(&dropped, &[(2, A, "")]), A));
        assert_eq!(broken(&follow(&dropped, &[(2, B, "retarget x")]), B), [0]);
        assert_eq!(dropped.broken(&table(B), &stated).len(), 1);
        // A code that never had a target may be given one by a statement.
        let empty = line(&[(DROPPED, "")]);
        assert_eq!(broken(&empty, A), [0]);
        assert!(empty.broken(&table(A), &stated).is_empty());
        assert!(holds(&follow(&empty, &[(1, A, "retarget x")]), A));
    }

    #[test]
    fn lines_of_work_add_up() {
        let start = line(&[(OTHER, "")]);
        let mut one = follow(&start, &[(1, &format!("{OTHER}{A}"), "")]);
        let y = A.replace(": x", ": y");
        let two = follow(&start, &[(2, &format!("{OTHER}{y}"), "")]);
        one.join(&two);
        assert!(holds(&one, &format!("{OTHER}{A}{y}")));
        assert_eq!(broken(&one, &format!("{OTHER}{A}")), [2]);
        assert_eq!(broken(&one, OTHER), [1, 2]);
    }

    #[test]
    fn the_line_that_moved_a_promise_is_right() {
        let start = line(&[(A, "")]);
        let moved = follow(&start, &[(1, B, "retarget x")]);
        let other = follow(&start, &[(2, A, "")]);
        for (one, two) in [(&moved, &other), (&other, &moved)] {
            let mut joined = one.clone();
            joined.join(two);
            assert!(holds(&joined, B));
            assert_eq!(broken(&joined, A), [1]);
        }
    }

    #[test]
    fn moving_a_promise_displaces_only_what_it_was_moved_from() {
        // A line that has the code from elsewhere, and has moved it there.
        let moved = line(&[(C, ""), (B, "retarget x")]);
        let start = line(&[(OTHER, "")]);
        let retired = follow(&start, &[(2, A, ""), (3, RETIRED, "")]);
        for known in [follow(&start, &[(2, A, "")]), retired] {
            for (one, two) in [(&moved, &known), (&known, &moved)] {
                let mut joined = one.clone();
                joined.join(two);
                assert!(!holds(&joined, B) && !holds(&joined, A));
            }
        }
    }

    #[test]
    fn what_two_lines_promised_differently_holds_twice() {
        let start = line(&[(A, "")]);
        let apart = Promises::default();
        for (one, two) in [
            (
                follow(&start, &[(1, B, "retarget x")]),
                follow(&start, &[(2, C, "retarget x")]),
            ),
            (follow(&apart, &[(1, B, "")]), follow(&apart, &[(2, C, "")])),
        ] {
            let mut joined = one.clone();
            joined.join(&two);
            let mut other = two;
            other.join(&one);
            other.join(&joined);
            for joined in [&joined, &other] {
                assert_eq!(broken(joined, B), [2]);
                assert_eq!(broken(joined, C), [1]);
                assert_eq!(broken(&follow(joined, &[(3, B, "")]), B), [2]);
                // The merge states which one is right, or a later commit does; otherwise the code
                // is retired.
                for right in [A, B, C] {
                    let stated = [Statement::retarget("x")].into_iter().collect();
                    assert!(joined.broken(&table(right), &stated).is_empty());
                    let mut settled = follow(joined, &[(3, right, "retarget x")]);
                    assert!(holds(&settled, right));
                    settled.join(joined);
                    assert!(holds(&settled, right));
                    let late = [(3, right, ""), (4, right, "retarget x")];
                    assert!(holds(&follow(joined, &late), right));
                }
                assert!(holds(joined, DROPPED));
                let dropped = follow(joined, &[(3, DROPPED, "")]);
                assert!(!holds(&follow(&dropped, &[(4, B, "retarget x")]), B));
            }
        }
    }

    #[test]
    fn what_served_on_one_line_serves_on_none() {
        let start = line(&[(A, "retarget x")]);
        let used = follow(&start, &[(1, B, "")]);
        let mut joined = start.clone();
        joined.join(&used);
        assert_eq!(broken(&joined, C), [1]);
        // A statement that is waiting there is carried over.
        let waiting = follow(&line(&[(A, "")]), &[(1, A, "retarget x")]);
        let mut joined = line(&[(A, "")]);
        joined.join(&waiting);
        assert!(holds(&joined, B));
    }

    #[test]
    fn what_either_line_kept_is_kept() {
        let start = line(&[(A, "")]);
        let mut gone = follow(&start, &[(1, OTHER, "")]);
        gone.join(&follow(&start, &[(2, RETIRED, "")]));
        assert_eq!(broken(&gone, OTHER), [2]);
        assert!(!holds(&follow(&gone, &[(3, B, "retarget x")]), B));
    }
}
