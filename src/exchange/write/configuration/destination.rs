//! Where the codes of an entry and the paths below them lead, as rules of other servers express it: a URL into
//! which parts of the request are inserted, for each variant and for all other requests.

use std::borrow::Cow;

use crate::mapping::{Entry, Timestamp, Variant};

use crate::exchange::write::rows::CodeRow;

/// A URL into which parts of the request are inserted.
pub(super) struct Destination<'t> {
    url: Cow<'t, str>,
    takes_path: bool,
    takes_query: bool,
}

/// How a query that is not empty follows a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryStart {
    /// After a `?`.
    Question,
    /// After the URL's own query and a `&`.
    Ampersand,
    /// After nothing: the URL ends in one of these.
    Nothing,
}

/// Where requests lead, by the variant that they choose.
pub(super) struct Destinations<'t> {
    /// Where those lead that choose none.
    pub(super) own: Destination<'t>,
    /// Where those lead that choose a variant, in written order.
    pub(super) variants: Vec<Destination<'t>>,
}

impl<'t> CodeRow<'t> {
    /// Returns where the code leads at `now`; `None` if it is gone.
    pub(super) fn destinations(&self, now: Timestamp) -> Option<Destinations<'t>> {
        let exact = |url| Destination::of(self.entry, url, false);
        let variants = self.entry.variants();
        Some(Destinations {
            own: exact(self.target(now)?),
            variants: variants.map(|it| exact(it.target().into())).collect(),
        })
    }

    /// Returns where paths below the code lead at `now`; `None` if they are gone.
    pub(super) fn destinations_below(&self, now: Timestamp) -> Option<Destinations<'t>> {
        let (entry, target) = (self.entry, self.target(now)?);
        let own = match entry.below() {
            Some(below) => Destination::of(entry, below.into(), true),
            None => Destination::of(entry, target, entry.forward().path()),
        };
        let below = |variant: Variant<'t>| match entry.path_target_of(variant) {
            Some(below) => Destination::of(entry, below.into(), true),
            None => Destination::of(entry, variant.target().into(), false),
        };
        Some(Destinations {
            own,
            variants: entry.variants().map(below).collect(),
        })
    }
}

impl<'t> Destinations<'t> {
    /// Returns each destination with the number of its variant, from 1; that of all other requests is
    /// the last and has the number 0.
    pub(super) fn choices(&self) -> impl Iterator<Item = (usize, &Destination<'t>)> {
        let variants = self.variants.iter().enumerate();
        let variants = variants.map(|(number, it)| (number + 1, it));
        variants.chain([(0, &self.own)])
    }
}

impl<'t> Destination<'t> {
    fn of(entry: Entry<'t>, url: Cow<'t, str>, takes_path: bool) -> Self {
        Self {
            url,
            takes_path,
            takes_query: entry.forward().query(),
        }
    }

    /// Returns whether the path below the code is appended.
    pub(super) fn takes_path(&self) -> bool {
        self.takes_path
    }

    /// Returns whether a fragment follows what is inserted.
    pub(super) fn has_fragment(&self) -> bool {
        !self.divided().1.is_empty()
    }

    /// Returns how the query of the request is inserted, if it is.
    pub(super) fn query_start(&self) -> Option<QueryStart> {
        let (before, _) = self.divided();
        self.takes_query.then(|| match before.contains('?') {
            false => QueryStart::Question,
            true if !self.takes_path && before.ends_with(['?', '&']) => QueryStart::Nothing,
            true => QueryStart::Ampersand,
        })
    }

    /// Returns the URL, escaped, with what stands for the path below the code and for the query, from
    /// its `?` or `&` on. The path is only used if it is appended.
    pub(super) fn written(
        &self,
        escaped: impl Fn(&str) -> String,
        path: &str,
        query: &str,
    ) -> String {
        let (before, fragment) = self.divided();
        let path = if self.takes_path { path } else { "" };
        match fragment {
            "" => format!("{}{path}{query}", escaped(before)),
            _ => format!("{}{query}{}{path}", escaped(before), escaped(fragment)),
        }
    }

