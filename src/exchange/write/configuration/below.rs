//! Paths below codes that lead anywhere, for servers that find them by regular expressions.
//!
//! What is appended is taken from the path as it was sent, so an expression is compared with the path as
//! the server decodes it, a space, and the path as it was sent. That the code is spelled as in its short
//! link is required, except for the case of letters if the table ignores it; other spellings are not found.

use std::collections::HashSet;

use crate::mapping::{Site, Timestamp};

use super::destination::{Destination, Destinations};
use super::negotiation::Negotiations;
use crate::exchange::write::rows::{CodeRow, SortedEntries};
use crate::exchange::write::rows::{matching, matching_any_case};

/// Matches what precedes a path as it was sent, and in it a segment that clients or servers could resolve
/// to walk up, decoded once or twice, or an encoded control character: such a path leads nowhere. It has no two
/// backslashes after each other, which some servers read as one.
pub(super) const UNSOUND: &str = r"(?i)^.* /[^? ]*(?:(?:/|\x5c|%(?:25)?(?:2f|5c))(?:\.|%(?:25)?2e){1,2}(?:/|\x5c|;|%(?:25)?(?:2f|5c|3b)|[? ]|$)|%(?:[01][0-9a-f]|7f))";

/// The codes that take the paths below them.
pub(super) struct Prefixes<'t> {
    /// Those with the most segments first, which take precedence, and of these those that are found only as they are.
    rows: Vec<(CodeRow<'t>, Leads<'t>)>,
    /// In the form in which the site compares them.
    codes: HashSet<String>,
    site: Option<&'t Site>,
}

/// Where the paths below a code lead.
pub(super) enum Leads<'t> {
    /// To a URL.
    To(Destinations<'t>),
    /// They are gone.
    Gone,
}

impl<'t> Prefixes<'t> {
    /// Returns those of a site as it is at `now`.
    pub(super) fn of(order: &SortedEntries<'t>, now: Timestamp) -> Self {
        let rows = order.rows().filter(|row| row.entry.takes_below());
        let mut rows: Vec<_> = rows
            .map(|row| {
                let leads = row.destinations_below(now).map_or(Leads::Gone, Leads::To);
                (row, leads)
            })
            .collect();
        let site = rows.first().map(|(row, _)| row.entry.site());
        let compared = rows
            .iter()
            .map(|(row, _)| row.entry.site().compared_form(&row.code).into_owned());
        let codes = compared.collect();
        let segments = |row: &CodeRow<'_>| row.code.matches('/').count();
        rows.sort_by_key(|(row, _)| (std::cmp::Reverse(segments(row)), row.folds));
        Self { rows, codes, site }
    }

    /// Returns each code, and where the paths below it lead, unless a code before it decides that.
    pub(super) fn rows(&self) -> impl Iterator<Item = &(CodeRow<'t>, Leads<'t>)> {
        self.rows.iter()
    }

    /// Returns whether paths below a code lead anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether a code takes the paths below it, or is below such a code.
    pub(super) fn concern(&self, code: &str) -> bool {
        let Some(site) = self.site else {
            return false;
        };
        let code = site.compared_form(code);
        let ends = code.match_indices('/').map(|(slash, _)| slash);
        let mut starts = ends.chain([code.len()]).map(|end| &code[..end]);
        starts.any(|start| self.codes.contains(start))
    }
}

/// Requests for paths below a code that lead to the same place.
pub(super) struct BelowLine<'d, 't> {
    /// The expression for the decoded path, the path and the query as they were sent, and the choice from each list
    /// of types, separated by spaces.
    pub(super) expression: String,
    pub(super) destination: &'d Destination<'t>,
    /// What inserts the query: a reference to what the expression captures, and what precedes it.
    pub(super) query: String,
}

impl<'t> CodeRow<'t> {
    /// Returns an expression for the decoded paths below the code.
    pub(super) fn below_decoded(&self) -> String {
        format!("^{}/.", self.expression())
    }

    /// Returns an expression for the paths below the code as they are sent, of which it captures what is
    /// after the code.
    pub(super) fn below_sent(&self) -> String {
        let site = self.entry.site();
        let start = site.short_url("").len();
        let encoded = |text: &str| site.short_url(text)[start..].to_owned();
        let code = match self.folds {
            true => matching_any_case(&self.code, encoded),
            false => matching(&encoded(&self.code)),
        };
        format!("{}{code}/([^? ]+)", matching(site.base_url().path()))
    }

    /// Returns the requests for paths below the code, by where they lead; the first that matches decides. The
    /// expression captures the path, if it is appended, before the query.
    pub(super) fn below_lines<'d>(
        &self,
        destinations: &'d Destinations<'t>,
        negotiations: &Negotiations<'t>,
    ) -> Vec<BelowLine<'d, 't>> {
        let list = negotiations.number(self.entry);
        let lists = negotiations.lists().count();
        let mut lines = Vec::new();
        for (choice, destination) in destinations.choices() {
            let (sent, query) = match destination.takes_path() {
                true => (self.below_sent(), "$2"),
                false => ("[^? ]*".to_owned(), "$1"),
            };
            let chosen: String = (1..=lists)
                .map(|number| match Some(number) == list && choice > 0 {
                    true => format!(" {choice}"),
                    false => " [0-9]+".to_owned(),
                })
                .collect();
            let decoded = self.below_decoded();
            let mut add = |captured: &str, query| {
                lines.push(BelowLine {
                    expression: format!("{decoded}.* {sent}{captured}{chosen}$"),
                    destination,
                    query,
                });
            };
            if let Some(start) = destination.query_start() {
                add(r"\?([^ ]+)", format!("{}{query}", start.text()));
            }
            add("[^ ]*", String::new());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::write::rows::testing::site_of;

    #[test]
    fn the_longest_code_decides() {
        let table = site_of(
            "- {url: 'https://e.org/', short-code: a, below: 'https://a.org/'}\n\
             - {url: 'https://e.org/1', short-code: a/b, forward: all}\n\
             - {url: 'https://e.org/3', short-code: a/b/é, below: 'https://b.org/', retired: true}\n\
             - {url: 'https://e.org/4', short-code: a/x}\n",
        );
        let order = SortedEntries::of(&table.sites()[0]);
        let prefixes = Prefixes::of(&order, Timestamp::MIN);
        let found = prefixes.rows().map(|(row, leads)| match leads {
            Leads::To(destinations) => destinations.own.written(str::to_owned, "+", ""),
            Leads::Gone => row.below_sent(),
        });
        let expected = ["/a/b/%C3%A9/([^? ]+)", "https://e.org/1", "https://a.org/+"];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let concerned = ["a", "a/x", "a/b/c/d"].map(|code| prefixes.concern(code));
        assert_eq!(concerned, [true; 3]);
        assert!(!prefixes.concern("ab") && !prefixes.concern("c/d"));
    }
}
