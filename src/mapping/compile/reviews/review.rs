//! Review: unusual interactions between the codes of a table.
//!
//! A code may be reached, or hidden, by the ways in which the server helps a reader: another
//! spelling, a repair, a forwarded path, another site. A target may also lead back into the table.

use super::below_review::{review_below, review_forwarding};
use super::site_review::{review_keys, shown_loop};
use crate::mapping::packed::{CodeKind, Entry, ReviewScope, Site, Table, TargetParts, index};
use crate::mapping::resolve::{End, follow, follow_variant, name_of_loop};
use crate::mapping::value::{Diagnostic, Place, Position, Problems, Rule, Timestamp, target};

/// Reports the problems of a table's codes and targets with each other; `position_of` returns where a
/// listed code is written, given its number and that of its site.
///
/// Auto codes have none of these problems with each other: they have the same length, contain no
/// slash, and do not end in a full stop. So only the listed codes are checked.
///
/// `among` has what may have such problems in each site; a site that it lacks is searched. Returns what
/// was found there, problem or not.
pub(in crate::mapping::compile) fn review(
    table: &Table,
    among: &[ReviewScope],
    mut position_of: impl FnMut(usize, usize) -> Position,
    problems: &mut Problems,
) -> Vec<ReviewScope> {
    let mut found = Vec::new();
    let all = ReviewScope::default();
    for (site_number, site) in table.sites().iter().enumerate() {
        let among = among.get(site_number).unwrap_or(&all);
        let unusual = unusual_codes(table, site, among.codes.as_deref());
        for &number in &unusual {
            let number = number as usize;
            let listed = site.codes.listed()[number];
            let code = site.codes.text(listed);
            let alternates = [
                in_standard_alphabet(site, code),
                left_of_another(site, code),
                without_full_stop(site, code),
                under_forwarding(site, code),
                under_another_site(table, site, code),
            ];
            for (rule, message, hint) in alternates.into_iter().flatten() {
                let mut place = site.entry(listed.entry).place();
                if listed.kind != CodeKind::Auto {
                    place.position = position_of(site_number, number);
                }
                problems.push(Diagnostic::new(rule, place, message).with_hint(hint));
            }
        }
        for problem in review_keys(table, site) {
            problems.push(problem);
        }
        let entries = leading_back(table, site, among.keys.as_deref());
        found.push(ReviewScope {
            keys: Some(entries.iter().map(Entry::key).collect()),
            codes: Some(unusual),
        });
        for entry in entries {
            let own = own_targets(table, entry);
            for problem in own.into_iter().chain(review_below(table, entry)) {
                problems.push(problem);
            }
        }
    }
    found
}

/// Returns the numbers of the listed codes of a site that may have problems, in their order.
fn unusual_codes(table: &Table, site: &Site, among: Option<&[u32]>) -> Vec<u32> {
    let listed = site.codes.listed();
    let is_unusual = |&number: &u32| {
        let code = site.codes.text(listed[number as usize]);
        !is_usual(table, site, code)
    };
    match among {
        Some(numbers) => numbers.iter().copied().filter(is_unusual).collect(),
        None => (0..index(listed.len())).filter(is_unusual).collect(),
    }
}

/// Returns the entries of a site that may lead back into its table, in written order.
fn leading_back<'t>(table: &'t Table, site: &'t Site, among: Option<&[u64]>) -> Vec<Entry<'t>> {
    let Some(keys) = among else {
        return site.entries_leading_to(|rest| table.may_own(rest));
    };
    let mut entries = site.entries_with_keys(keys);
    entries.retain(|entry| {
        let target = entry.target_parts().map(TargetParts::host_and_rest);
        let below = entry.below().map(|url| target::divided(url).1);
        let variants = entry.variants().flat_map(|it| it.urls());
        let variants = variants.map(|url| target::divided(url).1);
        let mut urls = target.into_iter().chain(below).chain(variants);
        urls.any(|rest| table.may_own(rest))
    });
    entries
}

/// Returns whether a code cannot have any of these problems, which is cheap to see for most.
fn is_usual(table: &Table, site: &Site, code: &str) -> bool {
    let is_sign = |byte: u8| matches!(byte, b'+' | b'.' | b'/');
    table.sites().len() == 1
        && code.len() + 1 != site.scheme().code_len()
        && !code.bytes().any(is_sign)
}

