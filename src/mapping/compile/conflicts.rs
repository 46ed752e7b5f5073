//! Code conflicts: codes that several entries of a site claim.
//!
//! The first entry in the order of files and lines keeps the code, and the problem is reported at
//! the others. An entry that loses its own code is left out entirely; one that loses an alias
//! stays.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::case_conflicts::{is_in_case_conflict, report_case_conflicts};
use super::entries::NOT_CANONICAL;
use super::shared::{first_at, report_changed_sharing, report_shared_targets};
use crate::mapping::packed::{ChangedSite, CodeKind, Draft, Entry, Record, Site};
use crate::mapping::value::{Code, Diagnostic, KEY_REST, Place, Problems, Rule, code_of_key};

/// Decides which entry keeps each code, and reports targets that several entries share.
///
/// The site was built from the draft, and its listed codes are those of the draft in the same
/// order, which is kept.
pub(crate) fn settle(site: &mut Site, draft: &mut Draft, problems: &mut Problems) {
    report_not_canonical(site, draft, 0..site.codes.listed().len(), problems);
    let mut conflicts = CodeConflicts {
        site,
        draft,
        problems,
        holders: HashMap::new(),
        losers: HashSet::new(),
        lost: HashSet::new(),
        collisions: Vec::new(),
    };
    let in_conflict = codes_in_conflict(conflicts.site);
    for (entry, numbers) in claimants(conflicts.site, &in_conflict) {
        conflicts.decide(conflicts.site.entry(entry), &numbers, &in_conflict);
    }
    let CodeConflicts {
        losers,
        lost,
        collisions,
        ..
    } = conflicts;
    if !losers.is_empty() || !lost.is_empty() {
        let listed = site.codes.listed().iter().enumerate();
        let stays: Vec<_> = listed
            .map(|(number, listed)| !losers.contains(&listed.entry) && !lost.contains(&number))
            .collect();
        site.remove(&losers, &lost);
        let mut stays = stays.into_iter();
        draft.codes.retain(|_| stays.next().unwrap_or_default());
    }
    hint_at_free_codes(site, collisions, problems);
    report_case_conflicts(site, draft, problems);
    report_shared_targets(site, problems);
}

/// Does the same as [`settle`] for the next version of a site without conflicts and its draft;
/// returns whether it has no conflicts either. If it has some, nothing was decided.
///
/// Only entries that were added can be in conflict.
pub(crate) fn settle_changed(
    changed: &mut ChangedSite,
    old: &Site,
    draft: &Draft,
    problems: &mut Problems,
) -> bool {
    let ChangedSite {
        site,
        added,
        added_codes,
        ..
    } = changed;
    let is_taken = |&entry: &u32| {
        let entry = site.entry(entry);
        let code = entry.shape().is_hashed.then(|| entry.code());
        code.is_some_and(|code| {
            site.hashed(&code).nth(1).is_some() || site.codes.find(&code).is_some()
        })
    };
    let is_listed_twice = |&number: &u32| {
        let code = site.codes.text(site.codes.listed()[number as usize]);
        site.codes.number_of(code) != Some(number)
            || site.hashed(code).next().is_some()
            || is_in_case_conflict(site, number)
    };
    if added.iter().any(is_taken) || added_codes.iter().any(is_listed_twice) {
        return false;
    }
    let numbers = added_codes.iter().map(|&number| number as usize);
    report_not_canonical(site, draft, numbers, problems);
    report_changed_sharing(site, old, added, problems);
    true
}

/// Warns of auto codes of URLs that are not canonical; `numbers` are those of the draft's codes in the
/// site.
fn report_not_canonical(
    site: &Site,
    draft: &Draft,
    numbers: impl Iterator<Item = usize>,
    problems: &mut Problems,
) {
    let listed = numbers.map(|number| site.codes.listed()[number]);
    let listed = draft.codes.iter().zip(listed);
    for (code, listed) in listed.filter(|(code, _)| code.kind == CodeKind::Auto) {
        let entry = site.entry(listed.entry);
        let target = entry.target().unwrap_or_default();
        if draft.code_texts.get(code.text) == target {
            continue;
        }
        // The code is derived from the URL as written, and a published link must not change.
        let code = site
            .scheme()
            .code(draft.code_texts.get(code.text))
            .as_yaml();
        let hint = format!("write {target:?}, and keep its code with \"short-code: {code}\"");
        let problem = Diagnostic::new(Rule::UrlNotCanonical, entry.place_of_url(), NOT_CANONICAL);
        problems.push(problem.with_hint(hint));
    }
}

/// Returns the codes that are claimed more than once.
fn codes_in_conflict(site: &Site) -> HashSet<String> {
    let mut in_conflict = HashSet::new();
    let is_hashed = |record: &Record| site.shapes.of(record).is_hashed;
    let mut before = None;
    let records = site.index.numbers_by_key();
    let records = records.map(|number| site.index.record(number));
    for record in records.filter(is_hashed) {
        let value = record.key >> KEY_REST;
        if before.replace(value) == Some(value) {
            in_conflict.insert(code_of_key(record.key).to_string());
        }
    }
    for (number, &listed) in (0..).zip(site.codes.listed()) {
        let code = site.codes.text(listed);
        if site.codes.number_of(code) != Some(number) || site.hashed(code).next().is_some() {
            in_conflict.insert(code.to_owned());
        }
    }
    in_conflict
}

