//! Short codes: the part of a short link after the base URL.
//!
//! A custom code is written by a person and must keep to a grammar that survives URLs, chat windows
//! and being read aloud; an auto code comes from a [`Scheme`](super::Scheme); a number has its
//! base62 form. Code conflicts are found when a site is compiled.

use std::fmt;

use thiserror::Error;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

use crate::mapping::value::diagnostics::Rule;

/// The longest custom code, in bytes of UTF-8.
pub const MAX_CODE_BYTES: usize = 255;

/// First segments that the server answers itself, or that other programs request from any host.
const RESERVED: [&str; 9] = [
    "-",
    ".well-known",
    "healthz",
    "livez",
    "readyz",
    "metrics",
    "robots.txt",
    "favicon.ico",
    "sitemap.xml",
];

const BASE62: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// A short code within the grammar: 1 to 255 bytes, segments joined by `/`, in NFC.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(Box<str>);

impl Code {
    /// Accepts a code that a person wrote.
    ///
    /// # Errors
    ///
    /// Returns the first rule of the grammar that the text breaks.
    pub fn custom(text: &str) -> Result<Self, CodeError> {
        if text.is_empty() {
            return Err(CodeError::Empty);
        }
        if text.len() > MAX_CODE_BYTES {
            return Err(CodeError::TooLong { bytes: text.len() });
        }
        if !is_nfc(text) {
            return Err(CodeError::NotNfc {
                nfc: text.nfc().collect(),
            });
        }
        for segment in text.split('/') {
            check_segment(segment)?;
        }
        Self(text.into()).unreserved()
    }

    /// Returns the base62 form of a number, with the digits `0-9a-zA-Z`.
    ///
    /// # Errors
    ///
    /// The code of a number may be a reserved word: base62 has letters.
    pub fn number(mut number: u64) -> Result<Self, CodeError> {
        let mut digits = Vec::with_capacity(11);
        loop {
            digits.push(char::from(BASE62[(number % 62) as usize]));
            number /= 62;
            if number == 0 {
                break;
            }
        }
        let text: String = digits.into_iter().rev().collect();
        Self(text.into()).unreserved()
    }

    /// Returns the number of which this is the base62 form; leading zeros do not count.
    pub(crate) fn number_of(text: &str) -> Option<u64> {
        text.bytes().try_fold(0_u64, |number, byte| {
            let digit = BASE62.iter().position(|&digit| digit == byte)?;
            number.checked_mul(62)?.checked_add(digit as u64)
        })
    }

    /// Wraps a code derived by a scheme: base64url, in which none of the reserved words can be written.
    pub(crate) fn derived(text: String) -> Self {
        Self(text.into())
    }

    fn unreserved(self) -> Result<Self, CodeError> {
        let first = self.0.split('/').next().unwrap_or_default();
        match RESERVED.iter().find(|&&word| word == first) {
            Some(word) => Err(CodeError::Reserved { word }),
            None => Ok(self),
        }
    }

    /// Returns the code's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the code as a YAML scalar, quoted if YAML would read something else.
    pub(crate) fn as_yaml(&self) -> String {
        let text = serde_yaml::to_string(&self.as_str());
        text.map_or_else(
            |_| format!("{:?}", self.as_str()),
            |text| text.trim_end().to_owned(),
        )
    }

    /// Returns whether it ends in a full stop, which linkifiers take for the end of a sentence.
    pub fn ends_in_full_stop(&self) -> bool {
        self.0.ends_with('.')
    }

    /// Returns the first segment that mixes scripts, which allows one code to pass for another.
    pub fn mixed_script_segment(&self) -> Option<&str> {
        self.0.split('/').find(|segment| mixes_scripts(segment))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why a text is not a short code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CodeError {
    /// It is empty.
    #[error("a short code needs at least one character")]
    Empty,
    /// It is longer than [`MAX_CODE_BYTES`].
    #[error("a short code can have at most {MAX_CODE_BYTES} bytes, this one has {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It is not in Unicode normalisation form C, so a browser would request another text.
    #[error("a short code must be in Unicode normalisation form C (NFC)")]
    NotNfc {
        /// The same in NFC.
        nfc: String,
    },
    /// A segment is empty.
    #[error(
        "a short code cannot have an empty segment: remove slashes at the ends and double slashes"
    )]
    EmptySegment,
    /// A segment has a special meaning in a path.
    #[error("{segment:?} cannot be a segment of a short code")]
    DotSegment {
        /// The segment: `.`, `..` or `-`.
        segment: String,
    },
    /// A character outside the grammar.
    #[error("{character:?} is not allowed in a short code")]
    Character {
        /// The character.
        character: char,
    },
    /// It is reserved for the server.
    #[error("codes that begin with the segment {word:?} are reserved")]
    Reserved {
        /// The reserved first segment.
        word: &'static str,
    },
}