/// A rule, a message and a hint.
type ReviewFinding = (Rule, String, String);

fn in_standard_alphabet(site: &Site, code: &str) -> Option<ReviewFinding> {
    let other = site.in_standard_alphabet(code)?.code();
    Some((
        Rule::CodeHidesSpelling,
        format!("the code {code:?} is also the standard-alphabet spelling of {other:?}"),
        "this entry takes precedence: the other code in that spelling leads here".to_owned(),
    ))
}

fn left_of_another(site: &Site, code: &str) -> Option<ReviewFinding> {
    if code.len() + 1 != site.scheme().code_len() {
        return None;
    }
    let longer = |lost: char| site.lookup_auto(&format!("{code}{lost}"));
    let other = longer('-').or_else(|| longer('_'))?.code();
    Some((
        Rule::CodeHidesTruncation,
        format!("the code {code:?} is also {other:?} without its last character"),
        "this entry takes precedence: the other code without its last character leads here"
            .to_owned(),
    ))
}

fn without_full_stop(site: &Site, code: &str) -> Option<ReviewFinding> {
    let other = code.strip_suffix('.')?;
    site.lookup_in_any_case(other)?;
    Some((
        Rule::CodeHidesFullStop,
        format!("the code {code:?} is also {other:?} at the end of a sentence"),
        "this entry takes precedence: the other code with a full stop after it leads here"
            .to_owned(),
    ))
}

fn under_forwarding(site: &Site, code: &str) -> Option<ReviewFinding> {
    let slashes = code.match_indices('/').take(site.forwarding_depth());
    let prefixes = slashes.map(|(slash, _)| &code[..slash]);
    let is_forwarding = |prefix: &&str| {
        let entry = site.lookup_in_any_case(prefix);
        entry.is_some_and(|entry| entry.takes_below())
    };
    let prefix = prefixes.filter(is_forwarding).last()?;
    Some((
        Rule::CodeHidesPath,
        format!("the code {code:?} is below {prefix:?}, which forwards its path"),
        format!("this entry takes precedence: {prefix:?} never receives that path"),
    ))
}

fn under_another_site(table: &Table, site: &Site, code: &str) -> Option<ReviewFinding> {
    let other = table.site_over(site, code)?.base_url();
    let inner = other.path().strip_prefix(site.base_url().path())?;
    Some((
        Rule::CodeUnreachable,
        format!("the code {code:?} is below another site, which has the path {inner:?}"),
        "that site takes precedence, so this entry is never reached: choose another code"
            .to_owned(),
    ))
}

/// Reports where targets of an entry that point back into the table lead.
fn own_targets(table: &Table, entry: Entry<'_>) -> Vec<Diagnostic> {
    // Findings depend on the table alone: all dates are assumed to be in the future.
    let now = Timestamp::MIN;
    let own =
        follow(table, entry, now).and_then(|end| finding(end, "the target", entry.place_of_url()));
    let of_variants = entry.variants().filter_map(|variant| {
        if let Some(problem) = review_forwarding(table, entry, variant) {
            return Some(problem);
        }
        let end = follow_variant(table, entry, variant, now)?;
        // Where variants are written is not stored: only the entry is named.
        let what = format!("the target for {}", variant.type_list());
        finding(end, &what, entry.place())
    });
    own.into_iter().chain(of_variants).collect()
}

/// Reports an end of a target that points back into the table, if there is anything to report.
fn finding(end: End, what: &str, place: Place) -> Option<Diagnostic> {
    let report = |rule, message: &str| Diagnostic::new(rule, place, format!("{what} {message}"));
    Some(match end {
        End::Page => return None,
        End::Elsewhere(target) => report(Rule::TargetChain, "is a short link of this table itself")
            .with_hint(format!("link directly to {target:?}")),
        End::Gone => report(Rule::TargetRetired, "is a retired link of this table")
            .with_hint("retire this entry too, or change its target"),
        End::Nothing => report(
            Rule::TargetUnknown,
            "is a short link that this table does not have",
        )
        .with_hint("change the target of this entry, or add that link"),
        End::Loop(links) => report(
            Rule::TargetLoop,
            &format!("leads into {}", name_of_loop(&links)),
        )
        .with_hint(format!(
            "{}: change the target of one of them",
            shown_loop(links)
        )),
    })
}
