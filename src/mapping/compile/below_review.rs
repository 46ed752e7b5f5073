//! Review of where entries lead the paths below their codes, which may be back into the table.

use super::site_review::shown_loop;
use crate::mapping::packed::{Entry, Table};
use crate::mapping::resolve::{End, follow_url};
use crate::mapping::value::{Diagnostic, MAX_CODE_BYTES, Rule, Timestamp};

/// Reports where a `below` that points back into the table leads, for a path that no code can be.
pub(super) fn review_below(table: &Table, entry: Entry<'_>) -> Option<Diagnostic> {
    let below = entry.below()?;
    // As for targets, all dates are assumed to be in the future.
    let now = Timestamp::MIN;
    if entry.is_gone(now) {
        return None;
    }
    let unknown = "x".repeat(MAX_CODE_BYTES + 1);
    let followed = follow_url(table, format!("{below}{unknown}"), None, now)?;
    // It need not forward paths itself: it may be the beginning of codes.
    if !followed.is_link {
        return None;
    }
    let (rule, message, hint) = match followed.end {
        End::Page | End::Nothing => return None,
        End::Elsewhere(url) => (
            Rule::TargetChain,
            "\"below\" leads back into this table",
            match url.strip_suffix(&unknown) {
                Some(url) => format!("write {url:?}"),
                None => "name a service outside this table".to_owned(),
            },
        ),
        End::Gone => (
            Rule::TargetRetired,
            "\"below\" leads to a retired link of this table",
            "retire this entry too, or change \"below\"".to_owned(),
        ),
        End::Loop(links) => {
            let shown = shown_loop(links).replace(&unknown, "PATH");
            (
                Rule::TargetLoop,
                "\"below\" leads paths into a loop",
                format!("{shown}: change \"below\" of one of them"),
            )
        }
    };
    Some(Diagnostic::new(rule, entry.place(), message).with_hint(hint))
}
