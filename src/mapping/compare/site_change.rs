//! Changes of the keys by which a site redirects: where its base URL and unknown paths lead.

use std::fmt;

use crate::mapping::packed::{Site, Table};
use crate::mapping::resolve::SiteKey;
use crate::mapping::value::{Place, SiteTarget};

/// A difference of a site between two tables.
#[derive(Debug, Clone)]
pub struct SiteChange<'t> {
    /// The key that it concerns.
    pub key: SiteKey,
    /// The site: the new one, if it still exists.
    pub site: &'t Site,
    /// What the key was.
    pub old: Option<&'t SiteTarget>,
    /// What the key is now.
    pub new: Option<&'t SiteTarget>,
}

/// Returns the changes of the sites from one table to another, in the order of the sites: first those
/// of the old table, then new ones.
pub fn compare_sites<'t>(old: &'t Table, new: &'t Table) -> Vec<SiteChange<'t>> {
    let former = old.sites().iter().map(|it| (Some(it), new.counterpart(it)));
    let added = new
        .sites()
        .iter()
        .filter(|it| old.counterpart(it).is_none());
    let pairs = former.chain(added.map(|it| (None, Some(it))));
    let changes = pairs.flat_map(|(old, new)| {
        SiteKey::ALL.into_iter().filter_map(move |key| {
            let target = |site: Option<&'t Site>| key.target(site?);
            let change = SiteChange {
                key,
                site: new.or(old)?,
                old: target(old),
                new: target(new),
            };
            (change.before() != change.after()).then_some(change)
        })
    });
    changes.collect()
}

impl<'t> SiteChange<'t> {
    /// Returns the name of its kind in messages and in JSON.
    pub fn kind(&self) -> &'static str {
        match self.key {
            SiteKey::Home => "home-changed",
            SiteKey::Fallback => "fallback-changed",
        }
    }

    /// Returns the URL to which the key led.
    pub fn before(&self) -> Option<&'t str> {
        self.old.map(SiteTarget::url)
    }

    /// Returns the URL to which the key leads now.
    pub fn after(&self) -> Option<&'t str> {
        self.new.map(SiteTarget::url)
    }

    /// Returns where the key is written: in the old table, if the new one lacks it.
    pub fn place(&self) -> Option<&'t Place> {
        self.new.or(self.old).map(SiteTarget::place)
    }
}

/// Writes the old and the new value.
impl fmt::Display for SiteChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (self.before(), self.after());
        let (before, after) = (before.unwrap_or("none"), after.unwrap_or("none"));
        write!(f, "{before} → {after}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::value::SourceFile;

    fn table(documents: &[&str]) -> Table {
        let files = documents.iter().enumerate().map(|(number, keys)| {
            let text = format!("{keys}mapping: []\n");
            SourceFile::new(format!("{number}.yaml").into(), text.into_bytes())
        });
        let files: Vec<_> = files.collect();
        compile(&files).table.unwrap()
    }

    fn reported(old: &[&str], new: &[&str]) -> Vec<String> {
        let (old, new) = (table(old), table(new));
        let changes = compare_sites(&old, &new).into_iter().map(|it| {
            let (site, place) = (it.site.base_url().as_str(), it.place().unwrap());
            format!("{} {site} {it} {place}", it.kind())
        });
        changes.collect()
    }

    #[test]
    fn each_key_of_each_site_is_compared() {
        let a = "base_url: https://a.example/\n";
        let with = format!("{a}home: https://e.org/\nfallback: https://e.org/\n");
        let moved = format!("{a}fallback: https://e.org\nhome: https://f.org/\n");
        let b = "base_url: https://b.example/\nhome: https://e.org/\n";
        assert_eq!(reported(&[&with], &[&with]), [""; 0]);
        assert_eq!(
            reported(&[a], &[&with]),
            [
                "home-changed https://a.example/ none → https://e.org/ 0.yaml:2:7",
                "fallback-changed https://a.example/ none → https://e.org/ 0.yaml:3:11",
            ]
        );
        assert_eq!(
            reported(&[b, a], &[a, b]),
            [""; 0],
            "the order of sites does not count"
        );
        assert_eq!(
            reported(&[&with, b], &[&moved.replace("org\n", "org/\n")]),
            [
                "home-changed https://a.example/ https://e.org/ → https://f.org/ 0.yaml:3:7",
                "home-changed https://b.example/ https://e.org/ → none 1.yaml:2:7",
            ]
        );
    }
}
