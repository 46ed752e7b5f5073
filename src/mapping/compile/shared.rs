//! Shared targets: live targets that several entries of a site reach.

use std::collections::BTreeSet;

use crate::mapping::packed::{Entry, Site};
use crate::mapping::value::{Diagnostic, Problems, Rule};

/// Warns where a live target is already reached by another entry.
pub(super) fn report_shared_targets(site: &mut Site, problems: &mut Problems) {
    let mut shared = Vec::new();
    let mut before = None;
    for number in site.index.numbers_by_key() {
        let entry = site.entry(number);
        let key = entry.key();
        if before.replace(key) != Some(key) {
            sharing(site, entry, &mut shared);
        }
    }
    report(site, shared, problems);
}

/// Does the same for the next version of a site, to which entries were added.
pub(super) fn report_changed_sharing(
    site: &mut Site,
    old: &Site,
    added: &[u32],
    problems: &mut Problems,
) {
    let mut keys: BTreeSet<u64> = old.shared().iter().copied().collect();
    for &number in added {
        let key = site.entry(number).key();
        keys.extend([key, !key]);
    }
    let mut shared = Vec::new();
    for key in keys {
        if let Some(number) = site.index.with_key(key).next() {
            sharing(site, site.entry(number), &mut shared);
        }
    }
    report(site, shared, problems);
}

/// Adds the numbers of the live entries that share a target with an earlier one, and of that one, among
/// those that have the key of an entry, and those with the complement of it.
fn sharing(site: &Site, same: Entry<'_>, shared: &mut Vec<(u32, u32)>) {
    // Each hashed entry has its own key, and so its own target; entries that share a target
    // with one of them have the complement of its key.
    if same.shape().is_hashed {
        return;
    }
    let numbers = site.index.with_key(same.key());
    let numbers = numbers.chain(site.index.with_key(!same.key()));
    if numbers.clone().nth(1).is_none() {
        return;
    }
    let entries = numbers.map(|number| site.entry(number));
    let mut live: Vec<_> = entries
        .filter(|entry| entry.has_target() && !entry.is_retired())
        .collect();
    live.sort_unstable_by_key(Entry::written);
    if let Some((first, others)) = live.split_first() {
        let target = first.target_parts();
        let others = others.iter().filter(|other| other.target_parts() == target);
        shared.extend(others.map(|other| (other.number(), first.number())));
    }
}

/// Reports entries that share the target of an earlier one, in written order.
fn report(site: &mut Site, mut shared: Vec<(u32, u32)>, problems: &mut Problems) {
    shared.sort_unstable_by_key(|&(entry, _)| site.entry(entry).written());
    let mut keys = BTreeSet::new();
    for (entry, first) in shared {
        let (entry, first) = (site.entry(entry), site.entry(first));
        keys.extend([entry.key(), first.key()]);
        let message = format!("this URL already has the code {:?}", first.code());
        let hint = format!(
            "{}: further codes go under its \"aliases\"",
            first_at(first)
        );
        let problem = Diagnostic::new(Rule::TargetShared, entry.place_of_url(), message);
        problems.push(problem.with_hint(hint));
    }
    site.set_shared(keys.into_iter().collect());
}

pub(super) fn first_at(entry: Entry<'_>) -> String {
    format!("it is first at {}", entry.place())
}
