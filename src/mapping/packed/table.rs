//! The mapping table: all entries that one server serves, compiled and immutable.
//!
//! It finds the site for a request. `resolve` decides the outcome of the path there.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use url::Url;

use super::nesting::Nesting;
use super::review_scope::ReviewScope;
use super::site::Site;
use super::unknown_site::UnknownSite;
use crate::mapping::value::{BaseUrl, Target};

/// All entries that one server serves.
#[derive(Debug)]
pub struct Table {
    sites: Vec<Site>,
    /// The sites of each host, by their base paths.
    hosts: HashMap<Box<str>, Nesting>,
}

/// The site for a request.
pub(crate) enum Found<'t, 'r> {
    /// The site, and the path after its base path.
    Site(&'t Site, &'r str),
    /// Its host matches, but the path is not under its base path.
    OutsideBasePath(&'t Site),
    /// There are several sites, and none has this host.
    UnknownHost,
}

impl Table {
    /// Creates a table of sites; no two have the same host and base path.
    pub(crate) fn new(sites: Vec<Site>) -> Self {
        let mut paths: HashMap<Box<str>, Vec<(Box<str>, usize)>> = HashMap::new();
        for (index, site) in sites.iter().enumerate() {
            let base = site.base_url();
            let of_host = paths.entry(base.host().into()).or_default();
            of_host.push((base.path().into(), index));
        }
        let nested = paths.into_iter();
        let hosts = nested
            .map(|(host, paths)| (host, Nesting::new(paths)))
            .collect();
        Self { sites, hosts }
    }

    /// Returns the sites: at least one, if the table has files.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Records of each site what the review of the next version must look at besides its changes.
    pub(crate) fn set_review_scopes(&mut self, scopes: impl IntoIterator<Item = ReviewScope>) {
        for (site, scope) in self.sites.iter_mut().zip(scopes) {
            site.set_review_scope(scope);
        }
    }

    /// Returns whether it has sites under the same hosts as another table, in the same order.
    pub(crate) fn has_hosts_of(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|it| it.sites.iter().map(|it| it.base_url().host()));
        own.eq(others)
    }

    /// Returns the paths of its files.
    pub(crate) fn files(&self) -> &[Arc<str>] {
        self.sites.first().map_or(&[], Site::all_files)
    }

    /// Returns whether a URL is under a site of the table; `http` and `https` count as equal.
    pub(crate) fn is_own(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        self.hosts.get(host).is_some_and(|nesting| {
            let mut around = nesting.around(url.path());
            around.any(|index| self.sites[index].base_url().port() == url.port())
        })
    }

    /// Returns whether a target may be in this table, a cheap test that rules out most: after the
    /// scheme, it must begin like one of its sites.
    pub(crate) fn may_own(&self, rest: &str) -> bool {
        if let [site] = &self.sites[..] {
            let host = site.base_url().host().as_bytes();
            return rest.as_bytes().starts_with(host);
        }
        // In `[::1]` the colons belong to the address.
        let address = rest.find(']').filter(|_| rest.starts_with('['));
        let end = match address {
            Some(bracket) => bracket + 1,
            None => rest.find(['/', ':', '?', '#']).unwrap_or(rest.len()),
        };
        let host = &rest[..end];
        self.hosts
            .contains_key(host.strip_suffix('.').unwrap_or(host))
    }

    /// Returns the site with this base URL, in any spelling.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn site_named(&self, name: &str) -> Result<&Site, UnknownSite> {
        let base_url = BaseUrl::parse(name).ok();
        let mut sites = self.sites.iter();
        let found = sites.find(|site| Some(site.base_url()) == base_url.as_ref());
        found.ok_or_else(|| UnknownSite {
            site: name.to_owned(),
            sites: self.base_urls(),
        })
    }

    /// Returns the base URLs of all sites.
    pub(crate) fn base_urls(&self) -> Vec<String> {
        let sites = self.sites.iter();
        sites
            .map(|site| site.base_url().as_str().to_owned())
            .collect()
    }

    /// Returns the site of this table with the host and base path of a site of another one.
    pub(crate) fn counterpart(&self, site: &Site) -> Option<&Site> {
        let base = site.base_url();
        let index = self.hosts.get(base.host())?.get(base.path())?;
        Some(&self.sites[index])
    }

    /// Returns the site with the longest base path that a base URL is under.
    pub(crate) fn site_around(&self, base: &BaseUrl) -> Option<&Site> {
        let index = self.hosts.get(base.host())?.around(base.path()).next()?;
        Some(&self.sites[index])
    }

    /// Returns the site that answers for a code of another site, because its base path lies around
    /// it; `None` if the code is answered by its own site.
    pub(crate) fn site_over(&self, site: &Site, code: &str) -> Option<&Site> {
        let base = site.base_url();
        if self.sites.len() == 1 {
            return None;
        }
        let path = format!("{}{code}", base.path());
        let index = self.hosts.get(base.host())?.around(&path).next()?;
        Some(&self.sites[index]).filter(|it| it.base_url().path() != base.path())
    }

    /// Returns the number of entries of all sites.
    pub fn len(&self) -> usize {
        self.sites.iter().map(Site::len).sum()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory that the table uses, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.sites.iter().map(Site::heap_bytes).sum()
    }

    /// Returns the site for this host and path, whether or not the path is under its base path;
    /// `None` if there are several sites, and none has this host.
    pub fn site_of(&self, host: Option<&str>, path: &str) -> Option<&Site> {
        match self.find_site(host, path) {
            Found::Site(site, _) | Found::OutsideBasePath(site) => Some(site),
            Found::UnknownHost => None,
        }
    }

    /// Returns whether a target is under one of the sites; `http` and `https` count as equal.
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
        let Some(nesting) = self.hosts.get(&*host) else {
            return Found::UnknownHost;
        };
        let innermost = nesting.around(path).next();
        let innermost = innermost.map(|index| &self.sites[index]);
        let rest = |site: &Site| path.strip_prefix(site.base_url().path());
        match innermost.and_then(|site| Some((site, rest(site)?))) {
            Some((site, rest)) => Found::Site(site, rest),
            None => nesting.outermost().map_or(Found::UnknownHost, |index| {
                Found::OutsideBasePath(&self.sites[index])
            }),
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
