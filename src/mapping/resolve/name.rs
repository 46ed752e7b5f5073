//! Names of links: the code or the short link by which a person names an entry to change it.
//!
//! Unlike a request, a name is never repaired: what is changed is exactly what was named, or nothing.

use unicode_normalization::UnicodeNormalization as _;
use url::Url;

use super::path::Decoded;
use crate::mapping::packed::{Entry, Found, Site, Table};
use crate::mapping::value::Target;

impl Table {
    /// Returns the entries that a name means, in the order of the sites: a code or an alias, of which
    /// every site may have one, or a whole short link, with or without its scheme.
    pub fn named(&self, name: &str) -> Vec<Entry<'_>> {
        let code: String = name.nfc().collect();
        let sites = self.sites().iter();
        let found: Vec<_> = sites.filter_map(|site| site.lookup(&code)).collect();
        if !found.is_empty() {
            return found;
        }
        let Some(url) = self.own_url(name) else {
            return Vec::new();
        };
        let found = self.below(&url).and_then(|(site, rest)| {
            let decoded = Decoded::new(rest)?;
            site.lookup(decoded.as_code()?)
        });
        found.into_iter().collect()
    }

    /// Returns up to `limit` codes that a name which means no entry may be intended for, nearest
    /// first; with several sites, whole short links. If it is the target of entries, those are meant.
    pub fn similar(&self, name: &str, limit: usize) -> Vec<String> {
        let shown = |site: &Site, code: &str| match self.sites() {
            [_] => code.to_owned(),
            _ => site.short_url(code),
        };
        if let Some(url) = self.own_url(name) {
            let found = self.below(&url).and_then(|(site, rest)| {
                let decoded = Decoded::new(rest)?;
                let nearest = site.nearest(decoded.as_str()).take(limit);
                Some(nearest.map(|code| shown(site, &code)).collect())
            });
            return found.unwrap_or_default();
        }
        let mut similar = Vec::new();
        let target = Target::parse(name).ok();
        for site in self.sites() {
            match &target {
                Some(target) => {
                    let entries = site.leading_to(target.as_str());
                    similar.extend(entries.iter().map(|entry| shown(site, &entry.code())));
                }
                None => similar.extend(site.nearest(name).map(|code| shown(site, &code))),
            }
        }
        similar.truncate(limit);
        similar
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

#[cfg(test)]
mod tests {
    use crate::mapping::compile;
    use crate::mapping::packed::Table;
    use crate::mapping::value::SourceFile;

    fn table(texts: &[&str]) -> Table {
        let files = texts.iter().enumerate().map(|(number, text)| SourceFile {
            path: number.to_string().into(),
            bytes: (*text).into(),
        });
        compile(&files.collect::<Vec<_>>()).table.unwrap()
    }

    const SITE: &str = "\
base_url: https://short.code/go/
mapping:
- url: https://framasoft.org/
- {url: https://gnu.org/, short-code: gnu-home, aliases: [gnu, été]}
- {short-code: old, retired: true}
- {url: https://below.example/, short-code: docs, forward: path}
";

    #[test]
    fn a_name_is_a_code_an_alias_or_a_short_link() {
        let table = table(&[SITE]);
        for (name, code) in [
            ("gnu-home", "gnu-home"),
            ("gnu", "gnu-home"),
            ("t0P0JMya", "t0P0JMya"),
            ("old", "old"),
            ("e\u{301}te\u{301}", "gnu-home"),
            ("https://short.code/go/gnu", "gnu-home"),
            ("HTTP://Short.Code./go/%C3%A9t%C3%A9?utm=1#top", "gnu-home"),
            ("short.code/go/gnu", "gnu-home"),
        ] {
            let found = table.named(name);
            let codes: Vec<_> = found.iter().map(|entry| entry.code()).collect();
            assert_eq!(codes, [code], "{name}");
        }
    }

    #[test]
    fn a_name_is_never_repaired() {
        let table = table(&[SITE]);
        for name in [
            "",
            "gnu-home+",
            "gnu-home/",
            "gnu-home.",
            "GNU-home",
            "docs/x",
            "t0P0JMy",
            "https://short.code/gnu-home",
            "https://short.code:8080/go/gnu-home",
            "https://other.code/go/gnu-home",
            "https://gnu.org/",
        ] {
            assert!(table.named(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn several_sites_may_have_the_same_code() {
        let other = "base_url: https://other.code/\nmapping:\n\
                     - {url: https://other.example/, short-code: gnu}\n";
        let table = table(&[SITE, other]);
        let links = |name| -> Vec<_> {
            let found = table.named(name).into_iter();
            found.map(|entry| entry.short_url()).collect()
        };
        let [first, second] = ["https://short.code/go/gnu-home", "https://other.code/gnu"];
        assert_eq!(links("gnu"), [first, second]);
        assert_eq!(links("https://other.code/gnu"), [second]);
        assert_eq!(links("short.code/go/gnu"), [first]);
        assert_eq!(table.similar("gna", 1), ["https://short.code/go/gnu"]);
        assert_eq!(table.similar("https://other.code/gna", 5), [second]);
    }

    #[test]
    fn what_is_similar_need_not_be_live() {
        let table = table(&[SITE]);
        assert_eq!(table.similar("olf", 5), ["old"]);
        assert_eq!(
            table.similar("https://short.code/go/gnu-hom", 1),
            ["gnu-home"]
        );
        assert_eq!(table.similar("HTTPS://gnu.org", 5), ["gnu-home"]);
        assert!(table.similar("https://elsewhere.example/gnu", 5).is_empty());
    }
}