/// Returns the entries that claim a code in conflict, in written order, each with the numbers of
/// its listed codes.
fn claimants(site: &Site, in_conflict: &HashSet<String>) -> Vec<(u32, Vec<usize>)> {
    let mut claimants = BTreeMap::new();
    if in_conflict.is_empty() {
        return Vec::new();
    }
    let hashed = in_conflict.iter().flat_map(|code| site.hashed(code));
    let listed = site.codes.listed().iter();
    let listed = listed.filter(|&&listed| in_conflict.contains(site.codes.text(listed)));
    for entry in hashed.chain(listed.map(|listed| site.entry(listed.entry))) {
        claimants.insert(entry.written(), (entry.number(), Vec::new()));
    }
    for (number, listed) in site.codes.listed().iter().enumerate() {
        if let Some((_, numbers)) = claimants.get_mut(&site.entry(listed.entry).written()) {
            numbers.push(number);
        }
    }
    claimants.into_values().collect()
}

struct CodeConflicts<'c> {
    site: &'c Site,
    draft: &'c Draft,
    problems: &'c mut Problems,
    /// The entries that keep each code in conflict, as far as decided.
    holders: HashMap<String, u32>,
    losers: HashSet<u32>,
    lost: HashSet<usize>,
    collisions: Vec<Collision>,
}

/// An auto code that another target keeps. The hint is the next free code, which is known only
/// after all other decisions.
struct Collision {
    problem: usize,
    code: String,
}

impl CodeConflicts<'_> {
    /// Decides which of its codes an entry keeps.
    fn decide(&mut self, entry: Entry<'_>, numbers: &[usize], in_conflict: &HashSet<String>) {
        let code = entry.code();
        if in_conflict.contains(&*code) {
            if let Some(&holder) = self.holders.get(&*code) {
                self.losers.insert(entry.number());
                return self.refuse(entry, self.site.entry(holder), numbers);
            }
            self.holders.insert(code.into_owned(), entry.number());
        }
        let site = self.site;
        for &number in numbers {
            let listed = site.codes.listed()[number];
            let alias = site.codes.text(listed);
            if listed.kind != CodeKind::Alias || !in_conflict.contains(alias) {
                continue;
            }
            let Some(&holder) = self.holders.get(alias) else {
                self.holders.insert(alias.to_owned(), entry.number());
                continue;
            };
            self.lost.insert(number);
            let mut place = entry.place();
            place.position = self.draft.codes[number].position;
            self.problems.push(if holder == entry.number() {
                let message = format!("the entry already has the code {alias:?}");
                Diagnostic::new(Rule::AliasTwice, place, message).with_hint("leave it out")
            } else {
                taken(place, alias, site.entry(holder)).with_hint("choose another code")
            });
        }
    }

    /// Reports the reason why an entry does not get its own code.
    fn refuse(&mut self, entry: Entry<'_>, holder: Entry<'_>, numbers: &[usize]) {
        if holder.says_the_same_as(entry) {
            let message = "this entry is in the table twice";
            let problem = Diagnostic::new(Rule::EntryTwice, entry.place(), message);
            self.problems.push(problem.with_hint(first_at(holder)));
            return;
        }
        let own = numbers.iter().find_map(|&number| {
            let listed = self.site.codes.listed()[number];
            (listed.kind != CodeKind::Alias).then_some((number, listed.kind))
        });
        let mut place = entry.place_of_url();
        if let Some((number, _)) = own {
            place.position = self.draft.codes[number].position;
        }
        let code = entry.code();
        let problem = taken(place, &code, holder);
        let leads_elsewhere = holder.target() != entry.target();
        let is_auto = own.is_none_or(|(_, kind)| kind == CodeKind::Auto);
        let hint = match (leads_elsewhere, is_auto) {
            (true, true) => String::new(),
            (true, false) => "choose another code".to_owned(),
            (false, _) if leads_apart(holder, entry) => {
                "keep one of the two: they lead other requests to different URLs".to_owned()
            }
            (false, _) => "make one entry of the two: they lead to the same target".to_owned(),
        };
        let reported = self.problems.push(problem.with_hint(hint));
        if leads_elsewhere && is_auto {
            let code = code.into_owned();
            self.collisions
                .extend(reported.map(|problem| Collision { problem, code }));
        }
    }
}

/// Returns whether two entries with one target differ in where paths below their code lead, or variants.
fn leads_apart(one: Entry<'_>, other: Entry<'_>) -> bool {
    one.below() != other.below() || !one.variants().eq(other.variants())
}

