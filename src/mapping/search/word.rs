//! Words: the search terms that are looked for in the texts of entries.

use std::borrow::Cow;

use idna::punycode;
use memchr::memmem::Finder;

use crate::mapping::value::target;

/// The beginning of a label in Punycode.
pub(super) const PUNYCODE: &str = "xn--";

/// The length of the longest label of a domain name, in bytes (RFC 1035, 2.3.4).
const MAX_LABEL_BYTES: usize = 63;

/// A word in its folded form.
#[derive(Debug, Clone)]
pub(super) struct Word {
    text: Box<str>,
    finder: Finder<'static>,
}

impl Word {
    pub(super) fn new(folded: &str) -> Self {
        Self {
            text: folded.into(),
            finder: Finder::new(folded).into_owned(),
        }
    }

    /// Returns the folded form.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the searcher for it.
    pub(super) fn finder(&self) -> &Finder<'static> {
        &self.finder
    }

    /// Returns whether a folded text contains it.
    pub(super) fn is_in(&self, folded: &str) -> bool {
        self.finder.find(folded.as_bytes()).is_some()
    }

    /// Returns the possible beginnings of a target without its scheme, if the word begins inside
    /// the scheme.
    pub(super) fn after_scheme(&self) -> impl Iterator<Item = &str> {
        let scheme = target::HTTPS;
        let inside = scheme.contains(&*self.text).then_some("");
        let ends = (0..scheme.len()).map(|from| &scheme[from..]);
        let rests = ends.filter_map(|end| self.text.strip_prefix(end));
        inside.into_iter().chain(rests)
    }
}

/// Returns a target without its scheme, with its host in Unicode; `None` if that is the same.
pub(super) fn with_unicode_host(rest: &str) -> Option<String> {
    let end = rest.find(['/', ':', '?', '#']).unwrap_or(rest.len());
    let (host, after) = rest.split_at(end);
    if !host.contains(PUNYCODE) {
        return None;
    }
    let labels = host.split('.').map(|label| {
        let encoded = label.strip_prefix(PUNYCODE);
        // Decoding takes quadratic time, and domain names have no longer labels.
        let encoded = encoded.filter(|_| label.len() <= MAX_LABEL_BYTES);
        let decoded = encoded.and_then(punycode::decode_to_string);
        decoded.map_or(Cow::Borrowed(label), Cow::Owned)
    });
    let labels: Vec<_> = labels.collect();
    Some(labels.join(".") + after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_in_punycode_has_a_unicode_form() {
        let long = format!("xn--{}-3ya.example/", "a".repeat(60));
        for (rest, expected) in [
            (
                "xn--mnchen-3ya.example/xn--a",
                Some("m\u{fc}nchen.example/xn--a"),
            ),
            (
                "www.xn--mnchen-3ya.example:80?a",
                Some("www.m\u{fc}nchen.example:80?a"),
            ),
            ("munich.example/xn--mnchen-3ya", None),
            ("a--xn--b.example/", Some("a--xn--b.example/")),
            (&*long, Some(&*long)),
        ] {
            assert_eq!(with_unicode_host(rest).as_deref(), expected, "{rest}");
        }
    }

    #[test]
    fn a_word_may_begin_in_the_scheme() {
        let rests = |word: &str| {
            let word = Word::new(word);
            word.after_scheme().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(rests("https://a.b"), ["a.b"]);
        assert_eq!(rests("s://a"), ["a"]);
        assert_eq!(rests("//a"), ["a", "/a"]);
        assert_eq!(rests("tp"), [""]);
        assert!(rests("http:").is_empty() && rests("a//").is_empty());
    }
}
