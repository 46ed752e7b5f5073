//! Accounts: a check, from text alone, that a merge lost nothing and invented nothing.
//!
//! The contents of the entries are taken as a set of facts, and all other text as lines. A fact is
//! in the result exactly if both sides have it, or if one side added it; the number of times a line
//! occurs follows from both sides' changes to that number. How the merge was done does not matter.

use std::collections::{BTreeMap, BTreeSet};

use super::sides::Sides;
use crate::edit::layout::{Layout, LayoutEntry};
use crate::edit::replace::replace;
use crate::mapping::{Code, Pair};

/// A code, a key, and a value or an item of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact(String, String, String);

/// Returns the facts that the keys of an entry state.
pub(super) fn facts(code: &Code, pairs: &[Pair<'_>]) -> Vec<Fact> {
    let facts = pairs.iter().flat_map(|pair| {
        // An empty list is a fact too.
        let nothing = pair.values.is_empty().then_some("");
        let values = pair.values.iter().map(|value| &*value.text);
        let fact = |value: &str| Fact(code.to_string(), pair.key.to_string(), value.to_owned());
        values.chain(nothing).map(fact)
    });
    facts.collect()
}

/// Returns the facts that a result should contain.
pub(super) fn merged(sides: Sides<&BTreeSet<Fact>>) -> BTreeSet<Fact> {
    let Sides { base, ours, theirs } = sides;
    let both = ours.intersection(theirs);
    let new = ours
        .symmetric_difference(theirs)
        .filter(|it| !base.contains(it));
    both.chain(new).cloned().collect()
}

/// The contents of a document.
#[derive(Debug, PartialEq)]
pub(super) struct Account {
    facts: BTreeSet<Fact>,
    /// Comments and all lines outside entries, with their numbers of occurrences.
    lines: BTreeMap<String, i64>,
}

impl Account {
    /// Returns the account of a document.
    pub(super) fn of(layout: &Layout<'_>) -> Self {
        let mut account = Self {
            facts: BTreeSet::new(),
            lines: BTreeMap::new(),
        };
        account.lines(layout.before);
        for section in &layout.sections {
            account.lines(section.heading);
            for entry in &section.entries {
                account.lines(entry.comments);
                account.lines(&comments(entry));
                account.facts.extend(facts(&entry.code, &entry.pairs));
            }
        }
        account.lines(layout.after);
        account
    }

    fn lines(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        for line in lines {
            *self.lines.entry(line.to_owned()).or_default() += 1;
        }
    }

    fn count(&self, line: &str) -> i64 {
        self.lines.get(line).copied().unwrap_or_default()
    }
}

/// Returns whether a result without conflicts contains exactly what it should.
pub(super) fn balances(sides: &Sides<Account>, result: &Account) -> bool {
    merged(sides.each().map(|it| &it.facts)) == result.facts
        && lines(sides, result).all(|line| {
            let [least, most] = counts(sides, line);
            (least..=most).contains(&result.count(line))
        })
}

/// Returns whether the result contains what it should whichever way each conflict is decided, and
/// nothing that is in neither side.
pub(super) fn covers(sides: &Sides<Account>, results: [&Account; 2]) -> bool {
    let [one, other] = results;
    let is_from_a_side =
        |fact| sides.ours.facts.contains(fact) || sides.theirs.facts.contains(fact);
    let has = |fact| one.facts.contains(fact) || other.facts.contains(fact);
    let expected = merged(sides.each().map(|it| &it.facts));
    expected.iter().all(has)
        && one.facts.union(&other.facts).all(is_from_a_side)
        && results.iter().all(|result| {
            lines(sides, result).all(|line| {
                let is_from_a_side = sides.ours.count(line) + sides.theirs.count(line) > 0;
                let most = one.count(line).max(other.count(line));
                most >= counts(sides, line)[0] && (is_from_a_side || most == 0)
            })
        })
}

fn lines<'a>(sides: &'a Sides<Account>, result: &'a Account) -> impl Iterator<Item = &'a str> {
    let accounts = [&sides.base, &sides.ours, &sides.theirs, result];
    accounts
        .into_iter()
        .flat_map(|it| it.lines.keys().map(String::as_str))
}

/// Returns the least and the greatest number of times that a line may occur in a result: where both
/// sides added or both removed lines, these may be the same ones.
fn counts(sides: &Sides<Account>, line: &str) -> [i64; 2] {
    let count = sides.each().map(|account| account.count(line));
    let (ours, theirs) = (count.ours - count.base, count.theirs - count.base);
    let sum = ours + theirs;
    let [least, most] = if ours > 0 && theirs > 0 {
        [ours.max(theirs), sum]
    } else if ours < 0 && theirs < 0 {
        [sum, ours.min(theirs)]
    } else {
        [sum, sum]
    };
    [count.base + least, count.base + most]
}

/// Returns the comments in the lines of an entry.
pub(super) fn comments(entry: &LayoutEntry<'_>) -> String {
    let values = entry.pairs.iter().flat_map(|pair| &pair.values);
    let body = replace(&entry.body, values.map(|value| (value.span.clone(), "")));
    let comments = body
        .lines()
        .filter_map(|line| Some(&line[line.find('#')?..]));
    comments.map(|comment| format!("{comment}\n")).collect()
}