    /// Returns what precedes the fragment, and the fragment from its `#` on.
    fn divided(&self) -> (&str, &str) {
        self.url
            .split_at(self.url.find('#').unwrap_or(self.url.len()))
    }
}

impl QueryStart {
    /// Returns the text between a URL and a query.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Question => "?",
            Self::Ampersand => "&",
            Self::Nothing => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::write::rows::SortedEntries;
    use crate::exchange::write::rows::testing::site_of;

    #[test]
    fn parts_of_the_request_are_inserted_where_a_server_inserts_them() {
        for (entry, code, below) in [
            ("url: 'https://e.org/'", "https://e.org/", "https://e.org/"),
            (
                "{url: 'https://e.org/?a#/', forward: path-and-query}",
                "https://e.org/?aQ#/",
                "https://e.org/?aQ#/P",
            ),
            (
                "{url: 'https://e.org/?', forward: all-and-query}",
                "https://e.org/?Q",
                "https://e.org/?Q",
            ),
            (
                "{url: 'https://e.org/a', below: 'https://e.org/b/', forward: query}",
                "https://e.org/aQ",
                "https://e.org/b/PQ",
            ),
            (
                "{url: 'https://e.org/#', forward: path}",
                "https://e.org/#",
                "https://e.org/#P",
            ),
        ] {
            let table = site_of(&format!("- {entry}\n"));
            let order = SortedEntries::of(&table.sites()[0]);
            let row = order.rows().next().unwrap();
            let written = |found: Option<Destinations<'_>>| {
                let own = found.unwrap().own;
                let query = if own.query_start().is_some() { "Q" } else { "" };
                own.written(str::to_owned, "P", query)
            };
            assert_eq!(written(row.destinations(Timestamp::MIN)), code, "{entry}");
            assert_eq!(
                written(row.destinations_below(Timestamp::MIN)),
                below,
                "{entry}"
            );
        }
    }

    #[test]
    fn a_query_follows_what_its_url_ends_in() {
        for (url, forward, expected) in [
            ("https://e.org/", "none", None),
            ("https://e.org/#?", "query", Some("?")),
            ("https://e.org/?a", "query", Some("&")),
            ("https://e.org/?a&#f", "query", Some("")),
            ("https://e.org/?", "all-and-query", Some("")),
            ("https://e.org/?q=", "path-and-query", Some("&")),
        ] {
            let table = site_of(&format!("- {{url: '{url}', forward: {forward}}}\n"));
            let order = SortedEntries::of(&table.sites()[0]);
            let row = order.rows().next().unwrap();
            let start = row.destinations(Timestamp::MIN).unwrap().own.query_start();
            assert_eq!(start.map(QueryStart::text), expected, "{url}");
        }
    }

    #[test]
    fn paths_lead_variants_where_their_entry_says() {
        let table = site_of(
            "- url: https://e.org/\n  short-code: a\n  below: https://e.org/b/\n  forward: all\n  variants:\n\
             \x20 - {accept: text/turtle, url: 'https://e.org/t'}\n\
             \x20 - {accept: text/plain, url: 'https://e.org/p', below: 'https://e.org/p/'}\n",
        );
        let order = SortedEntries::of(&table.sites()[0]);
        let row = order.rows().next().unwrap();
        let choices = |all: Destinations<'_>| -> Vec<_> {
            let choices = all.choices();
            choices
                .map(|(number, it)| format!("{number} {}", it.written(str::to_owned, "P", "")))
                .collect()
        };
        let code = ["1 https://e.org/t", "2 https://e.org/p", "0 https://e.org/"];
        assert_eq!(choices(row.destinations(Timestamp::MIN).unwrap()), code);
        let below = [
            "1 https://e.org/t",
            "2 https://e.org/p/P",
            "0 https://e.org/b/P",
        ];
        assert_eq!(
            choices(row.destinations_below(Timestamp::MIN).unwrap()),
            below
        );
    }
}
