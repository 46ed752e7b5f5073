//! The order of written entries: by code.
//!
//! A code is computed on each request, so comparing codes directly would compute each one about
//! forty times. Their first eight bytes nearly always decide, and are all of an auto code.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::mapping::{Case, Entry, Site, Timestamp};

use super::expression::{matching, matching_any_case};

/// One code of a site, and its entry.
pub(crate) struct CodeRow<'t> {
    pub(crate) code: Cow<'t, str>,
    pub(crate) entry: Entry<'t>,
    /// Whether it is found in any case.
    pub(crate) folds: bool,
}

/// The entries of a site, sorted by code.
pub(crate) struct SortedEntries<'t>(Vec<(u64, Entry<'t>)>);

impl<'t> SortedEntries<'t> {
    /// Sorts the entries of a site.
    pub(crate) fn of(site: &'t Site) -> Self {
        let keyed = site.entries().map(|entry| (start(&entry.code()), entry));
        let mut keyed: Vec<_> = keyed.collect();
        keyed.sort_unstable_by(|(one, a), (other, b)| {
            one.cmp(other).then_with(|| a.code().cmp(&b.code()))
        });
        Self(keyed)
    }

    /// Returns the entries.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'t>> {
        self.0.iter().map(|(_, entry)| *entry)
    }

    /// Returns the codes: each entry's own, followed by its aliases.
    pub(crate) fn rows(&self) -> impl Iterator<Item = CodeRow<'t>> {
        self.entries().flat_map(|entry| {
            let folds = entry.site().about().case() == Case::Fold;
            let own = std::iter::once((entry.code(), folds && entry.has_custom_code()));
            let aliases = entry.aliases().map(Cow::Borrowed);
            let codes = own.chain(aliases.map(move |alias| (alias, folds)));
            codes.map(move |(code, folds)| CodeRow { code, entry, folds })
        })
    }

    /// Returns the codes that are found only as they are, which come before others in another case, and then those
    /// that are found in any case.
    pub(crate) fn rows_by_case(&self) -> impl Iterator<Item = CodeRow<'t>> {
        let has_folding = |(_, it): &(u64, Entry<'t>)| it.site().about().case() == Case::Fold;
        let folding = self.0.first().is_some_and(has_folding).then(|| self.rows());
        let folding = folding.into_iter().flatten().filter(|it| it.folds);
        self.rows().filter(|it| !it.folds).chain(folding)
    }
}

impl<'t> CodeRow<'t> {
    /// Returns the path of the short link as a server sees it, not percent-encoded.
    pub(crate) fn path(&self) -> String {
        format!("{}{}", base_path(self.entry.site()), self.code)
    }

    /// Returns an expression for the same path, in any case if the code is found so.
    pub(crate) fn expression(&self) -> String {
        let base = base_path(self.entry.site());
        match self.folds {
            true => format!(
                "{}{}",
                matching(&base),
                matching_any_case(&self.code, str::to_owned)
            ),
            false => matching(&self.path()),
        }
    }

    /// Returns the target of the code at `now`; `None` if it is gone.
    pub(crate) fn target(&self, now: Timestamp) -> Option<Cow<'t, str>> {
        self.entry.target().filter(|_| !self.entry.is_gone(now))
    }
}

/// Returns the path of the base URL as a server sees it, not percent-encoded.
pub(crate) fn base_path(site: &Site) -> Cow<'_, str> {
    percent_decode_str(site.base_url().path()).decode_utf8_lossy()
}

/// Returns the first eight bytes of a code as a number with the same order.
fn start(code: &str) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(code.bytes()) {
        *to = from;
    }
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::write::rows::testing::site_of;

    #[test]
    fn codes_are_in_order_each_followed_by_its_aliases() {
        let table = site_of(
            "- {url: 'https://e.org/1', short-code: abcdefgh2}\n\
             - {url: 'https://e.org/2', short-code: abcdefgh}\n\
             - {url: 'https://e.org/3', short-code: abcdefgh10, aliases: [a, zz]}\n\
             - {url: 'https://e.org/4', short-code: B}\n\
             - {url: 'https://e.org/5', short-code: é}\n",
        );
        let order = SortedEntries::of(&table.sites()[0]);
        let codes = order.rows().map(|row| row.code.into_owned());
        let expected = ["B", "abcdefgh", "abcdefgh10", "a", "zz", "abcdefgh2", "é"];
        assert_eq!(codes.collect::<Vec<_>>(), expected);
    }
}
