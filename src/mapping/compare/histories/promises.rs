//! Promises: where the tables of a history promised each code to lead, commit by commit.
//!
//! The first table that has a code promises where it leads, and every later table that keeps the
//! promise renews it. A table that breaks it leaves it unchanged: it is still broken when the
//! history ends, unless a later table kept it again. A statement moves the promise to where the
//! code leads, whether it comes before, with or after the change; each is valid for one commit. The
//! same applies to new codes that shadow other links.
//!
//! A table is published in full, or as its difference from the previous one, so that the cost of a
//! commit depends on the size of its change: all other kept promises stay kept.
//!
//! Commits are numbers here; their order is up to the caller.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::neighbourhood::Neighbourhood;
use super::promise::Promise;
use super::site_promises::SitePromises;
use crate::mapping::compare::breaches::{
    Breach, Link, Statement, Statements, folds_case, shadowed,
};
use crate::mapping::compile::Difference;
use crate::mapping::packed::{Catalogue, Site, Table};

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
    /// The addresses of sites that found codes in any case, each with the last commit in which it did.
    folding: HashMap<String, usize>,
    /// The last commit whose table was published here.
    published: usize,
    /// Whether all promises are those after that commit, so that what differs from its table can be
    /// published.
    is_up_to_date: bool,
    /// The links of that table that break a promise.
    breaking: HashSet<Link>,
    /// Whether there are statements since.
    has_new_statements: bool,
}

impl Promises {
    /// Joins another line of work: of two promises for a code, one moved by a statement from where
    /// the other still has it prevails. Otherwise both apply.
    pub fn join(&mut self, other: &Self) {
        for site in self.sites.values_mut() {
            site.leave_all(self.published);
        }
        self.is_up_to_date = false;
        for (address, theirs) in &other.sites {
            let own = self.sites.entry(address.clone()).or_default();
            for (code, promise) in &theirs.first {
                own.add(code, promise.clone().left_at(other.published));
                for rival in theirs.rivals.get(code).into_iter().flatten() {
                    own.add(code, rival.clone().left_at(other.published));
                }
            }
        }
        self.stated.join(&other.stated);
        self.may_shadow.extend(other.may_shadow.iter().cloned());
        for (link, &kept) in &other.shadowing {
            self.shadowing.entry(link.clone()).or_insert(kept);
        }
        for (address, &kept) in &other.folding {
            let own = self.folding.entry(address.clone()).or_insert(kept);
            *own = kept.max(*own);
        }
        let may_shadow = &self.may_shadow;
        self.shadowing.retain(|link, _| !may_shadow.contains(link));
    }

    /// Adds the statements of a commit, before its table.
    pub fn state(&mut self, commit: usize, statements: impl IntoIterator<Item = Statement>) {
        let mut statements = statements.into_iter().peekable();
        self.has_new_statements |= statements.peek().is_some();
        self.stated.state(commit, statements);
    }

    /// Adds the table of a commit; `before` are the tables of its parents, each with its commit. All
    /// codes are added to `near`.
    pub fn publish(
        &mut self,
        commit: usize,
        table: &Table,
        before: &[(usize, &Table)],
        near: &mut Neighbourhood,
    ) {
        self.shadow(table, before);
        for site in self.sites.values_mut() {
            site.leave_all(self.published);
        }
        self.breaking.clear();
        self.update(commit, table, near);
        self.note_takedowns_elsewhere(table);
        self.note_takedowns_in_any_case(table);
    }

    /// Records the links of sites that are gone, of which the table has an entry without a target: the
    /// site may have another base URL now.
    fn note_takedowns_elsewhere(&mut self, table: &Table) {
        let there: HashSet<_> = table.sites().iter().map(Site::address).collect();
        let gone = (self.sites.iter_mut()).filter(|(address, _)| !there.contains(*address));
        for (_, codes) in gone {
            for (code, promise) in &mut codes.first {
                let mut now = table.sites().iter().filter_map(|site| site.lookup(code));
                promise.is_taken_down |= now.any(|entry| !entry.has_target());
            }
        }
    }

