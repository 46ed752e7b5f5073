//! Paths below codes that lead to a URL of their own (`below`), for servers that find them by regular
//! expressions.
//!
//! What is appended is taken from the path as it was sent, so an expression is compared with the path as
//! the server decodes it, a space, and the path as it was sent. That the code is spelled as in its short
//! link is required; other spellings are not found.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::mapping::Timestamp;

use super::expression::matching;
use super::order::{CodeRow, SortedEntries};

/// Matches what precedes a path as it was sent, and in it a segment that clients or servers could resolve
/// to walk up, decoded once or twice, or an encoded control character: such a path leads nowhere. It has no two
/// backslashes after each other, which some servers read as one.
pub(super) const UNSOUND: &str = r"(?i)^.* /[^? ]*(?:(?:/|\x5c|%(?:25)?(?:2f|5c))(?:\.|%(?:25)?2e){1,2}(?:/|\x5c|;|%(?:25)?(?:2f|5c|3b)|[? ]|$)|%(?:[01][0-9a-f]|7f))";

/// The codes that take the paths below them, as far as `below` is concerned.
pub(super) struct Prefixes<'t> {
    /// The longest first, which take precedence.
    rows: Vec<(CodeRow<'t>, Leads<'t>)>,
    codes: HashSet<Cow<'t, str>>,
}

/// Where the paths below a code lead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leads<'t> {
    /// To this URL, to which they are appended.
    To(&'t str),
    /// They are gone.
    Gone,
    /// They are not exported.
    Nowhere,
}

impl<'t> Prefixes<'t> {
    /// Returns those of a site as it is at `now`.
    pub(super) fn of(order: &SortedEntries<'t>, now: Timestamp) -> Self {
        let with_below = order.rows().filter(|row| row.entry.below().is_some());
        let mut prefixes = Self {
            rows: Vec::new(),
            codes: with_below.map(|row| row.code).collect(),
        };
        if prefixes.codes.is_empty() {
            return prefixes;
        }
        for row in order.rows() {
            if !row.entry.takes_below() || !prefixes.concern(&row.code) {
                continue;
            }
            let leads = match row.entry.below() {
                _ if row.entry.is_gone(now) => Leads::Gone,
                Some(below) => Leads::To(below),
                None => Leads::Nowhere,
            };
            prefixes.rows.push((row, leads));
        }
        prefixes
            .rows
            .sort_by_key(|(row, _)| std::cmp::Reverse(row.code.len()));
        prefixes
    }

    /// Returns each code, and where the paths below it lead, unless a code before it decides that.
    pub(super) fn rows(&self) -> impl Iterator<Item = &(CodeRow<'t>, Leads<'t>)> {
        self.rows.iter()
    }

    /// Returns whether a code has `below` or is below such a code: then it must be found with a slash
    /// after it, too.
    pub(super) fn concern(&self, code: &str) -> bool {
        let ends = code.match_indices('/').map(|(slash, _)| slash);
        let mut starts = ends.chain([code.len()]).map(|end| &code[..end]);
        !self.codes.is_empty() && starts.any(|start| self.codes.contains(start))
    }
}

impl CodeRow<'_> {
    /// Returns an expression for the decoded paths below the code.
    pub(super) fn below_decoded(&self) -> String {
        format!("^{}/.", matching(&self.path()))
    }

    /// Returns an expression for the paths below the code as they are sent, of which it captures what is
    /// after the code.
    pub(super) fn below_sent(&self) -> String {
        let (url, site) = (self.entry.site().short_url(&self.code), self.entry.site());
        let origin = site.base_url().as_str().len() - site.base_url().path().len();
        format!("{}/([^? ]+)", matching(&url[origin..]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    #[test]
    fn the_longest_code_decides() {
        let table = site_of(
            "- {url: 'https://e.org/', short-code: a, below: 'https://a.org/'}\n\
             - {url: 'https://e.org/1', short-code: a/b, forward: all}\n\
             - {url: 'https://e.org/2', short-code: c/d, forward: all}\n\
             - {url: 'https://e.org/3', short-code: a/b/é, below: 'https://b.org/', retired: true}\n\
             - {url: 'https://e.org/4', short-code: a/x}\n",
        );
        let order = SortedEntries::of(&table.sites()[0]);
        let prefixes = Prefixes::of(&order, Timestamp::MIN);
        let found = prefixes.rows().map(|(row, leads)| match leads {
            Leads::To(url) => format!("{} {url}", row.code),
            Leads::Gone => format!("{} gone", row.below_sent()),
            Leads::Nowhere => row.below_decoded(),
        });
        let expected = ["/a/b/%C3%A9/([^? ]+) gone", "^/a/b/.", "a https://a.org/"];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let concerned = ["a", "a/x", "a/b/c/d"].map(|code| prefixes.concern(code));
        assert_eq!(concerned, [true; 3]);
        assert!(!prefixes.concern("ab") && !prefixes.concern("c/d"));
    }
}
