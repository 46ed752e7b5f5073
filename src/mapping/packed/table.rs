//! The mapping table: all entries that one server serves, compiled and immutable.
//!
//! It knows which site a request means. What the site makes of the path is told in `resolve`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use url::Url;

use super::site::Site;
use crate::mapping::value::Target;

/// All entries that one server serves.
#[derive(Debug)]
pub struct Table {
    sites: Vec<Site>,
    /// The sites of each host, the longest base path first.
    hosts: HashMap<Box<str>, Vec<usize>>,
}

/// The site that a request means.
pub(crate) enum Found<'t, 'r> {
    /// It, and what stands behind its base path.
    Site(&'t Site, &'r str),
    /// Its host is right, but the path is not under its base path.
    OutsideBasePath(&'t Site),
    /// There are several sites, and none has this host.
    UnknownHost,
}

impl Table {
    /// Puts sites together; no two have the same host and base path.
    pub(crate) fn new(sites: Vec<Site>) -> Self {
        let mut hosts: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for (index, site) in sites.iter().enumerate() {
            let host = site.base_url().host().into();
            hosts.entry(host).or_default().push(index);
        }
        for indices in hosts.values_mut() {
            indices.sort_by_key(|&index| std::cmp::Reverse(sites[index].base_url().path().len()));
        }
        Self { sites, hosts }
    }

    /// Returns the sites: at least one.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Returns the paths of its files.
    pub(crate) fn files(&self) -> &[Arc<str>] {
        self.sites[0].all_files()
    }

    /// Returns whether a URL lies under a site of the table, `http` and `https` being one.
    pub(crate) fn is_own(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        self.sites.iter().any(|site| {
            let base = site.base_url();
            base.host() == host && base.port() == url.port() && url.path().starts_with(base.path())
        })
    }

    /// Returns the number of entries of all sites.
    pub fn len(&self) -> usize {
        self.sites.iter().map(Site::len).sum()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that the table holds, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.sites.iter().map(Site::heap_bytes).sum()
    }

    /// Returns the site that a request for this host and path means, whether or not the path is
    /// under its base path; `None` if there are several sites, and none has this host.
    pub fn site_of(&self, host: Option<&str>, path: &str) -> Option<&Site> {
        match self.find_site(host, path) {
            Found::Site(site, _) | Found::OutsideBasePath(site) => Some(site),
            Found::UnknownHost => None,
        }
    }

    /// Tells whether a target lies under one of the sites, `http` and `https` being one.
    pub fn covers(&self, target: &Target<'_>) -> bool {
        Url::parse(target.as_str()).is_ok_and(|url| self.is_own(&url))
    }

    /// Chooses the site by host (case, port and a final dot do not count) and base path.
    ///
    /// A table of one site answers for any host.
    pub(crate) fn find_site<'r>(&self, host: Option<&str>, path: &'r str) -> Found<'_, 'r> {
        if let [site] = &self.sites[..] {
            return match path.strip_prefix(site.base_url().path()) {
                Some(rest) => Found::Site(site, rest),
                None => Found::OutsideBasePath(site),
            };
        }
        let host = bare_host(host.unwrap_or_default());
        let Some(indices) = self.hosts.get(&*host) else {
            return Found::UnknownHost;
        };
        let mut sites = indices.iter().map(|&index| &self.sites[index]);
        let fits = |site: &Site| path.strip_prefix(site.base_url().path());
        match sites.clone().find_map(|site| Some((site, fits(site)?))) {
            Some((site, rest)) => Found::Site(site, rest),
            None => sites
                .next_back()
                .map_or(Found::UnknownHost, Found::OutsideBasePath),
        }
    }
}

/// Returns a host in lower case, without its port and final dot.
fn bare_host(host: &str) -> Cow<'_, str> {
    let without_port = match host.rsplit_once(':') {
        // In `[::1]` the last colon belongs to the address.
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = without_port.strip_suffix('.').unwrap_or(without_port);
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_counts_without_case_port_and_final_dot() {
        for host in [
            "short.code",
            "SHORT.code",
            "short.code:8080",
            "short.code.",
            "Short.Code.:1",
        ] {
            assert_eq!(bare_host(host), "short.code");
        }
        assert_eq!(bare_host("[::1]"), "[::1]");
        assert_eq!(bare_host("[::1]:80"), "[::1]");
        assert_eq!(bare_host(""), "");
    }
}