    /// Records the links of which the table has an entry without a target in another case.
    fn note_takedowns_in_any_case(&mut self, table: &Table) {
        for site in table.sites().iter().filter(|site| folds_case(site)) {
            let Some(codes) = self.sites.get_mut(&site.address()) else {
                continue;
            };
            for (code, promise) in &mut codes.first {
                let now = site.lookup_folded(code);
                promise.is_taken_down |= now.is_some_and(|entry| !entry.has_target());
            }
        }
    }

    /// Adds the table of a commit, given by what differs from the last that was published, if that has
    /// the same effect; otherwise nothing has changed. `near` has all codes that were ever published.
    ///
    /// The difference must be that of a table without errors unless a code of it is among those of other
    /// entries.
    pub fn publish_difference(
        &mut self,
        commit: usize,
        difference: &Difference,
        near: &mut Neighbourhood,
    ) -> bool {
        if !self.decides(difference, near) {
            return false;
        }
        for site in difference.gone.sites() {
            let address = site.address();
            let codes = self.sites.entry(address.clone()).or_default();
            for code in site.codes() {
                codes.leave(&code, self.published);
                if !self.breaking.is_empty() {
                    let (address, code) = (address.clone(), code.into_owned());
                    self.breaking.remove(&Link { address, code });
                }
            }
        }
        self.update(commit, &difference.added, near);
        true
    }

    /// Adds a commit with the table that was published last, if that has no further effect; otherwise
    /// nothing has changed.
    pub fn publish_again(&mut self, commit: usize) -> bool {
        let waits = !self.breaking.is_empty() || !self.shadowing.is_empty();
        let is_known = self.is_up_to_date && !(self.has_new_statements && waits);
        if is_known {
            self.published = commit;
            self.has_new_statements = false;
        }
        is_known
    }

    /// Returns whether publishing a difference concerns no other entries: none has one of its
    /// codes, is shadowed by it, or waits for a statement.
    fn decides(&self, difference: &Difference, near: &Neighbourhood) -> bool {
        let waits = self.has_new_statements && !self.breaking.is_empty();
        self.is_up_to_date
            && !waits
            && difference.added.sites().iter().all(|site| {
                let codes = self.sites.get(&site.address());
                let gone = difference.gone.counterpart(site);
                site.codes().all(|code| {
                    let was = gone.and_then(|gone| gone.lookup(&code));
                    match (was, site.lookup(&code)) {
                        (Some(was), Some(is)) => was.takes_below() || !is.takes_below(),
                        (None, _) => {
                            let first = codes.and_then(|codes| codes.first.get(&*code));
                            !first.is_some_and(|it| it.is_current) && !near.touches(&code)
                        }
                        (Some(_), None) => false,
                    }
                })
            })
    }