/// Names the next free code for each entry that lost its own to another target.
fn hint_at_free_codes(site: &Site, collisions: Vec<Collision>, problems: &mut Problems) {
    let mut promised: HashSet<Code> = HashSet::new();
    // Maps a code to a later one with no free code between them: with crafted URLs of one hash,
    // many entries look for a code from the same start.
    let mut farther: HashMap<String, Code> = HashMap::new();
    for Collision { problem, mut code } in collisions {
        let is_free =
            |code: &Code| site.lookup(code.as_str()).is_none() && !promised.contains(code);
        let mut passed = Vec::new();
        // There is always one: there are more codes than entries.
        let free = loop {
            let known = farther.get(&code).cloned();
            let next = known.or_else(|| site.scheme().probe(&code).next());
            passed.push(code);
            match next {
                Some(next) if !is_free(&next) => code = next.to_string(),
                free => break free,
            }
        };
        let Some(free) = free else { continue };
        farther.extend(passed.into_iter().map(|code| (code, free.clone())));
        let hint = format!("add \"short-code: {}\", the next free code", free.as_yaml());
        problems.set_hint(problem, hint);
        promised.insert(free);
    }
}

fn taken(place: Place, code: &str, holder: Entry<'_>) -> Diagnostic {
    let message = format!(
        "the code {code:?} is taken by the entry at {}",
        holder.place()
    );
    Diagnostic::new(Rule::CodeTaken, place, message)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use crate::mapping::compile;
    use crate::mapping::value::{Rule, Scheme, SourceFile};

    /// An entry: its target, its code if not its auto code, its aliases, whether retired.
    type Written = (usize, Option<usize>, Vec<usize>, bool);

    const TARGETS: [&str; 3] = ["https://e.org/a", "https://e.org/b", "https://e.org/c"];

    /// Returns a code that people may write, including the auto code of a target.
    fn custom(number: usize) -> String {
        match number {
            0 => auto(0),
            _ => format!("c{number}"),
        }
    }

    fn auto(target: usize) -> String {
        Scheme::Sha256.code(TARGETS[target]).to_string()
    }

    fn yaml(entries: &[Written]) -> String {
        let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
        for (target, code, aliases, retired) in entries {
            let code = code.map_or("~".to_owned(), custom);
            let aliases: Vec<_> = aliases.iter().map(|&alias| custom(alias)).collect();
            let url = TARGETS[*target];
            write!(
                text,
                "- {{url: \"{url}\", aliases: [{}]",
                aliases.join(", ")
            )
            .unwrap();
            if code != "~" {
                write!(text, ", short-code: {code}").unwrap();
            }
            let retired = if *retired { ", retired: true" } else { "" };
            writeln!(text, "{retired}}}").unwrap();
        }
        text
    }

    /// Returns the reports, by line, for entries that get their codes one after another.
    fn one_by_one(entries: &[Written]) -> Vec<(usize, Rule)> {
        let mut reported = Vec::new();
        let mut holders: Vec<(String, usize)> = Vec::new();
        let mut live: Vec<usize> = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let (target, code, aliases, retired) = entry;
            let line = number + 3;
            let own = code.map_or_else(|| auto(*target), custom);
            let holder = |holders: &[(String, usize)], code: &str| {
                holders
                    .iter()
                    .find(|(taken, _)| taken == code)
                    .map(|taken| taken.1)
            };
            if let Some(first) = holder(&holders, &own) {
                let (other, other_code, other_aliases, other_retired) = &entries[first];
                let other_own = other_code.map_or_else(|| auto(*other), custom);
                let is_same = (target, &own, aliases, retired)
                    == (other, &other_own, other_aliases, other_retired);
                reported.push((
                    line,
                    if is_same {
                        Rule::EntryTwice
                    } else {
                        Rule::CodeTaken
                    },
                ));
                continue;
            }
            holders.push((own, number));
            if !retired {
                if live.contains(target) {
                    reported.push((line, Rule::TargetShared));
                }
                live.push(*target);
            }
            for &alias in aliases {
                match holder(&holders, &custom(alias)) {
                    None => holders.push((custom(alias), number)),
                    Some(holder) if holder == number => reported.push((line, Rule::AliasTwice)),
                    Some(_) => reported.push((line, Rule::CodeTaken)),
                }
            }
        }
        reported
    }

    fn reported(entries: &[Written]) -> Vec<(usize, Rule)> {
        let compilation = compile(&[SourceFile {
            path: "t.yaml".into(),
            bytes: yaml(entries).into_bytes(),
        }]);
        let diagnostics = compilation.diagnostics.iter();
        diagnostics
            .map(|it| (it.place.position.line as usize, it.rule))
            .collect()
    }

    proptest! {
        #[test]
        fn entries_get_their_codes_as_if_one_by_one(
            entries in prop::collection::vec(
                (
                    0..TARGETS.len(),
                    prop::option::of(0..4_usize),
                    prop::collection::vec(0..4_usize, 0..3),
                    any::<bool>(),
                ),
                1..7,
            ),
        ) {
            let (mut expected, mut reported) = (one_by_one(&entries), reported(&entries));
            expected.sort_unstable();
            reported.sort_unstable();
            prop_assert_eq!(reported, expected, "{}", yaml(&entries));
        }
    }
}
