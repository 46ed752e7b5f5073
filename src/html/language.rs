//! The languages of pages, each a file of texts below `templates/messages/`.

use std::sync::LazyLock;

use super::messages::Messages;

/// The languages: the tag of each (BCP 47), and its texts. The first is the default.
const FILES: [(&str, &str); 2] = [
    ("en", include_str!("../../templates/messages/en.ftl")),
    ("de", include_str!("../../templates/messages/de.ftl")),
];

static MESSAGES: LazyLock<[Messages; FILES.len()]> =
    LazyLock::new(|| FILES.map(|(_, file)| Messages::read(file)));

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(usize);

impl Language {
    /// The language for clients that request none of the others.
    pub const DEFAULT: Self = Self(0);

    /// Returns every language.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..FILES.len()).map(Self)
    }

    /// Returns the language for a range, by the longest beginning of the range that is one (RFC
    /// 4647 section 3.4): `de` for `de-CH`.
    pub fn of_range(range: &str) -> Option<Self> {
        let named = |tag: &str| {
            FILES
                .iter()
                .position(|(it, _)| it.eq_ignore_ascii_case(tag))
        };
        let mut tag = range;
        loop {
            if let Some(number) = named(tag) {
                return Some(Self(number));
            }
            tag = &tag[..tag.rfind('-')?];
        }
    }

    /// Returns its tag (BCP 47), as in `en`.
    pub fn tag(self) -> &'static str {
        FILES[self.0].0
    }

    /// Returns the text of a key. Tests show that every key that is used has one; the key itself is
    /// better than no page.
    pub(super) fn text(self, key: &'static str) -> &'static str {
        MESSAGES[self.0].get(key).unwrap_or(key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::{MessagePart, parts};
    use super::*;

    #[test]
    fn a_range_asks_for_its_language() {
        for (range, expected) in [
            ("en", Some("en")),
            ("DE", Some("de")),
            ("de-CH-1996", Some("de")),
            ("den", None),
            ("fr", None),
            ("", None),
            ("-", None),
            ("*", None),
        ] {
            assert_eq!(
                Language::of_range(range).map(Language::tag),
                expected,
                "{range}"
            );
        }
    }

    #[test]
    fn files_have_messages_and_comments_only() {
        for (tag, file) in FILES {
            for line in file.lines() {
                let is_message = line.split_once(" = ").is_some_and(|(key, text)| {
                    let is_of_a_key =
                        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                    key.chars().all(is_of_a_key) && !text.trim().is_empty()
                });
                let is_ignored = line.is_empty() || line.starts_with('#');
                assert!(is_message || is_ignored, "{tag}: {line:?}");
            }
        }
    }

    #[test]
    fn every_language_has_every_text_with_the_same_values() {
        let described = |number: usize| -> Vec<_> {
            let texts = MESSAGES[number].all().iter().map(|(key, text)| {
                let mut values: Vec<_> = parts(text)
                    .filter_map(|part| match part {
                        MessagePart::Value(name) => Some(name),
                        MessagePart::Text(_) => None,
                    })
                    .collect();
                values.sort_unstable();
                (*key, values)
            });
            texts.collect()
        };
        let first = described(0);
        for pair in first.windows(2) {
            assert_ne!(pair[0].0, pair[1].0, "a key is there twice");
        }
        for language in Language::all() {
            let found = described(language.0);
            for message in &first {
                assert!(found.contains(message), "{}: {message:?}", language.tag());
            }
            assert_eq!(found.len(), first.len(), "{}", language.tag());
        }
    }
}
