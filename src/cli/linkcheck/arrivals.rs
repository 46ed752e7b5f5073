//! Arrivals: the pages to which links of a table have moved. A page is a URL without its fragment.

use std::collections::HashMap;

use crate::mapping::Target;

/// How many links have moved to each page.
#[derive(Default)]
pub(super) struct Arrivals(HashMap<String, usize>);

impl Arrivals {
    /// Counts them, given where each link has moved.
    pub(super) fn of<'c>(moved: impl Iterator<Item = &'c str>) -> Self {
        let mut arrivals = HashMap::<String, usize>::new();
        for target in moved.filter_map(|to| Target::parse(to).ok()) {
            *arrivals.entry(page(&target).to_owned()).or_default() += 1;
        }
        Self(arrivals)
    }

    /// Returns how many links have moved to the page of a target.
    pub(super) fn at(&self, target: &Target<'_>) -> usize {
        self.0.get(page(target)).copied().unwrap_or_default()
    }
}

/// Returns a target without its fragment.
fn page<'t>(target: &'t Target<'_>) -> &'t str {
    let target = target.as_str();
    target.split_once('#').map_or(target, |(page, _)| page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_links_of_a_page_are_counted() {
        let moved = [
            "https://a.example/x#1",
            "https://a.example/x#2",
            "https://a.example/y",
        ];
        let arrivals = Arrivals::of(moved.into_iter());
        let at = |target: &str| arrivals.at(&Target::parse(target).unwrap());
        assert_eq!(at("https://a.example/x"), 2);
        assert_eq!(at("https://a.example/y#here"), 1);
        assert_eq!(at("https://a.example/x?q"), 0);
    }
}
