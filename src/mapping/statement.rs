//! Statements: that a published code is meant to lead elsewhere from now on.

use std::rc::Rc;

use super::Site;

/// The word in front of the codes of a statement.
const RETARGET: &str = "retarget";

/// That one code is meant to lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement(Rc<str>);

impl Statement {
    /// States it of a code as tables write it, in whichever site; or of one whole short link.
    pub fn retarget(link: &str) -> Self {
        Self(link.into())
    }

    /// Reads `retarget CODE…`, with spaces or commas between codes; nothing else is a statement.
    pub fn read(text: &str) -> Option<Vec<Self>> {
        let mut words = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|word| !word.is_empty());
        if words.next() != Some(RETARGET) {
            return None;
        }
        let all: Vec<_> = words.map(Self::retarget).collect();
        (!all.is_empty()).then_some(all)
    }

    /// Returns the text that [`Statement::read`] takes.
    pub(super) fn text_for(link: &str) -> String {
        format!("{RETARGET} {link}")
    }

    /// Tells whether it is about this code of this site.
    pub(super) fn is_about(&self, site: &Site, code: &str) -> bool {
        if !self.0.contains("://") {
            return *self.0 == *code;
        }
        let plain = self.0.strip_prefix(site.base_url().as_str());
        plain == Some(code) || *self.0 == *site.short_url(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, compile};

    #[test]
    fn is_read_word_by_word() {
        let read = |text| {
            let all = Statement::read(text)?;
            Some(all.iter().map(|it| it.0.to_string()).collect::<Vec<_>>())
        };
        for text in ["retarget a b,-c", " retarget  a, b\n ,-c,"] {
            assert_eq!(read(text).unwrap(), ["a", "b", "-c"], "{text}");
        }
        for text in [
            "",
            "retarget",
            "retarget ,",
            "a",
            "Retarget a",
            "remove a",
            "retargeta",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_code_is_meant_in_every_site_and_a_link_in_one() {
        let file = |host: &str| SourceFile {
            path: host.into(),
            bytes: format!("base_url: https://{host}/go/\nmapping: []\n").into(),
        };
        let files = [file("a.example"), file("b.example")];
        let table = compile(&files).table.unwrap();
        let about = |link: &str, code| {
            let statement = Statement::retarget(link);
            let sites = table.sites().iter();
            sites.filter(|site| statement.is_about(site, code)).count()
        };
        assert_eq!(about("é", "é"), 2);
        assert_eq!(about("É", "é"), 0);
        assert_eq!(about("https://a.example/go/é", "é"), 1);
        assert_eq!(about("https://a.example/go/%C3%A9", "é"), 1);
        assert_eq!(about("https://c.example/go/é", "é"), 0);
    }
}
