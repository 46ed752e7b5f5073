//! Arrivals: the pages to which links of a table have moved, and what else of the table leads there.
//! A page is a URL without its fragment.

use std::collections::HashMap;

use crate::mapping::{Place, Table, Target};

/// The pages to which links of a table have moved.
#[derive(Default)]
pub(super) struct Arrivals(HashMap<String, Arrival>);

/// A page to which links have moved.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// How many links have moved there.
    pub(super) links: usize,
    /// The first entry that leads there already.
    pub(super) entry: Option<Place>,
}

impl Arrivals {
    /// Finds the pages, given where each link has moved.
    pub(super) fn of<'c>(moved: impl Iterator<Item = &'c str>, table: &Table) -> Self {
        let mut arrivals = HashMap::<String, Arrival>::new();
        for target in moved.filter_map(|to| Target::parse(to).ok()) {
            let at = arrivals.entry(page(target.as_str()).to_owned());
            at.or_default().links += 1;
        }
        if arrivals.is_empty() {
            return Self::default();
        }
        for entry in table.sites().iter().flat_map(|site| site.entries()) {
            let target = entry.target();
            let arrival = target.and_then(|target| arrivals.get_mut(page(&target)));
            if let Some(arrival) = arrival {
                arrival.entry.get_or_insert_with(|| entry.place());
            }
        }
        Self(arrivals)
    }

    /// Returns what has arrived at the page of a target.
    pub(super) fn at(&self, target: &Target<'_>) -> Option<&Arrival> {
        self.0.get(page(target.as_str()))
    }
}

/// Returns a target without its fragment.
fn page(target: &str) -> &str {
    target.split_once('#').map_or(target, |(page, _)| page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    #[test]
    fn all_links_and_entries_of_a_page_are_found() {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            bytes: text.into(),
        };
        let compiled = compile(&[
            file(
                "a.yaml",
                "base_url: https://s.code/\nmapping:\n- url: https://a.example/x?q\n",
            ),
            file(
                "b.yaml",
                "base_url: https://t.code/\nmapping:\n- url: https://a.example/y#there\n",
            ),
        ]);
        let moved = [
            "https://a.example/x#1",
            "https://a.example/x#2",
            "https://a.example/y",
        ];
        let arrivals = Arrivals::of(moved.into_iter(), &compiled.table.unwrap());
        let at = |target: &str| {
            let arrival = arrivals.at(&Target::parse(target).unwrap())?;
            let place = arrival.entry.as_ref().map(ToString::to_string);
            Some((arrival.links, place))
        };
        assert_eq!(at("https://a.example/x"), Some((2, None)));
        // The entry is one of another site, and has another fragment.
        let there = Some("b.yaml:3:3".to_owned());
        assert_eq!(at("https://a.example/y#here"), Some((1, there)));
        assert_eq!(at("https://a.example/x?q"), None);
    }
}
