//! Changes of the keys of a site that decide where requests lead: of its base URL, of unknown paths, and of
//! codes in another case.

use std::fmt;

use crate::mapping::packed::{Site, Table};
use crate::mapping::value::{Case, Place, SiteTarget};

/// A difference of a site between two tables.
#[derive(Debug, Clone)]
pub struct SiteChange<'t> {
    /// The key that it concerns.
    pub kind: SiteChangeKind,
    /// The site: the new one, if it still exists.
    pub site: &'t Site,
    /// What the key was.
    pub old: Option<SiteValue<'t>>,
    /// What the key is now.
    pub new: Option<SiteValue<'t>>,
}

/// A key of a site that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteChangeKind {
    /// `home`: where the base URL itself leads.
    Home,
    /// `fallback`: where a path that is not found leads.
    Fallback,
    /// `case`: whether codes are found in any case.
    Case,
}

/// The value of a key of a site, and where it is written first.
#[derive(Debug, Clone, Copy)]
pub struct SiteValue<'t> {
    /// The value, as it is written or in canonical form.
    pub text: &'t str,
    /// The place.
    pub place: &'t Place,
}

impl SiteChangeKind {
    /// Every kind, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Home, Self::Fallback, Self::Case];

    /// Returns its name in messages and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "home-changed",
            Self::Fallback => "fallback-changed",
            Self::Case => "case-changed",
        }
    }

    /// Returns the value of the key in a site, unless it is the default.
    fn value(self, site: &Site) -> Option<SiteValue<'_>> {
        let about = site.about();
        match self {
            Self::Home => about.home().map(SiteValue::of_target),
            Self::Fallback => about.fallback().map(SiteValue::of_target),
            Self::Case => about.folded_at().map(|place| SiteValue {
                text: Case::Fold.name(),
                place,
            }),
        }
    }
}

impl<'t> SiteValue<'t> {
    fn of_target(target: &'t SiteTarget) -> Self {
        Self {
            text: target.url(),
            place: target.place(),
        }
    }
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
        SiteChangeKind::ALL.into_iter().filter_map(move |kind| {
            let value = |site: Option<&'t Site>| kind.value(site?);
            let change = SiteChange {
                kind,
                site: new.or(old)?,
                old: value(old),
                new: value(new),
            };
            (change.before() != change.after()).then_some(change)
        })
    });
    changes.collect()
}

impl<'t> SiteChange<'t> {
    /// Returns the former value of the key.
    pub fn before(&self) -> Option<&'t str> {
        self.old.map(|old| old.text)
    }

    /// Returns the present value of the key.
    pub fn after(&self) -> Option<&'t str> {
        self.new.map(|new| new.text)
    }

    /// Returns where the key is written: in the old table, if the new one lacks it.
    pub fn place(&self) -> Option<&'t Place> {
        self.new.or(self.old).map(|value| value.place)
    }
}

/// Writes the old and the new value.
impl fmt::Display for SiteChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = match self.kind {
            SiteChangeKind::Case => Case::Exact.name(),
            SiteChangeKind::Home | SiteChangeKind::Fallback => "none",
        };
        let (before, after) = (self.before(), self.after());
        let (before, after) = (before.unwrap_or(none), after.unwrap_or(none));
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
            format!("{} {site} {it} {place}", it.kind.name())
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
        let folded = format!("{a}case: fold\n");
        assert_eq!(
            reported(&[a], &[&folded]),
            ["case-changed https://a.example/ exact → fold 0.yaml:2:7"]
        );
        let exact = format!("{a}case: exact\n");
        assert_eq!(
            reported(&[&folded], &[&exact]),
            ["case-changed https://a.example/ fold → exact 0.yaml:2:7"]
        );
        assert_eq!(reported(&[a], &[&exact]), [""; 0]);
    }
}