    /// Updates the promises of the codes of a table.
    fn update(&mut self, commit: usize, table: &Table, near: &mut Neighbourhood) {
        let folding = table.sites().iter().filter(|site| folds_case(site));
        (self.folding).extend(folding.map(|site| (site.address(), commit)));
        let mut serving = self.allow_shadowing(table);
        for site in table.sites() {
            let codes = self.sites.entry(site.address()).or_default();
            let catalogue = Catalogue::new(Some(site));
            for entry in catalogue.entries() {
                for code in catalogue.codes(entry) {
                    let breaches = codes.publish(&code, entry, near);
                    if breaches.is_empty() {
                        continue;
                    }
                    let stated = self.stated.waiting(site, &code);
                    if !stated.is_empty() && breaches.into_iter().all(Breach::can_be_intended) {
                        codes.settle(&code, entry);
                    } else {
                        self.breaking.insert(Link::new(site, &code));
                    }
                    // A refused change is not requested again.
                    serving.extend(stated);
                }
            }
        }
        for statement in serving {
            self.stated.serve(&statement);
        }
        self.published = commit;
        self.is_up_to_date = true;
        self.has_new_statements = false;
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

    /// Returns the addresses of the sites that found codes in any case, and in a proposed table do not, by
    /// the last commit in which each did.
    pub fn no_longer_folding(&self, table: &Table) -> BTreeMap<usize, HashSet<String>> {
        let mut found: BTreeMap<_, HashSet<_>> = BTreeMap::new();
        for site in table.sites().iter().filter(|site| !folds_case(site)) {
            let address = site.address();
            if let Some(&kept) = self.folding.get(&address) {
                found.entry(kept).or_default().insert(address);
            }
        }
        found
    }

    /// Returns the links whose entries have dropped their targets, and which have led nowhere
    /// since.
    pub fn taken_down(&self) -> HashSet<Link> {
        let sites = self.sites.iter();
        let links = sites.flat_map(|(address, codes)| {
            let taken_down = codes.first.iter().filter(|(code, first)| {
                let mut rivals = codes.rivals.get(*code).into_iter().flatten();
                first.is_taken_down || rivals.any(|it| it.is_taken_down)
            });
            taken_down.map(|(code, _)| Link {
                address: address.clone(),
                code: code.to_string(),
            })
        });
        links.collect()
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
                let now = site.and_then(|site| site.lookup_in_any_case(code));
                let rivals = codes.rivals.get(code).into_iter().flatten();
                let breaches = std::iter::once(first).chain(rivals);
                let kept = |it: &Promise| it.kept.unwrap_or(self.published);
                let breaches = breaches.filter_map(|it| Some((kept(it), it.breach(now)?)));
                // Of several, one that no statement permits is reported, preferably the last.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::mapping::compile::random_edits::{a_file, an_edit, apply, source};
    use crate::mapping::value::SourceFile;
    use crate::mapping::{ChangedFile, ListPlace, Outset, compile, compile_after};

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
            let near = &mut Neighbourhood::default();
            promises.publish(commit, &table, before.as_slice(), near);
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
    fn a_retired_code_is_not_reused() {
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
    fn what_was_taken_down_is_known_until_it_is_back() {
        let start = line(&[(A, ""), (DROPPED, "")]);
        let is_known = |promises: &Promises| promises.taken_down().iter().any(|it| it.code == "x");
        assert!(!is_known(&line(&[(A, ""), (RETIRED, "")])));
        assert!(is_known(&start));
        for after in [OTHER, B] {
            assert!(is_known(&follow(&start, &[(2, after, "")])), "{after}");
        }
        assert!(!is_known(&follow(&start, &[(2, A, "")])));
        let mut joined = line(&[(A, "")]);
        joined.join(&start);
        assert!(is_known(&joined));
        // With a new base URL in the same commit.
        let mut moved = line(&[(A, "")]);
        let text = format!("base_url: https://other.code/\nmapping:\n{DROPPED}");
        let file = SourceFile::new("t.yaml".into(), text.into_bytes());
        let table = compile(&[file]).table.unwrap();
        moved.publish(1, &table, &[], &mut Neighbourhood::default());
        assert!(is_known(&moved));
    }

    #[test]
    fn what_was_taken_down_in_another_case_is_known() {
        let folded = |entries: &str| {
            let text = format!("base_url: https://short.code/\ncase: fold\nmapping:\n{entries}");
            let file = SourceFile::new("t.yaml".into(), text.into_bytes());
            compile(&[file]).table.unwrap()
        };
        let (start, dropped) = (folded(A), folded(&DROPPED.replace(": x", ": X")));
        let near = &mut Neighbourhood::default();
        let mut promises = Promises::default();
        promises.publish(0, &start, &[], near);
        promises.publish(1, &dropped, &[(0, &start)], near);
        assert!(promises.taken_down().iter().any(|it| it.code == "x"));
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

    /// The versions of a table, with what each commit states.
    type Versions = Vec<(Vec<SourceFile>, Option<usize>)>;

    /// Publishes versions of a table, each as what differs from the one before where that is enough;
    /// returns the promises, those from publishing each in full, the tables, and how many were published
    /// as what differs.
    fn publish_both_ways(versions: Versions) -> (Promises, Promises, Vec<Table>, usize) {
        let (mut changed, mut whole) = (Promises::default(), Promises::default());
        let (mut near, mut all) = (Neighbourhood::default(), Neighbourhood::default());
        let mut last: Option<(usize, Vec<SourceFile>)> = None;
        let (mut tables, mut count): (Vec<Table>, usize) = (Vec::new(), 0);
        for (commit, (files, stated)) in versions.into_iter().enumerate() {
            let stated = stated.map(|number| Statement::retarget(&format!("c{number}")));
            changed.state(commit, stated.clone());
            whole.state(commit, stated);
            let Some(table) = compile_after(&files, tables.last()).table else {
                continue;
            };
            let before = last
                .as_ref()
                .map(|(commit, _)| (*commit, tables.last().unwrap()));
            whole.publish(commit, &table, before.as_slice(), &mut all);
            let difference = before.and_then(|(_, before)| {
                let old = &last.as_ref()?.1;
                let same = |(old, new): (&SourceFile, &SourceFile)| old.path == new.path;
                if old.len() != files.len() || !old.iter().zip(&files).all(same) {
                    return None;
                }
                let pairs = old
                    .iter()
                    .zip(&files)
                    .filter(|(old, new)| old.bytes != new.bytes);
                let files = pairs.map(|(old, new)| {
                    Some(ChangedFile {
                        path: new.path.clone(),
                        list: ListPlace::of(&old.bytes)?,
                        old: &old.bytes,
                        new: &new.bytes,
                    })
                });
                Outset::of(before).difference(&files.collect::<Option<Vec<_>>>()?)
            });
            let is_published =
                difference.is_some_and(|it| changed.publish_difference(commit, &it, &mut near));
            count += usize::from(is_published);
            if !is_published {
                changed.publish(commit, &table, before.as_slice(), &mut near);
            }
            tables.push(table);
            last = Some((commit, files));
        }
        (changed, whole, tables, count)
    }

    #[track_caller]
    fn assert_same(changed: &Promises, whole: &Promises, tables: &[Table]) {
        let none = Statements::default();
        for table in tables {
            assert_eq!(changed.broken(table, &none), whole.broken(table, &none));
            assert_eq!(
                changed.shadowing(table, &none),
                whole.shadowing(table, &none)
            );
        }
    }

    #[test]
    fn usual_changes_are_published_as_what_differs() {
        let entry = |number: usize| match number % 3 {
            0 => format!("- url: https://e.org/{number}\n  short-code: code-{number}\n"),
            1 => format!("- url: https://e.org/{number}\n"),
            _ => format!("- url: https://e.org/{number}\n  number: {number}\n"),
        };
        let file = |entries: &[String]| {
            let text = format!("base_url: https://e.com/\nmapping:\n{}", entries.concat());
            vec![SourceFile::new("t.yaml".into(), text.into_bytes())]
        };
        let mut entries: Vec<_> = (0..100).map(entry).collect();
        let mut versions = vec![(file(&entries), None)];
        for at in [0, 50, 99, 3] {
            entries.insert(
                at,
                format!("- url: https://new.org/{at}\n  short-code: new-{at}\n"),
            );
            versions.push((file(&entries), None));
            entries[at] = entries[at].replace("new.org", "newer.org");
            versions.push((file(&entries), None));
            entries.remove(at + 1);
            versions.push((file(&entries), None));
        }
        let all = versions.len();
        let (changed, whole, tables, count) = publish_both_ways(versions);
        assert_eq!(count, all - 1);
        assert!(
            !changed
                .broken(tables.last().unwrap(), &Statements::default())
                .is_empty()
        );
        assert_same(&changed, &whole, &tables);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_differs_has_the_effect_of_the_whole_table(
            files in prop::collection::vec(a_file(40), 1..3),
            edits in prop::collection::vec(
                (any::<Index>(), an_edit(), prop::option::weighted(0.2, 0..50_usize)),
                1..16,
            ),
        ) {
            let mut files: Vec<_> = files.into_iter().enumerate().collect();
            let mut versions = vec![(source(&files), None)];
            for (at, edit, stated) in edits {
                apply(edit, at, &mut files);
                versions.push((source(&files), stated));
            }
            let (changed, whole, tables, _) = publish_both_ways(versions);
            assert_same(&changed, &whole, &tables);
        }
    }
}
