//! Comparison of two tables by meaning: which codes were added, removed, or lead elsewhere.
//!
//! Sites are matched as requests choose them, by host and base path, so the scheme and port of a
//! base URL do not count. Files, lines and the order of entries do not count either. An entry that
//! says the same in both tables costs nothing in a piece that both have, and otherwise two lookups; all
//! other code here is for the few that differ.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use super::change::{Change, ChangeKind, differences};
use crate::mapping::compare::breaches::{folds_case, is_taken_down};
use crate::mapping::compare::compared::SitePair;
use crate::mapping::packed::{Entry, Table, TargetParts};

/// Returns the changes from one table to another, the most serious first, then by code.
pub fn compare<'t>(old: &'t Table, new: &'t Table) -> Vec<Change<'t>> {
    let by_address = |table: &'t Table| -> HashMap<_, _> {
        let sites = table.sites().iter();
        sites.map(|site| (site.address(), site)).collect()
    };
    let (before, now) = (by_address(old), by_address(new));
    let mut changes = Vec::new();
    for site in old.sites() {
        SitePair::of(Some(site), now.get(&site.address()).copied()).compare(new, &mut changes);
    }
    for site in new.sites() {
        if !before.contains_key(&site.address()) {
            SitePair::of(None, Some(site)).compare(new, &mut changes);
        }
    }
    // Several sites may have the same code: its changes keep the order of the sites.
    changes.sort_by(|one, other| (one.kind, &one.code).cmp(&(other.kind, &other.code)));
    changes
}

/// The new entries that may be old ones under another code.
struct Successors<'t> {
    /// Entries with new codes, by their targets, in written order.
    waiting: HashMap<TargetParts<'t>, VecDeque<Entry<'t>>>,
    /// The numbers of the entries found to be successors.
    taken: HashSet<u32>,
}

impl<'t> SitePair<'t> {
    /// Adds the changes of a site to those of the new table.
    fn compare(&self, table: &'t Table, changes: &mut Vec<Change<'t>>) {
        let (old, new) = self.touched();
        let mut successors = Successors {
            waiting: HashMap::new(),
            taken: HashSet::new(),
        };
        let is_folding = self.new.site().is_some_and(folds_case);
        let is_known = |code: &str| match is_folding {
            true => self.old.lookup_in_any_case(code).is_some(),
            false => self.old.lookup(code).is_some(),
        };
        // If no code is gone, there is nothing to inherit.
        let candidates = if old.is_empty() { &[] } else { &new[..] };
        for &entry in candidates {
            let own = self.new.codes(entry).next();
            if let Some(target) = entry.target_parts()
                && own.is_some_and(|code| !is_known(&code))
            {
                successors
                    .waiting
                    .entry(target)
                    .or_default()
                    .push_back(entry);
            }
        }
        for entry in old {
            let is_takedown = is_taken_down(entry, table, &HashSet::new());
            self.compare_old((entry, is_takedown), &mut successors, changes);
        }
        for entry in new {
            self.compare_new(entry, &successors, changes);
        }
    }

    /// Returns the old and the new entries without an equal entry on the other side.
    fn touched(&self) -> (Vec<Entry<'t>>, Vec<Entry<'t>>) {
        let mut new: Vec<_> = self.new_entries().collect();
        let mut has_like = vec![false; new.len()];
        let mut old: Vec<_> = self.old_entries().collect();
        old.retain(|entry| {
            let like = self.like(*entry);
            let place = like.map(|like| new.binary_search_by_key(&like.number(), Entry::number));
            if let Some(Ok(place)) = place {
                has_like[place] = true;
            }
            like.is_none()
        });
        let mut has_like = has_like.into_iter();
        new.retain(|_| !has_like.next().unwrap_or_default());
        old.sort_unstable_by_key(Entry::written);
        new.sort_unstable_by_key(Entry::written);
        (old, new)
    }

