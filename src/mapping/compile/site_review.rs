//! Review of the keys by which a site redirects: their URLs may lead back into the table.

use crate::mapping::packed::{Site, Table};
use crate::mapping::resolve::{End, SiteKey, follow_url};
use crate::mapping::value::{Diagnostic, Rule, SiteTarget, Timestamp};

/// The maximum number of links of a loop that are named.
const SHOWN_LINKS: usize = 5;

/// Returns the findings about the keys of a site.
pub(super) fn review_keys(table: &Table, site: &Site) -> Vec<Diagnostic> {
    let home = site.about().home();
    let home = home.and_then(|home| review_home(table, home));
    home.into_iter().collect()
}

/// Reports where a `home` that points back into the table leads.
fn review_home(table: &Table, home: &SiteTarget) -> Option<Diagnostic> {
    // As for the targets of entries, all dates are assumed to be in the future.
    let (end, _) = follow_url(table, home.url().to_owned(), Timestamp::MIN)?;
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
            format!("{key:?} leads into a loop of short links"),
            format!("{}: change the target of one of them", shown_loop(links)),
        ),
    };
    Some(Diagnostic::new(rule, home.place().clone(), message).with_hint(hint))
}

/// Returns the first links of a loop as a text.
pub(super) fn shown_loop(mut links: Vec<String>) -> String {
    if links.len() > SHOWN_LINKS {
        links.truncate(SHOWN_LINKS);
        links.push("…".to_owned());
    }
    links.join(" → ")
}
