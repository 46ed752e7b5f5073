//! Review: what is odd about the codes of a table once they stand together.
//!
//! A code may be reached, or hidden, by the ways in which the server helps a reader: another
//! spelling, a repair, a forwarded path. And a target may lead back into the table.

use super::chain::{End, follow};
use super::{Diagnostic, Entry, Site, Table};

/// How many links of a loop are named.
const SHOWN_LINKS: usize = 5;

/// Returns the problems of a table's codes and targets with each other.
pub(super) fn review(table: &Table) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for site in table.sites() {
        for (code, entry, _) in site.codes() {
            let alternates = [
                in_standard_alphabet(site, code),
                left_of_another(site, code),
                under_forwarding(site, code),
            ];
            for (message, hint) in alternates.into_iter().flatten() {
                diagnostics.push(Diagnostic::warning(entry.place(), message).with_hint(hint));
            }
        }
        diagnostics.extend(site.entries().filter_map(|entry| own_target(table, entry)));
    }
    diagnostics
}

type Finding = (String, String);

fn in_standard_alphabet(site: &Site, code: &str) -> Option<Finding> {
    if code.len() != site.scheme().code_len() || !code.contains('/') {
        return None;
    }
    let other = site.lookup_auto(&code.replace('/', "_"))?.code();
    Some((
        format!("the code {code:?} is also the standard-alphabet spelling of {other:?}"),
        "this entry wins; who spells the other code that way lands here".to_owned(),
    ))
}

fn left_of_another(site: &Site, code: &str) -> Option<Finding> {
    if code.len() + 1 != site.scheme().code_len() {
        return None;
    }
    let longer = |lost: char| site.lookup_auto(&format!("{code}{lost}"));
    let other = longer('-').or_else(|| longer('_'))?.code();
    Some((
        format!("the code {code:?} is also what is left of {other:?} when its end is lost"),
        "this entry wins; who follows the other code broken off lands here".to_owned(),
    ))
}

fn under_forwarding(site: &Site, code: &str) -> Option<Finding> {
    let slashes = code.match_indices('/').take(site.forwarding_depth());
    let prefixes = slashes.map(|(slash, _)| &code[..slash]);
    let is_forwarding = |prefix: &&str| {
        let entry = site.lookup(prefix);
        entry.is_some_and(|entry| entry.forward().path())
    };
    let prefix = prefixes.filter(is_forwarding).last()?;
    Some((
        format!("the code {code:?} lies under {prefix:?}, which forwards its path"),
        format!("this entry wins; {prefix:?} never sees that path"),
    ))
}

/// Tells where a target leads that points back into the table.
fn own_target(table: &Table, entry: Entry<'_>) -> Option<Diagnostic> {
    let place = entry.place();
    Some(match follow(table, entry)? {
        End::Page => return None,
        End::Elsewhere(target) => {
            Diagnostic::warning(place, "the target is a short link of this table itself")
                .with_hint(format!("lead straight to {target:?}"))
        }
        End::Gone => Diagnostic::warning(place, "the target is a retired link of this table")
            .with_hint("retire this entry too, or lead it elsewhere"),
        End::Nothing => Diagnostic::warning(place, "the target is a link that this table lacks")
            .with_hint("add that link, or lead this entry elsewhere"),
        End::Loop(mut links) => {
            if links.len() > SHOWN_LINKS {
                links.truncate(SHOWN_LINKS);
                links.push("…".to_owned());
            }
            Diagnostic::error(place, "the target leads round in a loop of short links")
                .with_hint(format!("{}: lead one of them elsewhere", links.join(" → ")))
        }
    })
}
