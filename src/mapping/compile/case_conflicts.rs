//! Conflicts of case: short codes and aliases that differ only in case, in a site where that does not
//! count.
//!
//! Auto codes and numbers are found only as they are, so they are in conflict with none.

use crate::mapping::packed::{Draft, Site};
use crate::mapping::value::{Diagnostic, Problems, Rule};

/// Reports the codes that requests would find at an earlier entry. The listed codes of the site are those of
/// the draft, in the same order.
pub(super) fn report_case_conflicts(site: &Site, draft: &Draft, problems: &mut Problems) {
    for (number, written) in (0..).zip(&draft.codes) {
        if !is_in_case_conflict(site, number) {
            continue;
        }
        let listed = site.codes.listed();
        let own = listed[number as usize];
        let code = site.codes.text(own);
        let holder = site.codes.number_in_any_case(code);
        let holder = listed[holder.unwrap_or(number) as usize];
        let other = site.codes.text(holder);
        let entry = site.entry(own.entry);
        let (of_whom, hint) = match holder.entry == own.entry {
            true => (
                "of the same entry".to_owned(),
                "leave it out: requests find the entry in any case",
            ),
            false => (
                format!("of the entry at {}", site.entry(holder.entry).place()),
                "choose another code",
            ),
        };
        let mut place = entry.place();
        place.position = written.position;
        let message = format!("the code {code:?} differs only in case from {other:?} {of_whom}");
        problems.push(Diagnostic::new(Rule::CodeDiffersInCase, place, message).with_hint(hint));
    }
}

/// Returns whether requests find an earlier code that differs from a listed code only in case.
pub(super) fn is_in_case_conflict(site: &Site, number: u32) -> bool {
    let listed = site.codes.listed()[number as usize];
    let found = site.codes.number_in_any_case(site.codes.text(listed));
    listed.kind.is_custom() && found.is_some_and(|found| found != number)
}