impl CodeError {
    /// Returns the rule that the text breaks.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Empty => Rule::CodeEmpty,
            Self::TooLong { .. } => Rule::CodeTooLong,
            Self::NotNfc { .. } => Rule::CodeNotNfc,
            Self::EmptySegment => Rule::CodeEmptySegment,
            Self::DotSegment { .. } => Rule::CodeForbiddenSegment,
            Self::Character { .. } => Rule::CodeForbiddenCharacter,
            Self::Reserved { .. } => Rule::CodeReserved,
        }
    }

    /// Returns the remedy, if the message does not already name it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotNfc { nfc } => format!("write {nfc:?}, composed"),
            Self::Character { character: '+' } => {
                "a final \"+\" requests the preview page, so no code can contain one".to_owned()
            }
            Self::Character { .. } => {
                "use letters, digits, \"-\", \".\", \"_\", \"~\", and \"/\" between segments"
                    .to_owned()
            }
            Self::Reserved { .. } => {
                "choose another code: the server answers these paths itself".to_owned()
            }
            Self::Empty => "write at least one character, or leave the key out".to_owned(),
            Self::TooLong { .. } | Self::EmptySegment | Self::DotSegment { .. } => return None,
        })
    }
}

fn check_segment(segment: &str) -> Result<(), CodeError> {
    match segment {
        "" => return Err(CodeError::EmptySegment),
        // Browsers resolve the dots, and a lone "-" is the server's own folder.
        "." | ".." | "-" => {
            return Err(CodeError::DotSegment {
                segment: segment.to_owned(),
            });
        }
        _ => {}
    }
    match segment.chars().find(|&c| !is_code_character(c)) {
        Some(character) => Err(CodeError::Character { character }),
        None => Ok(()),
    }
}

fn is_code_character(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    }
    matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark
    ) || c.general_category() == unicode_properties::GeneralCategory::DecimalNumber
}

/// Returns whether no single script contains all of a segment's letters (UTS #39 section 5.1).
fn mixes_scripts(segment: &str) -> bool {
    if segment.is_ascii() {
        return false;
    }
    let mut letters = segment
        .chars()
        .map(|c| c.script_extension())
        .filter(|scripts| !scripts.is_common() && !scripts.is_inherited());
    let Some(first) = letters.next() else {
        return false;
    };
    let shared = letters.fold(first, |all, scripts| all.intersection(scripts));
    // Japanese and Korean are written in several scripts at once.
    let east_asian = |s: Script| {
        matches!(
            s,
            Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo
        )
    };
    shared.is_empty()
        && !segment
            .chars()
            .map(|c| c.script())
            .all(|s| matches!(s, Script::Common | Script::Inherited) || east_asian(s))
}

/// Returns whether no code may begin with a segment.
pub(crate) fn is_reserved(first: &str) -> bool {
    RESERVED.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn accepts_the_grammar() {
        for text in [
            "gnu-home",
            "2024",
            "no",
            "1e5",
            "~",
            "a.b/c_d~e",
            "-x",
            "--",
            "été",
            "日本語",
            "नमस्ते",
            "a/-b",
            "...a",
            "a.",
            "Healthz",
            "x/metrics",
        ] {
            assert_eq!(Code::custom(text).unwrap().as_str(), text);
        }
        assert!(Code::custom(&"a".repeat(MAX_CODE_BYTES)).is_ok());
    }

    #[test]
    fn refuses_what_is_outside_the_grammar() {
        for text in [
            "",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "-",
            "a/..",
            "a/-",
            "a/./b",
            "a+",
            "a b",
            "a%20",
            "a?b",
            "a#b",
            "a:b",
            "a\\b",
            "a\u{0}",
            "a\u{200b}",
            "½",
            "€",
            "e\u{301}",
            "healthz",
            "-/x",
            ".well-known/acme",
            "robots.txt",
        ] {
            assert!(Code::custom(text).is_err(), "{text:?}");
        }
        assert!(Code::custom(&"a".repeat(MAX_CODE_BYTES + 1)).is_err());
    }

    #[test]
    fn a_number_whose_code_is_a_reserved_word_is_refused() {
        let metrics = "metrics"
            .bytes()
            .map(|b| BASE62.iter().position(|&digit| digit == b).unwrap() as u64)
            .fold(0, |number, digit| number * 62 + digit);
        assert_eq!(
            Code::number(metrics),
            Err(CodeError::Reserved { word: "metrics" })
        );
    }

    #[test]
    fn warns_of_mixed_scripts_only() {
        let mixed = |text| Code::custom(text).unwrap().mixed_script_segment().is_some();
        assert!(mixed("p\u{0430}ypal")); // Cyrillic а
        assert!(!mixed("日本のことば"));
        assert!(!mixed("été-2024"));
        assert!(!mixed("привет/hello"));
    }

    proptest! {
        #[test]
        fn base62_reads_back(number: u64) {
            let Ok(code) = Code::number(number) else {
                return Err(TestCaseError::reject("no code"));
            };
            prop_assert_eq!(Code::number_of(code.as_str()), Some(number));
        }

        #[test]
        fn what_is_accepted_needs_no_escape_but_for_unicode(text in "\\PC{0,12}|[-a-zA-Z0-9._~/é]{1,8}") {
            let Ok(code) = Code::custom(&text) else {
                return Err(TestCaseError::reject("no code"));
            };
            prop_assert!(code.as_str().chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._~/".contains(c)));
        }
    }
}
