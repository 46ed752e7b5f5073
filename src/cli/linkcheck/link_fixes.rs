//! Fixes of a table that need no person: links that have moved permanently, and dead ones with a
//! copy in an archive; and why others cannot be fixed.

use super::arrivals::Arrivals;
use super::conclusions::Conclusions;
use crate::linkcheck::{ArchiveAnswer, Conclusion, LinkRole, LinkUse, Policy, Verdict, WebUrl};
use crate::mapping::{Entry, Place, Table, Target};
use crate::registry::{EditRight, EntryContent, EntryEdit, EntryValue, ExpectedContent, MayShadow};

/// An entry that can be fixed.
pub(super) struct LinkFix {
    pub(super) edit: EntryEdit,
    pub(super) place: Place,
    /// The change, for people.
    pub(super) change: String,
}

/// A link that needs a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfixed {
    pub(super) place: Place,
    pub(super) reason: String,
}

/// The possible fixes of a table, and the links that need a person.
#[derive(Default)]
pub(super) struct LinkFixes {
    pub(super) all: Vec<LinkFix>,
    pub(super) unfixed: Vec<Unfixed>,
}

impl LinkFixes {
    /// Decides about the links of a table.
    pub(super) fn of(conclusions: &Conclusions, table: &Table, policy: Policy) -> Self {
        let mut fixes = Self::default();
        // A link to another link of the table is fixed there.
        let is_fixed_here = |conclusion: &&Conclusion<'_>| {
            conclusion.link.resolution.url() == Some(&conclusion.link.target)
        };
        let to_fix = || conclusions.reported.iter().filter(is_fixed_here);
        let arrivals = Arrivals::of(to_fix().filter_map(Conclusion::moved_to));
        for conclusion in to_fix() {
            for (entry, link) in entries(conclusion, table) {
                let decided = match conclusion.verdict {
                    Verdict::Moved if link.role == LinkRole::Variant => {
                        Err("a variant leads to it".to_owned())
                    }
                    Verdict::Moved if link.role == LinkRole::Below => {
                        Err("paths are appended to it".to_owned())
                    }
                    Verdict::Moved => moved_url(conclusion, entry, table, policy, &arrivals),
                    Verdict::Dead if link.archive.is_none() && link.role == LinkRole::Own => {
                        archived_copy(conclusion)
                    }
                    _ => continue,
                };
                match decided {
                    Ok((value, change)) => fixes.all.push(LinkFix {
                        edit: EntryEdit {
                            site: Some(entry.site().base_url().as_str().to_owned()),
                            link: link.code.clone(),
                            right: EditRight::Any,
                            expected: ExpectedContent::Content(Box::new(EntryContent::of(entry))),
                            values: vec![value],
                            may_shadow: MayShadow::None,
                            may_lose_aliases: false,
                            may_share_target: false,
                        },
                        place: link.place.clone(),
                        change,
                    }),
                    Err(reason) => fixes.unfixed.push(Unfixed {
                        place: link.place.clone(),
                        reason: format!("{}: {reason}", conclusion.link.target),
                    }),
                }
            }
        }
        fixes.all.sort_by(|a, b| a.place.cmp(&b.place));
        fixes
    }
}

/// Returns the entries of a link.
fn entries<'c, 't>(
    conclusion: &'c Conclusion<'_>,
    table: &'t Table,
) -> impl Iterator<Item = (Entry<'t>, &'c LinkUse)> {
    conclusion.link.uses.iter().filter_map(|link| {
        let mut sites = table.sites().iter();
        // Several sites may have the same code.
        let entry = sites.find_map(|site| {
            let entry = site.lookup(&link.code)?;
            (entry.place() == link.place).then_some(entry)
        });
        Some((entry?, link))
    })
}

/// Returns the new target of an entry whose link has moved, or why it keeps the old one.
fn moved_url(
    conclusion: &Conclusion<'_>,
    entry: Entry<'_>,
    table: &Table,
    policy: Policy,
    arrivals: &Arrivals,
) -> Result<(EntryValue, String), String> {
    let record = conclusion.record.as_ref();
    let to = record.and_then(|record| record.confirmed_move(policy));
    let to = to.ok_or("the move is not confirmed yet: it must be seen twice, days apart")?;
    let old = &conclusion.link.target;
    if entry.forward().path() {
        return Err("paths are appended to it".to_owned());
    }
    // With a query, too: a host that redirects everything to its home page may add the original
    // path.
    if to.url().path() == "/" {
        return Err(format!("it has moved to a home page, {to}"));
    }
    let is_secure = |url: &WebUrl| url.url().scheme() == "https";
    if WebUrl::parse(old).is_ok_and(|old| is_secure(&old)) && !is_secure(to) {
        return Err(format!("it has moved from https to http, {to}"));
    }
    let target = Target::parse(to.as_str()).map_err(|error| error.to_string())?;
    let target = target.into_owned();
    if table.covers(&target) {
        return Err(format!("it has moved to a short link of this table, {to}"));
    }
    if arrivals.at(&target) > 1 {
        return Err(format!("other links have moved to the same page, {to}"));
    }
    let change = format!("{old} → {}", target.as_str());
    Ok((EntryValue::UrlOfNewPage(target), change))
}

/// Returns the archived copy of a dead link, or why there is none.
fn archived_copy(conclusion: &Conclusion<'_>) -> Result<(EntryValue, String), String> {
    let old = &conclusion.link.target;
    match &conclusion.archive {
        Some(ArchiveAnswer::Copy(copy)) => {
            let copy = Target::parse(copy).map_err(|error| error.to_string())?;
            let change = format!("{old}: archive: {}", copy.as_str());
            Ok((EntryValue::Archive(Some(copy.into_owned())), change))
        }
        Some(ArchiveAnswer::NoCopy) => Err("it is dead, and the archive has no copy".to_owned()),
        Some(ArchiveAnswer::Failed(problem)) => Err(format!("it is dead; the archive: {problem}")),
        None => Err("it is dead, and was not looked up in the archive".to_owned()),
    }
}
