//! Review of where entries and their variants lead the paths below their codes, which may be back into the
//! table.

use super::site_review::shown_loop;
use crate::mapping::packed::{Entry, Table, Variant};
use crate::mapping::resolve::{End, Followed, follow_url, follow_url_for, name_of_loop};
use crate::mapping::value::{Diagnostic, MAX_CODE_BYTES, Rule, Timestamp};

/// Reports where a `below` that points back into the table leads, of an entry or of its variants.
pub(super) fn review_below(table: &Table, entry: Entry<'_>) -> Vec<Diagnostic> {
    // As for targets, all dates are assumed to be in the future.
    let now = Timestamp::MIN;
    if entry.is_gone(now) {
        return Vec::new();
    }
    let own = entry.below().and_then(|below| {
        let followed = follow_url(table, unknown_below(below), None, now)?;
        finding(entry, followed, "\"below\"")
    });
    let of_variants = entry.variants().filter_map(|variant| {
        let what = format!("\"below\" for {}", variant.type_list());
        review_path(table, entry, variant, variant.below()?, &what)
    });
    own.into_iter().chain(of_variants).collect()
}

/// Reports where the target of a variant leads paths, if they are appended to it and it points back into
/// the table.
pub(super) fn review_forwarding(
    table: &Table,
    entry: Entry<'_>,
    variant: Variant<'_>,
) -> Option<Diagnostic> {
    if variant.below().is_some() || !entry.forward().path() || entry.is_gone(Timestamp::MIN) {
        return None;
    }
    let what = format!("the target for {}", variant.type_list());
    review_path(table, entry, variant, variant.target(), &what)
}

fn review_path(
    table: &Table,
    entry: Entry<'_>,
    variant: Variant<'_>,
    url: &str,
    what: &str,
) -> Option<Diagnostic> {
    let now = Timestamp::MIN;
    let followed = follow_url_for(table, &unknown_below(url), variant, now)?;
    finding(entry, followed, what)
}

/// Returns a path that no code can be.
fn unknown_path() -> String {
    "x".repeat(MAX_CODE_BYTES + 1)
}

fn unknown_below(url: &str) -> String {
    format!("{url}{}", unknown_path())
}

/// Reports an end of a URL to which an unknown path was appended, if there is anything to report.
fn finding(entry: Entry<'_>, followed: Followed, what: &str) -> Option<Diagnostic> {
    let unknown = &unknown_path();
    // It need not forward paths itself: it may be the beginning of codes.
    if !followed.is_link {
        return None;
    }
    let (rule, message, hint) = match followed.end {
        End::Page | End::Nothing => return None,
        End::Elsewhere(url) => (
            Rule::TargetChain,
            "leads back into this table".to_owned(),
            match url.strip_suffix(unknown) {
                Some(url) => format!("write {url:?}"),
                None => "name a service outside this table".to_owned(),
            },
        ),
        End::Gone => (
            Rule::TargetRetired,
            "leads to a retired link of this table".to_owned(),
            "retire this entry too, or change where it leads paths".to_owned(),
        ),
        End::Loop(links) => {
            let message = format!("leads paths into {}", name_of_loop(&links));
            let shown = shown_loop(links).replace(unknown, "PATH");
            (
                Rule::TargetLoop,
                message,
                format!("{shown}: change where one of them leads paths"),
            )
        }
    };
    let message = format!("{what} {message}");
    Some(Diagnostic::new(rule, entry.place(), message).with_hint(hint))
}