    /// Returns the new entry that says the same as an old one.
    fn like(&self, old: Entry<'t>) -> Option<Entry<'t>> {
        let mut codes = self.old.codes(old).peekable();
        let new = self.new.lookup(codes.peek()?)?;
        (new.agrees_with(old) && self.new.codes(new).eq(codes)).then_some(new)
    }

    /// Reports the changes to an old entry and to each of its codes.
    fn compare_old(
        &self,
        (old, is_takedown): (Entry<'t>, bool),
        successors: &mut Successors<'t>,
        changes: &mut Vec<Change<'t>>,
    ) {
        let mut lost = Vec::new();
        // Several codes of an entry mostly lead to a single entry, which is compared once.
        let mut met: Vec<Entry<'_>> = Vec::new();
        for (at, code) in self.old.codes(old).enumerate() {
            let Some(new) = self.new.lookup_in_any_case(&code) else {
                lost.push((at == 0, code));
                continue;
            };
            if at == 0 && self.new.lookup(&code).is_none() {
                successors.taken.insert(new.number());
                changes.push(Change {
                    kind: ChangeKind::Renamed,
                    code: code.clone(),
                    old: Some(old),
                    new: Some(new),
                    is_takedown,
                });
            }
            if met.iter().all(|entry| entry.number() != new.number()) {
                met.push(new);
                changes.extend(differences(old, new).map(|kind| Change {
                    kind,
                    code: code.clone(),
                    old: Some(old),
                    new: Some(new),
                    is_takedown,
                }));
            }
        }
        for (is_own, code) in lost {
            let successor = is_own.then(|| successors.of(old, &met)).flatten();
            let kind = match successor {
                Some(_) => ChangeKind::Renamed,
                None if is_own || met.is_empty() => ChangeKind::Removed,
                None => ChangeKind::AliasLost,
            };
            met.extend(successor);
            changes.push(Change {
                kind,
                code,
                old: Some(old),
                new: successor,
                is_takedown,
            });
        }
    }

    /// Reports the codes of a new entry that are new.
    fn compare_new(
        &self,
        new: Entry<'t>,
        successors: &Successors<'t>,
        changes: &mut Vec<Change<'t>>,
    ) {
        let codes = || self.new.codes(new).enumerate();
        let is_renamed = successors.taken.contains(&new.number());
        let led_here = |(at, code): (usize, Cow<'_, str>)| {
            let before = self.old.lookup_in_any_case(&code);
            before.is_some_and(|old| at == 0 || old.target_parts() == new.target_parts())
        };
        let was_there = is_renamed || codes().any(led_here);
        for (at, code) in codes() {
            if self.old.lookup_in_any_case(&code).is_some() || (is_renamed && at == 0) {
                continue;
            }
            changes.push(Change {
                kind: match was_there {
                    true => ChangeKind::AliasGained,
                    false => ChangeKind::Added,
                },
                code,
                old: None,
                new: Some(new),
                is_takedown: false,
            });
        }
    }
}

impl<'t> Successors<'t> {
    /// Finds the entry that has the target of one whose code is gone: an entry that has another of
    /// its codes, or otherwise a new one.
    fn of(&mut self, old: Entry<'t>, met: &[Entry<'t>]) -> Option<Entry<'t>> {
        let target = old.target_parts()?;
        let same = |entry: &Entry<'_>| entry.target_parts() == old.target_parts();
        let successor = met.iter().copied().find(same).or_else(|| {
            let waiting = self.waiting.get_mut(&target)?;
            std::iter::from_fn(|| waiting.pop_front())
                .find(|entry| !self.taken.contains(&entry.number()))
        })?;
        self.taken.insert(successor.number());
        Some(successor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::packed::Site;
    use crate::mapping::value::SourceFile;
    use proptest::prelude::*;

    fn table(files: &[&str]) -> Table {
        let file = |(number, text): (usize, &&str)| SourceFile {
            path: format!("{number}.yaml").into(),
            bytes: text.as_bytes().to_vec(),
        };
        let files: Vec<_> = files.iter().enumerate().map(file).collect();
        let compilation = compile(&files);
        compilation
            .table
            .unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    fn site(entries: &str) -> Table {
        let mapping = if entries.is_empty() { " []" } else { "\n" };
        table(&[&format!(
            "base_url: https://short.code/\nmapping:{mapping}{entries}"
        )])
    }

    fn reported(old: &Table, new: &Table) -> Vec<String> {
        let changes = compare(old, new);
        let none = || "none".to_owned();
        let report = |change: &Change<'_>| {
            let (before, after) = (change.before(), change.after());
            format!(
                "{} {}: {} → {}",
                change.kind,
                change.code,
                before.unwrap_or_else(none),
                after.unwrap_or_else(none)
            )
        };
        changes.iter().map(report).collect()
    }

    const A: &str = "- url: https://a.example/\n  short-code: a\n";
    const B: &str = "- url: https://b.example/\n  short-code: b\n";

    /// Checks the changes between two tables, and those in the reverse direction.
    #[track_caller]
    fn both_ways(old: &str, new: &str, there: &[&str], back: &[&str]) {
        let (old, new) = (site(old), site(new));
        assert_eq!(reported(&old, &new), there);
        assert_eq!(reported(&new, &old), back);
    }

    #[test]
    fn entries_come_and_go() {
        both_ways(
            A,
            &format!("{A}{B}"),
            &["added b: none → https://b.example/"],
            &["removed b: https://b.example/ → none"],
        );
        both_ways(
            "",
            &format!("{A}  aliases: [x]\n"),
            &[
                "added a: none → https://a.example/",
                "added x: none → https://a.example/",
            ],
            &[
                "removed a: https://a.example/ → none",
                "removed x: https://a.example/ → none",
            ],
        );
    }

    #[test]
    fn codes_lead_elsewhere() {
        both_ways(
            A,
            &A.replace("a.example", "c.example"),
            &["retargeted a: https://a.example/ → https://c.example/"],
            &["retargeted a: https://c.example/ → https://a.example/"],
        );
    }

    #[test]
    fn two_codes_that_swap_tsuccessor_targets_are_retargeted() {
        let swapped = "- url: https://a.example/\n  short-code: b\n\
                       - url: https://b.example/\n  short-code: a\n";
        let there = [
            "retargeted a: https://a.example/ → https://b.example/",
            "retargeted b: https://b.example/ → https://a.example/",
        ];
        let new = site(swapped);
        assert_eq!(reported(&site(&format!("{A}{B}")), &new), there);
    }

    #[test]
    fn codes_are_renamed() {
        both_ways(
            A,
            "- url: https://a.example/\n",
            &["renamed a: a → vv3kmKRb"],
            &["renamed vv3kmKRb: vv3kmKRb → a"],
        );
        // One existed before.
        both_ways(
            &format!("{A}  aliases: [x]\n"),
            &A.replace(": a\n", ": x\n"),
            &["renamed a: a → x"],
            &["alias-gained a: none → https://a.example/"],
        );
    }

    #[test]
    fn codes_in_another_case_are_the_same_where_case_does_not_count() {
        let folded = |entries: &str| {
            table(&[&format!(
                "base_url: https://short.code/\ncase: fold\nmapping:\n{entries}"
            )])
        };
        let upper = format!("{A}  aliases: [X]\n").replace(": a\n", ": A\n");
        let lower = upper.to_lowercase();
        assert_eq!(
            reported(&folded(&upper), &folded(&lower)),
            ["renamed A: A → a"]
        );
        let elsewhere = lower.replace("a.example", "c.example");
        assert_eq!(
            reported(&folded(&upper), &folded(&elsewhere)),
            [
                "renamed A: A → a",
                "retargeted A: https://a.example/ → https://c.example/",
            ]
        );
        // Where it counted, the former spellings still work, and the new ones are new.
        assert_eq!(
            reported(&site(&upper), &folded(&lower)),
            [
                "renamed A: A → a",
                "alias-gained x: none → https://a.example/",
            ]
        );
        assert_eq!(
            reported(&folded(&upper), &site(&lower)),
            [
                "alias-lost X: https://a.example/ → none",
                "renamed A: A → a"
            ]
        );
        // What leads nowhere is named nowhere.
        let old = folded(&upper);
        let new = folded("- short-code: a\n  aliases: [x]\n  retired: true\n");
        let changes = compare(&old, &new);
        assert!(
            !changes.is_empty() && changes.iter().all(|it| it.is_takedown),
            "{changes:?}"
        );
    }

    #[test]
    fn each_new_code_replaces_one_old_one() {
        let two = format!("{A}- url: https://a.example/\n  short-code: b\n");
        both_ways(
            &two,
            "- url: https://a.example/\n  short-code: c\n",
            &["removed b: https://a.example/ → none", "renamed a: a → c"],
            &["renamed c: c → a", "added b: none → https://a.example/"],
        );
    }

    #[test]
    fn aliases_come_and_go() {
        both_ways(
            A,
            &format!("{A}  aliases: [x]\n"),
            &["alias-gained x: none → https://a.example/"],
            &["alias-lost x: https://a.example/ → none"],
        );
        // The old code is kept next to a new one.
        both_ways(
            A,
            "- url: https://a.example/\n  short-code: x\n  aliases: [a]\n",
            &["alias-gained x: none → https://a.example/"],
            &["renamed x: x → a"],
        );
    }

    #[test]
    fn aliases_that_move_lead_elsewhere() {
        both_ways(
            &format!("{A}  aliases: [x]\n{B}"),
            &format!("{A}{B}  aliases: [x]\n"),
            &["retargeted x: https://a.example/ → https://b.example/"],
            &["retargeted x: https://b.example/ → https://a.example/"],
        );
        // The former entry of the code is gone, too.
        both_ways(
            A,
            &format!("{B}  aliases: [a]\n"),
            &[
                "retargeted a: https://a.example/ → https://b.example/",
                "added b: none → https://b.example/",
            ],
            &[
                "removed b: https://b.example/ → none",
                "retargeted a: https://b.example/ → https://a.example/",
            ],
        );
    }

    #[test]
    fn entries_that_merge_mean_the_same() {
        let two = format!("{A}- url: https://a.example/\n  short-code: x\n");
        both_ways(&two, &format!("{A}  aliases: [x]\n"), &[], &[]);
    }

    #[test]
    fn no_target_of_what_was_taken_down_is_named() {
        let old = format!("{A}  aliases: [b]\n");
        let down = "- short-code: b\n  retired: true\n";
        let there = ["removed a: none → none", "retired b: none → retired"];
        assert_eq!(reported(&site(&old), &site(down)), there);
        // The alias leads elsewhere.
        let moved = format!("- short-code: a\n  retired: true\n{B}");
        let there = [
            "retargeted b: none → https://b.example/",
            "retired a: none → retired",
        ];
        assert_eq!(reported(&site(&old), &site(&moved)), there);
        // The base URL changes with it.
        let elsewhere = |entries: &str| {
            table(&[&format!(
                "base_url: https://other.code/\nmapping:\n{entries}"
            )])
        };
        let changes = reported(&site(A), &elsewhere(&down.replace(": b", ": a")));
        assert_eq!(changes, ["removed a: none → none", "added a: none → none"]);
        let changes = reported(&site(A), &elsewhere(A));
        assert_eq!(changes[0], "removed a: https://a.example/ → none");
    }

    #[test]
    fn entries_retire_and_return() {
        both_ways(
            A,
            &format!("{A}  retired: true\n"),
            &["retired a: https://a.example/ → retired"],
            &["un-retired a: retired → https://a.example/"],
        );
        both_ways(
            A,
            "- short-code: a\n  retired: true\n",
            &["retired a: none → retired"],
            &["un-retired a: retired → https://a.example/"],
        );
        both_ways(
            &format!("{A}  retired: 2030-01-01\n"),
            "- short-code: a\n  retired: true\n",
            &[
                "retirement-changed a: retired from 2030-01-01T00:00:00Z → retired",
                "target-dropped a: none → none",
            ],
            &[
                "retargeted a: none → https://a.example/",
                "retirement-changed a: retired → retired from 2030-01-01T00:00:00Z",
            ],
        );
        // Nothing that may name the target is shown for an entry that was taken down.
        both_ways(
            &format!("{A}  aliases: [b]\n  title: t\n  owner: o\n"),
            "- short-code: a\n  retired: true\n  owner: p\n",
            &[
                "alias-lost b: none → none",
                "retired a: none → retired",
                "title-changed a: none → none",
                "owner-changed a: o → p",
            ],
            &[
                "un-retired a: retired → https://a.example/",
                "alias-gained b: none → https://a.example/",
                "title-changed a: none → t",
                "owner-changed a: p → o",
            ],
        );
        both_ways(
            A,
            &format!("{A}  expires: 2029-12-31\n"),
            &["expiry-changed a: none → 2030-01-01T00:00:00Z"],
            &["expiry-changed a: 2030-01-01T00:00:00Z → none"],
        );
    }

    #[test]
    fn properties_change() {
        both_ways(
            A,
            &format!(
                "{A}  status: 301\n  forward: query\n  cache-max-age: 0\n  title: T\n  owner: o\n  \
                 tags: [one, two]\n  archive: https://web.example/\n  below: https://b.example/\n"
            ),
            &[
                "below-changed a: none → https://b.example/",
                "forward-changed a: none → query",
                "status-changed a: 302 → 301",
                "cache-max-age-changed a: 60 → 0",
                "title-changed a: none → T",
                "owner-changed a: none → o",
                "tags-changed a: none → one, two",
                "archive-changed a: none → https://web.example/",
            ],
            &[
                "below-retargeted a: https://b.example/ → none",
                "forward-changed a: query → none",
                "status-changed a: 301 → 302",
                "cache-max-age-changed a: 0 → 60",
                "title-changed a: T → none",
                "owner-changed a: o → none",
                "tags-changed a: one, two → none",
                "archive-changed a: https://web.example/ → none",
            ],
        );
    }

    #[test]
    fn variants_change() {
        let with = |types: &str, url: &str| {
            format!("{A}  variants:\n  - accept: {types}\n    url: https://v.example/{url}\n")
        };
        let (v, w) = (with("text/turtle", "v"), with("text/turtle", "w"));
        both_ways(
            A,
            &v,
            &["variants-changed a: none → text/turtle: https://v.example/v"],
            &["variants-retargeted a: text/turtle: https://v.example/v → none"],
        );
        let moved = "variants-retargeted a: text/turtle: https://v.example/";
        both_ways(
            &v,
            &w,
            &[&format!("{moved}v → text/turtle: https://v.example/w")],
            &[&format!("{moved}w → text/turtle: https://v.example/v")],
        );
        // Browsers would no longer be led to the target.
        let page = "text/html: https://v.example/v";
        both_ways(
            A,
            &with("text/html", "v"),
            &[&format!("variants-retargeted a: none → {page}")],
            &[&format!("variants-retargeted a: {page} → none")],
        );
        let both = "text/n3, text/turtle: https://v.example/v";
        both_ways(
            &v,
            &with("[text/n3, text/turtle]", "v"),
            &[&format!(
                "variants-changed a: text/turtle: https://v.example/v → {both}"
            )],
            &[&format!(
                "variants-retargeted a: {both} → text/turtle: https://v.example/v"
            )],
        );
    }

    #[test]
    fn where_paths_lead_changes() {
        let forwarding = format!("{A}  forward: path\n");
        let below = format!("{A}  below: https://a.example/\n");
        both_ways(
            &forwarding,
            &below,
            &[
                "below-changed a: none → https://a.example/",
                "forward-changed a: path → none",
            ],
            &[
                "below-changed a: https://a.example/ → none",
                "forward-changed a: none → path",
            ],
        );
        let other = format!("{A}  below: https://b.example/\n");
        let moved = "below-retargeted a: https://";
        both_ways(
            &below,
            &other,
            &[&format!("{moved}a.example/ → https://b.example/")],
            &[&format!("{moved}b.example/ → https://a.example/")],
        );
        // Paths of the variant were appended to its own target.
        let variants = "  variants:\n  - accept: text/turtle\n    url: https://v.example/\n";
        both_ways(
            &format!("{forwarding}{variants}"),
            &format!("{below}{variants}"),
            &[
                "below-retargeted a: none → https://a.example/",
                "forward-changed a: path → none",
            ],
            &[
                "below-retargeted a: https://a.example/ → none",
                "forward-changed a: none → path",
            ],
        );
        let of_variant = format!("{below}{variants}    below: https://w.example/\n");
        let shown = "text/turtle: https://v.example/";
        both_ways(
            &format!("{below}{variants}"),
            &of_variant,
            &[&format!(
                "variants-retargeted a: {shown} → {shown}, below: https://w.example/"
            )],
            &[&format!(
                "variants-retargeted a: {shown}, below: https://w.example/ → {shown}"
            )],
        );
        // A takedown is one change.
        let kinds = |old: &str, new: &str| -> Vec<ChangeKind> {
            let (old, new) = (site(old), site(new));
            let changes = compare(&old, &new);
            changes.iter().map(|change| change.kind).collect()
        };
        let dropped = "- short-code: a\n  retired: true\n";
        assert_eq!(kinds(&of_variant, dropped), kinds(A, dropped));
        assert_eq!(kinds(dropped, &of_variant), kinds(dropped, A));
    }

    #[test]
    fn other_places_orders_and_spellings_are_no_change() {
        let old = site(&format!("{A}  aliases: [x, y]\n  tags: [one, two]\n{B}"));
        let head = "base_url: http://short.code:8080/\ndefaults: {status: 302}\nmapping:\n";
        let new = table(&[
            &format!("# Moved.\n{head}{B}  status: 302\n"),
            &format!("{head}\n{A}  tags: [two, one]\n  aliases: [y, x]\n"),
        ]);
        assert!(reported(&old, &new).is_empty());
    }

    #[test]
    fn another_base_url_or_scheme_is_reported_by_its_codes() {
        let old = table(&["base_url: https://short.code/\nmapping:\n- url: https://a.example/\n"]);
        let moved =
            table(&["base_url: https://other.code/\nmapping:\n- url: https://a.example/\n"]);
        assert_eq!(
            reported(&old, &moved),
            [
                "removed vv3kmKRb: https://a.example/ → none",
                "added vv3kmKRb: none → https://a.example/"
            ]
        );
        let derived = site("- url: https://a.example/\ncode-scheme: crc64-xz\n");
        assert_eq!(
            reported(&old, &derived),
            ["renamed vv3kmKRb: vv3kmKRb → 3M5D92Zvnfc"]
        );
    }

    /// Generates the entries of a random table: code, target, alias, whether retired.
    fn entries() -> impl Strategy<Value = Vec<(u8, u8, Option<u8>, bool)>> {
        prop::collection::vec(
            (0..6_u8, 0..4_u8, prop::option::of(6..9_u8), any::<bool>()),
            0..6,
        )
    }

    fn random(entries: &[(u8, u8, Option<u8>, bool)]) -> Table {
        let mut used = HashSet::new();
        let mut text = String::new();
        for &(code, target, alias, is_retired) in entries {
            if !used.insert(code) {
                continue;
            }
            text += &format!("- url: https://{target}.example/\n  short-code: c{code}\n");
            if let Some(alias) = alias.filter(|alias| used.insert(*alias)) {
                text += &format!("  aliases: [c{alias}]\n");
            }
            if is_retired {
                text += "  retired: true\n";
            }
        }
        site(&text)
    }

    proptest! {
        /// Every code that differs is reported, and no other.
        #[test]
        fn reports_all_and_invents_nothing(old in entries(), new in entries()) {
            let (old, new) = (random(&old), random(&new));
            let changes = compare(&old, &new);
            let (old, new) = (&old.sites()[0], &new.sites()[0]);
            for code in (0..9).map(|number| format!("c{number}")) {
                let target = |site: &Site| Some(site.lookup(&code)?.target()?.into_owned());
                let kinds: Vec<_> = (changes.iter().filter(|it| it.code == *code))
                    .map(|it| it.kind)
                    .collect();
                let is = |kinds_of: &[ChangeKind]| kinds.iter().any(|it| kinds_of.contains(it));
                use ChangeKind::*;
                let renamed = changes.iter().any(|it| {
                    it.kind == Renamed && it.after().as_deref() == Some(&code)
                });
                match (target(old), target(new)) {
                    (None, None) => prop_assert!(kinds.is_empty()),
                    (Some(_), None) => prop_assert!(is(&[Removed, AliasLost, Renamed])),
                    (None, Some(_)) => prop_assert!(is(&[Added, AliasGained]) != renamed),
                    (Some(before), Some(now)) => {
                        prop_assert!(!is(&[Removed, AliasLost, Renamed, Added, AliasGained]));
                        // If all codes of an entry lead elsewhere, one is reported.
                        let entry = new.lookup(&code).unwrap();
                        let is_reported = changes.iter().any(|it| {
                            it.kind == Retargeted
                                && it.before().as_ref() == Some(&before)
                                && it.after().as_ref() == Some(&now)
                                && (it.new.unwrap()).number() == entry.number()
                        });
                        prop_assert_eq!(is_reported, before != now);
                    }
                }
            }
            for change in &changes {
                prop_assert_ne!(change.before(), change.after(), "{} {}", change.kind, change.code);
            }
        }
    }
}
