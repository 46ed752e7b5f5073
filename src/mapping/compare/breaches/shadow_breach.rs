//! Promises that new codes break by shadowing: one error for each code, with what it shadows.
//!
//! To avoid it, use another code, or state that the new code is intended to do this.

use std::collections::{HashMap, HashSet};

use super::broken::{Broken, Former, Link, Origin};
use super::shadowing::{Shadowed, shadowed};
use super::statement::{Statement, Statements};
use super::takedown::is_taken_down;
use crate::mapping::packed::Table;
use crate::mapping::value::{Diagnostic, Rule};

/// Returns the links of new codes that shadow links of an old table without a statement.
pub(crate) fn breaches(
    old: &Table,
    origin: &Origin,
    new: &Table,
    stated: &Statements,
) -> Vec<Broken> {
    report((old, origin), new, &HashSet::new(), |it| {
        stated.waiting(it.new.site(), &it.code).is_empty()
    })
}

/// Reports the given links of new codes that shadow links of an old table, some of which were taken
/// down since.
pub fn report_shadowing(
    old: &Table,
    origin: &Origin,
    new: &Table,
    known: &HashSet<Link>,
    taken_down: &HashSet<Link>,
) -> Vec<Broken> {
    report((old, origin), new, taken_down, |it| {
        known.contains(&it.link())
    })
}

fn report(
    (old, origin): (&Table, &Origin),
    new: &Table,
    taken_down: &HashSet<Link>,
    is_broken: impl Fn(&Shadowed<'_>) -> bool,
) -> Vec<Broken> {
    let has_several_sites = old.sites().len().max(new.sites().len()) > 1;
    // By code, with the number of links that each shadows besides the first.
    let mut broken: Vec<(Link, Shadowed<'_>, usize)> = Vec::new();
    let mut numbers = HashMap::new();
    for found in shadowed(old, new).into_iter().filter(is_broken) {
        let link = found.link();
        let number = *numbers.entry(link.clone()).or_insert(broken.len());
        match broken.get_mut(number) {
            Some((.., more)) => *more += 1,
            None => broken.push((link, found, 0)),
        }
    }
    let report = |(link, found, more): (Link, Shadowed<'_>, usize)| Broken {
        link,
        diagnostic: found.diagnostic(
            (origin, is_taken_down(found.old, new, taken_down)),
            more,
            has_several_sites,
        ),
    };
    broken.into_iter().map(report).collect()
}

impl Shadowed<'_> {
    /// Returns the link of the new code.
    pub(crate) fn link(&self) -> Link {
        Link::new(self.new.site(), &self.code)
    }

    fn diagnostic(
        &self,
        (origin, is_taken_down): (&Origin, bool),
        more: usize,
        has_several_sites: bool,
    ) -> Diagnostic {
        let Self {
            code, path, old, ..
        } = self;
        let (newcomer, instead) = match self.site {
            None => (format!("the code {code:?}"), "another code"),
            Some(site) => (
                format!("the new site {}", site.base_url().as_str()),
                "another base URL",
            ),
        };
        let others = match more {
            0 => String::new(),
            1 => " and one other link".to_owned(),
            more => format!(" and {more} other links"),
        };
        let message = format!("{newcomer} changes where the published path {path:?} leads");
        let former = Former::new(*old, origin, is_taken_down);
        let hint = format!(
            "it was answered by {:?}{others}: {former}; use {instead}, or declare the change in \
             the commit message: {}",
            old.code(),
            Statement::trailer(self.new.site(), code, has_several_sites)
        );
        Diagnostic::new(Rule::PublishedPathShadowed, self.new.place(), message).with_hint(hint)
    }
}
