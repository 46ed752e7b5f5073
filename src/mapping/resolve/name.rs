//! Names of links: the code or the short link by which a person names an entry to change it.
//!
//! Unlike a request, a name is never repaired: exactly the named link is changed, or nothing.

use unicode_normalization::UnicodeNormalization as _;
use url::Url;

use super::path::Decoded;
use crate::mapping::packed::{Entry, Found, Site, Table};
use crate::mapping::value::Target;

impl Table {
    /// Returns the entries that a name refers to, in the order of the sites: a code or an alias, of
    /// which every site may have one, or a whole short link, with or without its scheme.
    pub fn named(&self, name: &str) -> Vec<Entry<'_>> {
        let code: String = name.nfc().collect();
        let sites = self.sites().iter();
        let found: Vec<_> = sites
            .filter_map(|site| site.lookup_in_any_case(&code))
            .collect();
        if !found.is_empty() {
            return found;
        }
        let Some(url) = self.own_url(name) else {
            return Vec::new();
        };
        let found = self.below(&url).and_then(|(site, rest)| {
            let decoded = Decoded::new(rest)?;
            site.lookup_in_any_case(decoded.as_code()?)
        });
        found.into_iter().collect()
    }

    /// Returns up to `limit` codes that resemble a name without an entry, nearest first; with
    /// several sites, whole short links. If the name is the target of entries, returns their codes.
    pub fn similar(&self, name: &str, limit: usize) -> Vec<String> {
        let shown = |site: &Site, code: &str| match self.sites() {
            [_] => code.to_owned(),
            _ => site.short_url(code),
        };
        if let Some(url) = self.own_url(name) {
            let found = self.below(&url).and_then(|(site, rest)| {
                let decoded = Decoded::new(rest)?;
                let nearest = site.nearest(decoded.as_str()).into_iter().take(limit);
                Some(nearest.map(|(_, code)| shown(site, &code)).collect())
            });
            return found.unwrap_or_default();
        }
        if let Ok(target) = Target::parse(name) {
            let leading = self.sites().iter().flat_map(|site| {
                let entries = site.leading_to(target.as_str()).into_iter();
                entries.map(|entry| shown(site, &entry.code()))
            });
            return leading.take(limit).collect();
        }
        let nearest = self.sites().iter().flat_map(|site| {
            let nearest = site.nearest(name).into_iter().take(limit);
            nearest.map(move |(distance, code)| (distance, site, code))
        });
        let mut nearest: Vec<_> = nearest.collect();
        // Stable: equally near ones stay in the order of the sites.
        nearest.sort_by_key(|(distance, ..)| *distance);
        let nearest = nearest.into_iter().take(limit);
        nearest.map(|(_, site, code)| shown(site, &code)).collect()
    }

    /// Returns a name as a URL under one of the sites, if it is one.
    fn own_url(&self, name: &str) -> Option<Url> {
        let begins_with_host = |site: &Site| {
            let rest = name.strip_prefix(site.base_url().host());
            rest.is_some_and(|rest| rest.starts_with(['/', ':']))
        };
        let url = match self.sites().iter().any(begins_with_host) {
            true => Url::parse(&format!("https://{name}")),
            false => Url::parse(name),
        };
        url.ok().filter(|url| self.is_own(url))
    }

    /// Returns the site of a URL, and the path under its base URL.
    fn below<'u>(&self, url: &'u Url) -> Option<(&Site, &'u str)> {
        match self.find_site(url.host_str(), url.path()) {
            Found::Site(site, rest) => Some((site, rest)),
            Found::OutsideBasePath(_) | Found::UnknownHost => None,
        }
    }
}
