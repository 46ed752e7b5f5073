//! The nesting of base paths: which sites of one host lie around a path.
//!
//! Base paths begin and end with a slash, so one lies within another if it begins with it. Of the
//! paths in alphabetical order up to a given one, the last begins with the longest path that the
//! given one begins with; so that path is among those that enclose the last. It takes a binary
//! search and a step for each level, however many sites there are.

/// The base paths of the sites of one host, in alphabetical order.
#[derive(Debug)]
pub(super) struct Nesting {
    all: Vec<Nested>,
    /// The number of the site with the shortest base path; of several, the highest.
    outermost: Option<usize>,
}

/// A base path.
#[derive(Debug)]
struct Nested {
    path: Box<str>,
    /// The number of its site.
    site: usize,
    /// The position of the innermost path around it.
    outer: Option<usize>,
}

impl Nesting {
    /// Creates the nesting of distinct base paths, with the numbers of their sites.
    pub(super) fn new(mut paths: Vec<(Box<str>, usize)>) -> Self {
        paths.sort_unstable();
        let shortest = paths
            .iter()
            .min_by_key(|(path, site)| (path.len(), std::cmp::Reverse(*site)));
        let outermost = shortest.map(|(_, site)| *site);
        let mut all: Vec<Nested> = Vec::with_capacity(paths.len());
        for (path, site) in paths {
            let mut outer = all.len().checked_sub(1);
            while let Some(at) = outer.filter(|at| !path.starts_with(&*all[*at].path)) {
                outer = all[at].outer;
            }
            all.push(Nested { path, site, outer });
        }
        Self { all, outermost }
    }

    /// Returns the number of the site with the given base path.
    pub(super) fn get(&self, path: &str) -> Option<usize> {
        let found = self.all.binary_search_by(|it| (*it.path).cmp(path));
        found.ok().map(|at| self.all[at].site)
    }

    /// Returns the numbers of the sites whose base paths the given path begins with, the longest
    /// first.
    pub(super) fn around<'n>(&'n self, path: &'n str) -> impl Iterator<Item = usize> + 'n {
        let after = self.all.partition_point(|it| *it.path <= *path);
        let nested = |at: &usize| self.all[*at].outer;
        std::iter::successors(after.checked_sub(1), nested)
            .map(|at| &self.all[at])
            .filter(|it| path.starts_with(&*it.path))
            .map(|it| it.site)
    }

    /// Returns the number of the site with the shortest base path.
    pub(super) fn outermost(&self) -> Option<usize> {
        self.outermost
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nesting(paths: &[String]) -> Nesting {
        let numbered = paths.iter().enumerate();
        Nesting::new(numbered.map(|(at, path)| ((**path).into(), at)).collect())
    }

    proptest! {
        #[test]
        fn finds_what_trying_all_finds(
            paths in prop::collection::hash_set("/([ab.-]{1,2}/){0,4}", 1..12),
            path in "/([ab.-]{1,2}/){0,5}[ab]?",
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let nesting = nesting(&paths);
            let mut around: Vec<_> = (0..paths.len())
                .filter(|&at| path.starts_with(&paths[at]))
                .collect();
            around.sort_by_key(|&at| std::cmp::Reverse(paths[at].len()));
            prop_assert_eq!(nesting.around(&path).collect::<Vec<_>>(), around);
            let exact = paths.iter().position(|it| *it == path);
            prop_assert_eq!(nesting.get(&path), exact);
            let shortest = paths.iter().map(String::len).min();
            let outermost = nesting.outermost().map(|at| paths[at].len());
            prop_assert_eq!(outermost, shortest);
        }
    }
}
