//! Replay: a long history of proposals by several authors, many of them on old branches, each checked
//! against the main branch as it was then.
//!
//! Which of them are refused, and why, is known from a model of who owns what; what is permitted is
//! merged, and the next proposals build on it.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::fixture::Fixture;
use crate::replay::{Random, import};

const PROPOSALS: usize = 160;

/// How many commits of the main branch a proposal may lag behind.
const OLDEST: usize = 6;

const AUTHORS: [&str; 6] = ["root", "alice", "bob", "carol", "mallory", ""];

const OWNERS: [Option<&str>; 4] = [Some("library"), Some("it"), Some("press"), None];

/// An entry: its owner, and its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    owner: Option<&'static str>,
    title: usize,
}

/// The main branch at a commit, or a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tree {
    entries: BTreeMap<usize, Entry>,
    /// By owner.
    authors: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// Whether the entries are written in the opposite order.
    is_reversed: bool,
}

/// What a proposal does.
#[derive(Debug, Clone, Copy)]
enum Action {
    Change(usize),
    Give(usize, Option<&'static str>),
    Remove(usize),
    Add(usize, Option<&'static str>),
    Permit(&'static str, &'static str),
    Reorder,
}

impl Tree {
    fn acts(&self, author: &str, owner: Option<&str>) -> bool {
        let authors = owner.and_then(|owner| self.authors.get(owner));
        author == "root" || authors.is_some_and(|authors| authors.contains(author))
    }

    /// Does what a proposal does; `number` is that of the proposal.
    fn act(&mut self, action: Action, number: usize) {
        match action {
            Action::Change(code) => {
                let entry = self.entries.get_mut(&code);
                entry.into_iter().for_each(|it| it.title = number);
            }
            Action::Give(code, owner) => {
                let entry = self.entries.get_mut(&code);
                entry.into_iter().for_each(|it| it.owner = owner);
            }
            Action::Remove(code) => {
                self.entries.remove(&code);
            }
            Action::Add(code, owner) => {
                let title = number;
                self.entries.insert(code, Entry { owner, title });
            }
            Action::Permit(author, owner) => {
                self.authors.entry(owner).or_default().insert(author);
            }
            Action::Reorder => self.is_reversed = !self.is_reversed,
        }
    }

    fn table(&self) -> String {
        let entries = self.entries.iter().map(|(code, Entry { owner, title })| {
            let owner = owner.map_or_else(String::new, |it| format!("  owner: {it}\n"));
            format!(
                "- url: https://e.example/{code}\n  short-code: c{code}\n  title: t{title}\n{owner}"
            )
        });
        let mut entries: Vec<_> = entries.collect();
        if self.is_reversed {
            entries.reverse();
        }
        format!(
            "base_url: https://short.code/\nmapping:\n{}",
            entries.concat()
        )
    }

    fn owners(&self) -> String {
        let mut text = "admins: [root]\nowners:\n".to_owned();
        for (owner, authors) in &self.authors {
            let authors: Vec<_> = authors.iter().copied().collect();
            let _ = writeln!(text, "  {owner}: [{}]", authors.join(", "));
        }
        text
    }
}

/// Returns the rule that a proposal breaks, if it breaks one.
fn broken(
    before: &Tree,
    now: &Tree,
    after: &Tree,
    action: Action,
    author: &str,
) -> Option<&'static str> {
    let changes = |code: usize| {
        let is_same = after.entries.get(&code) == before.entries.get(&code)
            || after.entries.get(&code) == now.entries.get(&code);
        let known = [before, now]
            .into_iter()
            .filter_map(|it| it.entries.get(&code));
        let may = known.into_iter().all(|it| now.acts(author, it.owner));
        (!is_same && !may).then_some("owner-entry-changed")
    };
    match action {
        Action::Reorder => None,
        Action::Permit(..) => {
            let is_same = [before, now].iter().any(|it| it.owners() == after.owners());
            (!is_same && author != "root").then_some("owner-file-changed")
        }
        Action::Change(code) | Action::Give(code, _) | Action::Remove(code) => changes(code),
        Action::Add(code, owner) => changes(code).or_else(|| {
            let may = owner.is_none() || now.acts(author, owner);
            (!may).then_some("owner-entry-added")
        }),
    }
}

/// Writes a commit for `git fast-import`.
fn commit(stream: &mut String, branch: &str, mark: usize, from: Option<usize>, tree: &Tree) {
    let time = 1_700_000_000 + mark;
    let _ = write!(
        stream,
        "commit refs/heads/{branch}\nmark :{mark}\ncommitter A <a@example.org> {time} +0000\ndata 1\nc\n"
    );
    if let Some(from) = from {
        let _ = writeln!(stream, "from :{from}");
    }
    for (path, text) in [
        ("mapping.yaml", tree.table()),
        ("owners.yaml", tree.owners()),
    ] {
        let _ = writeln!(
            stream,
            "M 100644 inline {path}\ndata {}\n{text}",
            text.len()
        );
    }
}

/// Returns the rules about owners that a check reports.
fn found(fixture: &Fixture, number: usize, author: &str) -> BTreeSet<String> {
    let arguments = format!(
        "check --rev p{number}:mapping.yaml --base m{number} --format json --author {author}"
    );
    let report = fixture.waypost(".", &arguments);
    let (_, rest) = report.split_once("--- stdout\n").unwrap();
    let (stdout, _) = rest.split_once("--- stderr\n").unwrap();
    let document: serde_json::Value = serde_json::from_str(stdout).expect(&report);
    let diagnostics = document["diagnostics"].as_array().unwrap().iter();
    let rules = diagnostics.map(|it| it["rule"].as_str().unwrap().to_owned());
    rules.filter(|rule| rule.starts_with("owner-")).collect()
}

#[test]
fn a_history_of_proposals_is_decided_as_its_owners_say() {
    let mut random = Random(7);
    let people = [
        ("library", "alice"),
        ("it", "bob"),
        ("press", "alice"),
        ("press", "bob"),
    ];
    let mut main = Tree {
        entries: BTreeMap::new(),
        authors: BTreeMap::new(),
        is_reversed: false,
    };
    for (owner, author) in people {
        main.act(Action::Permit(author, owner), 0);
    }
    for code in 0..12 {
        main.act(Action::Add(code, random.pick(&OWNERS)), 0);
    }
    let mut stream = String::new();
    commit(&mut stream, "main", 1, None, &main);
    // The main branch, with the mark of each commit.
    let mut merged = vec![(1, main.clone())];
    let (mut decisions, mut old) = (Vec::new(), 0);
    for number in 1..=PROPOSALS {
        let (tip, now) = merged.last().unwrap().clone();
        let behind = random.below(OLDEST).min(merged.len() - 1);
        let (branched, before) = merged[merged.len() - 1 - behind].clone();
        let author = random.pick(&AUTHORS);
        let codes: Vec<_> = before.entries.keys().copied().collect();
        let code = random.pick(&codes);
        let since = now
            .entries
            .keys()
            .find(|code| !before.entries.contains_key(*code));
        let action = match random.below(12) {
            0..=3 => Action::Change(code),
            4 => Action::Give(code, random.pick(&OWNERS)),
            5 if codes.len() > 4 => Action::Remove(code),
            6 => Action::Permit(
                random.pick(&["carol", "bob", "mallory"]),
                random.pick(&["it", "press", "library"]),
            ),
            7 => Action::Reorder,
            // A code that is taken in the main branch since.
            8..=10 if since.is_some() => Action::Add(*since.unwrap(), random.pick(&OWNERS)),
            _ => Action::Add(100 + number, random.pick(&OWNERS)),
        };
        let mut after = before.clone();
        after.act(action, number);
        let _ = writeln!(stream, "reset refs/heads/m{number}\nfrom :{tip}\n");
        commit(
            &mut stream,
            &format!("p{number}"),
            2 * number,
            Some(branched),
            &after,
        );
        let rule = broken(&before, &now, &after, action, author);
        old += usize::from(before != now);
        if rule.is_none() {
            let mut next = now.clone();
            next.act(action, number);
            commit(&mut stream, "main", 2 * number + 1, Some(tip), &next);
            merged.push((2 * number + 1, next));
        }
        decisions.push((number, author, action, rule));
    }
    let fixture = Fixture::empty();
    import(&fixture, &stream);
    for (number, author, action, rule) in &decisions {
        let expected = rule.iter().map(|&rule| rule.to_owned()).collect();
        let context = format!("proposal {number} of {author:?}: {action:?}");
        assert_eq!(found(&fixture, *number, author), expected, "{context}");
    }
    // Ensures that all decisions occur, also for proposals based on an older main branch.
    for rule in [
        "owner-entry-changed",
        "owner-entry-added",
        "owner-file-changed",
    ] {
        let count = decisions.iter().filter(|it| it.3 == Some(rule)).count();
        assert!(count > 3, "{rule}: {count}");
    }
    assert!(
        merged.len() > PROPOSALS / 4 && old > PROPOSALS / 2,
        "{} {old}",
        merged.len()
    );
}
