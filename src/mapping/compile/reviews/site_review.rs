//! Review of the keys by which a site redirects: their URLs may lead back into the table.

use crate::mapping::packed::{Site, Table};
use crate::mapping::resolve::{End, SiteKey, follow_url, name_of_loop};
use crate::mapping::value::{Diagnostic, MAX_CODE_BYTES, Rule, SiteTarget, Timestamp};

/// The maximum number of links of a loop that are named.
const SHOWN_LINKS: usize = 5;

/// Returns the findings about the keys of a site.
pub(super) fn review_keys(table: &Table, site: &Site) -> Vec<Diagnostic> {
    let (home, fallback) = (site.about().home(), site.about().fallback());
    let home = home.and_then(|home| review_home(table, home));
    let fallback = fallback.and_then(|fallback| review_fallback(table, fallback));
    home.into_iter().chain(fallback).collect()
}

/// Reports where a `home` that points back into the table leads.
fn review_home(table: &Table, home: &SiteTarget) -> Option<Diagnostic> {
    // As for the targets of entries, all dates are assumed to be in the future.
    let end = follow_url(table, home.url().to_owned(), None, Timestamp::MIN)?.end;
    let key = SiteKey::Home.name();
    let (rule, message, hint) = match end {
        End::Page => return None,
        End::Elsewhere(url) => (
            Rule::TargetChain,
            format!("{key:?} leads to a short link of this table itself"),
            format!("link directly to {url:?}"),
        ),
        End::Gone => (
            Rule::TargetRetired,
            format!("{key:?} leads to a retired link of this table"),
            format!("change {key:?}, or remove it"),
        ),
        End::Nothing => (
            Rule::TargetUnknown,
            format!("{key:?} leads to a short link that this table does not have"),
            format!("change {key:?}, or add that link"),
        ),
        End::Loop(links) => (
            Rule::TargetLoop,
            format!("{key:?} leads into {}", name_of_loop(&links)),
            format!("{}: change the target of one of them", shown_loop(links)),
        ),
    };
    Some(Diagnostic::new(rule, home.place().clone(), message).with_hint(hint))
}

/// Reports whether a `fallback` leads back into the table, for a path that no code can be.
fn review_fallback(table: &Table, fallback: &SiteTarget) -> Option<Diagnostic> {
    let unknown = "x".repeat(MAX_CODE_BYTES + 1);
    let url = format!("{}{unknown}", fallback.url());
    let end = follow_url(table, url, None, Timestamp::MIN)?.end;
    let key = SiteKey::Fallback.name();
    let (rule, message, hint) = match end {
        End::Loop(links) => {
            let name = name_of_loop(&links);
            let shown = shown_loop(links).replace(&unknown, "PATH");
            (
                Rule::TargetLoop,
                format!("{key:?} leads unknown paths into {name}"),
                format!("{shown}: name a service outside this table"),
            )
        }
        End::Elsewhere(url) if url.ends_with(&unknown) => (
            Rule::TargetChain,
            format!("{key:?} leads back into this table"),
            format!("write {:?}", &url[..url.len() - unknown.len()]),
        ),
        End::Elsewhere(_) | End::Page | End::Gone | End::Nothing => (
            Rule::TargetChain,
            format!("{key:?} leads back into this table"),
            "name a service outside this table".to_owned(),
        ),
    };
    let place = fallback.place().clone();
    Some(Diagnostic::new(rule, place, message).with_hint(hint))
}

/// Returns the first links of a loop as a text.
pub(super) fn shown_loop(mut links: Vec<String>) -> String {
    if links.len() > SHOWN_LINKS {
        links.truncate(SHOWN_LINKS);
        links.push("…".to_owned());
    }
    links.join(" → ")
}
