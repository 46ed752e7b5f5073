//! Review: what is odd about the codes of a table once they stand together.
//!
//! A code may be reached, or hidden, by the ways in which the server helps a reader: another
//! spelling, a repair, a forwarded path, another site. And a target may lead back into the table.

use std::sync::Arc;

use super::chain::{End, follow};
use super::diagnostic::Problems;
use super::document::{Document, Item};
use super::{Diagnostic, Entry, Place, Position, Site, Table};

/// How many links of a loop are named.
const SHOWN_LINKS: usize = 5;

/// Tells the problems of a table's codes and targets with each other.
pub(super) fn review(table: &Table, documents: &[Document<'_>], problems: &mut Problems) {
    for site in table.sites() {
        let inner_paths = inner_paths(table, site);
        for (code, entry, _) in site.codes() {
            let alternates = [
                in_standard_alphabet(site, code),
                left_of_another(site, code),
                without_full_stop(site, code),
                under_forwarding(site, code),
                under_another_site(&inner_paths, code),
            ];
            for (message, hint) in alternates.into_iter().flatten() {
                let place = place_of_code(entry, code, documents);
                problems.push(Diagnostic::warning(place, message).with_hint(hint));
            }
        }
        for entry in site.entries() {
            let place = || place_of_url(entry, documents);
            if let Some(problem) = own_target(table, entry, place) {
                problems.push(problem);
            }
        }
    }
}

type Finding = (String, String);

fn in_standard_alphabet(site: &Site, code: &str) -> Option<Finding> {
    // Without either sign it is the code itself.
    let is_spelling = code.contains('/');
    let other = site
        .in_standard_alphabet(code)
        .filter(|_| is_spelling)?
        .code();
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

fn without_full_stop(site: &Site, code: &str) -> Option<Finding> {
    let other = site.own_copy(code.strip_suffix('.')?)?;
    Some((
        format!("the code {code:?} is also {other:?} at the end of a sentence"),
        "this entry wins; who follows the other code with its full stop lands here".to_owned(),
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

/// Returns the base paths of other sites on a site's host that lie under its own, as codes begin.
fn inner_paths<'t>(table: &'t Table, site: &Site) -> Vec<&'t str> {
    let base = site.base_url();
    let others = table.sites().iter().map(Site::base_url);
    others
        .filter(|other| other.host() == base.host())
        .filter_map(|other| other.path().strip_prefix(base.path()))
        .filter(|inner| !inner.is_empty())
        .collect()
}

fn under_another_site(inner_paths: &[&str], code: &str) -> Option<Finding> {
    let inner = inner_paths.iter().find(|inner| code.starts_with(**inner))?;
    Some((
        format!("the code {code:?} lies under another site, which has the path {inner:?}"),
        "that site answers, and this entry is never reached: choose another code".to_owned(),
    ))
}

/// Tells where a target leads that points back into the table.
fn own_target(
    table: &Table,
    entry: Entry<'_>,
    place: impl FnOnce() -> Place,
) -> Option<Diagnostic> {
    let end = follow(table, entry)?;
    let place = place();
    Some(match end {
        End::Page => return None,
        End::Elsewhere(target) => {
            Diagnostic::warning(place, "the target is a short link of this table itself")
                .with_hint(format!("lead straight to {target:?}"))
        }
        End::Gone => Diagnostic::warning(place, "the target is a retired link of this table")
            .with_hint("retire this entry too, or lead it elsewhere"),
        End::Nothing => Diagnostic::warning(place, "the target is a link that this table lacks")
            .with_hint("lead this entry elsewhere, or add that link"),
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

fn place_of_url(entry: Entry<'_>, documents: &[Document<'_>]) -> Place {
    let url = item_of(entry, documents).and_then(|item| Some(item.url.as_ref()?.position));
    place_at(entry, url)
}

fn place_of_code(entry: Entry<'_>, code: &str, documents: &[Document<'_>]) -> Place {
    let position = item_of(entry, documents).and_then(|item| {
        let codes = item.short_code.iter();
        let aliases = item.rare.iter().flat_map(|rare| &rare.aliases);
        let written = codes.chain(aliases).find(|written| written.value == code);
        Some(written?.position)
    });
    place_at(entry, position)
}

/// Returns the entry as it was written.
fn item_of<'d>(entry: Entry<'_>, documents: &'d [Document<'d>]) -> Option<&'d Item<'d>> {
    let Place { file, position } = entry.place();
    let document = documents
        .iter()
        .find(|document| Arc::ptr_eq(&document.file, &file))?;
    // Items stand in the order in which they were read.
    let found = document
        .entries
        .binary_search_by_key(&position, |item| item.position);
    Some(&document.entries[found.ok()?])
}

fn place_at(entry: Entry<'_>, position: Option<Position>) -> Place {
    let place = entry.place();
    Place {
        position: position.unwrap_or(place.position),
        ..place
    }
}
