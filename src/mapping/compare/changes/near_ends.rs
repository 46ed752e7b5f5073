//! Links that expire soon because of a change: those that it adds or changes, and whose `expires`
//! is past or near.
//!
//! Only changed entries are reported: the check of an unchanged table must not begin to fail on its
//! own.

use std::collections::BTreeMap;

use super::change::ChangeKind;
use super::diff::compare;
use crate::mapping::packed::{Entry, Table};
use crate::mapping::value::{Diagnostic, Place, Rule, Timestamp};

const DAY: i64 = 86_400;

/// The number of days within which an end is near.
const NEAR: i64 = 30;

/// Returns a warning for each entry that is new, or whose `expires` is, if it has expired or will
/// within 30 days.
pub fn near_ends(old: &Table, new: &Table, now: Timestamp) -> Vec<Diagnostic> {
    let changes = compare(old, new);
    let dated = changes
        .iter()
        .filter(|change| matches!(change.kind, ChangeKind::Added | ChangeKind::Expiry));
    // An entry with several codes has several changes.
    let entries: BTreeMap<Place, Entry<'_>> = dated
        .filter_map(|change| change.new)
        .map(|entry| (entry.place(), entry))
        .collect();
    let near = entries.into_values();
    near.filter_map(|entry| near_end(entry, now)).collect()
}

fn near_end(entry: Entry<'_>, now: Timestamp) -> Option<Diagnostic> {
    let end = entry.expires().filter(|_| !entry.is_retired())?;
    let left = end.unix().saturating_sub(now.unix());
    let (code, last) = (entry.code(), last_moment(end));
    let (rule, message, hint) = match left {
        ..=0 => (
            Rule::ExpiryPast,
            format!("the code {code:?} has expired: it was valid through {last}"),
            "is the year right? if the link should be gone, write \"retired: true\"",
        ),
        left if left <= NEAR * DAY => (
            Rule::ExpiryNear,
            format!("the code {code:?} expires soon: it is valid through {last}"),
            "is the year right? people follow printed or sent links for years",
        ),
        _ => return None,
    };
    Some(Diagnostic::new(rule, entry.place(), message).with_hint(hint))
}

/// Returns the last day of a validity that ends with a day in UTC, and otherwise its end.
fn last_moment(end: Timestamp) -> String {
    match end.unix().rem_euclid(DAY) {
        0 => Timestamp::from_unix(end.unix() - DAY).to_string()[..10].to_owned(),
        _ => end.to_string(),
    }
}
