//! The frame of a page, which `base.html` writes: the name of the collection, the ways to its other
//! pages, and the language.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::language::Language;
use super::messages::filled;
use super::sentence::Sentence;
use crate::mapping::{About, BaseUrl, Site};

/// The name of a collection without a name and a host.
const NAMELESS: &str = "Waypost";

const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The style of every page, as `base.html` includes it.
pub const STYLE: &str = include_str!("../../templates/style.css");

/// The frame of a page. A link that it does not have is not shown.
#[derive(Debug, Clone)]
pub struct Frame<'p> {
    /// The language of the page.
    pub language: Language,
    /// The name of the collection.
    pub name: &'p str,
    /// The path of the landing page.
    pub home: Option<String>,
    /// The path of the list of all links.
    pub list: Option<String>,
    /// The path of the OpenSearch description, by which browsers search the links.
    pub opensearch: Option<String>,
    /// The path of the form that proposes a link.
    pub propose: Option<String>,
    /// The address of the repository.
    pub repository: Option<&'p str>,
    /// The address for reports: `https:` or `mailto:`.
    pub contact: Option<&'p str>,
    /// The revision of the table, in its short form.
    pub revision: Option<&'p str>,
}

impl<'p> Frame<'p> {
    /// Returns the frame of a page of a site, if one was chosen, with the parts that do not depend
    /// on the page.
    pub fn of(language: Language, site: Option<&'p Site>) -> Self {
        let base_url = site.map(Site::base_url);
        let about = site.map(Site::about);
        let host = base_url.map_or(NAMELESS, BaseUrl::host);
        Self {
            language,
            name: about.and_then(About::name).unwrap_or(host),
            home: base_url.map(|it| it.path().to_owned()),
            list: None,
            opensearch: None,
            propose: None,
            repository: about.and_then(About::repository),
            contact: about.and_then(About::contact),
            revision: None,
        }
    }

    /// Returns the text of a key.
    pub fn text(&self, key: &'static str) -> &'static str {
        self.language.text(key)
    }

    /// Returns the text of a key, into which values are inserted.
    pub fn sentence(&self, key: &'static str) -> Sentence {
        Sentence::new(self.language, key)
    }

    /// Returns the text of a key with one value, where there is no markup.
    pub fn plain(&self, key: &'static str, name: &str, value: &str) -> String {
        filled(self.text(key), |it| {
            if it == name { value } else { "" }.to_owned()
        })
    }

    /// Returns the path of the list of links for which a key of the search has a value.
    pub fn search(&self, key: &str, value: &str) -> Option<String> {
        let list = self.list.as_ref()?;
        Some(format!("{list}?{key}={}", in_query(value)))
    }

    /// Returns the first of two texts for one, and the second for other numbers, with the number.
    pub fn counted(&self, one: &'static str, other: &'static str, number: usize) -> Sentence {
        let key = if number == 1 { one } else { other };
        self.sentence(key).text("count", grouped(number))
    }
}

/// Encodes a value for the query of a URL (RFC 3986, "unreserved" stays).
pub fn in_query(value: &str) -> String {
    utf8_percent_encode(value, IN_QUERY).to_string()
}

/// Returns a number with its digits in groups of three, if they are more than four (ISO 80000-1,
/// 7.3.1).
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            // A narrow no-break space.
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_its_value_encoded() {
        let frame = Frame {
            list: Some("/s/-/links".to_owned()),
            ..Frame::of(Language::DEFAULT, None)
        };
        let search = frame.search("tag", "a&b=ü +");
        assert_eq!(
            search.as_deref(),
            Some("/s/-/links?tag=a%26b%3D%C3%BC%20%2B")
        );
        let without = Frame {
            list: None,
            ..frame
        };
        assert_eq!(without.search("tag", "a"), None);
    }

    #[test]
    fn long_numbers_have_groups() {
        for (number, expected) in [
            (0, "0"),
            (9999, "9999"),
            (10_000, "10\u{202f}000"),
            (1_234_567, "1\u{202f}234\u{202f}567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}
