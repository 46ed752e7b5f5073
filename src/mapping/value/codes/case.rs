//! Case: whether the case of letters counts when a code is looked up.

use std::borrow::Cow;

use icu_casemap::{CaseMapper, ClosureSink};
use unicode_normalization::UnicodeNormalization as _;

/// The only mark with a case folding, the letter iota: folded, a letter with this mark would become two in
/// one case and stay one in the other, if only that has a composed form.
const IOTA_SUBSCRIPT: char = '\u{345}';

/// Whether the case of letters counts when a code is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    /// A code is found only as it is written, the default.
    #[default]
    Exact,
    /// Short codes and aliases are found in any case, too.
    Fold,
}

impl Case {
    /// Every value.
    pub(crate) const ALL: [Self; 2] = [Self::Exact, Self::Fold];

    /// Returns the value as it is written in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Fold => "fold",
        }
    }
}

/// Returns a text without differences of case: each character is replaced by its simple case folding
/// (Unicode Standard, section 3.13; `CaseFolding.txt`, statuses C and S), which depends on no language,
/// except for the iota subscript, and the result is composed (NFC).
pub(crate) fn fold_case(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        let mapper = CaseMapper::new();
        let folded = text.chars().map(|it| match it {
            IOTA_SUBSCRIPT => it,
            letter => mapper.simple_fold(letter),
        });
        // A letter may have a composed form in one case only.
        return Cow::Owned(folded.nfc().collect());
    }
    match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Borrowed(text),
    }
}

/// Returns the characters with the same simple case folding as a letter, in order, the letter among them; those of
/// ASCII for one of ASCII.
pub(crate) fn spellings(letter: char) -> Vec<char> {
    let (mapper, mut found) = (CaseMapper::new(), Spellings(vec![letter]));
    if letter != IOTA_SUBSCRIPT {
        mapper.add_case_closure_to(letter, &mut found);
    }
    let Spellings(mut found) = found;
    let folded = mapper.simple_fold(letter);
    found.retain(|it| mapper.simple_fold(*it) == folded && (it.is_ascii() || !letter.is_ascii()));
    found.sort_unstable();
    found
}

/// Collects single characters.
struct Spellings(Vec<char>);

impl ClosureSink for Spellings {
    fn add_char(&mut self, c: char) {
        self.0.push(c);
    }

    fn add_string(&mut self, _: &str) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folds_one_character_to_one() {
        for (text, folded) in [
            ("Gnu-Home/2", "gnu-home/2"),
            ("ÉTÉ", "été"),
            ("ΣΑΣ", "σασ"),
            ("ς", "σ"),
            ("ſ", "s"),
            // These have other foldings of several characters or of one language.
            ("ẞ", "ß"),
            ("STRASSE", "strasse"),
            ("I", "i"),
            ("İ", "İ"),
            ("日本語", "日本語"),
            ("H\u{331}", "\u{1e96}"),
            ("\u{1e96}", "\u{1e96}"),
        ] {
            assert_eq!(fold_case(text), folded);
        }
    }

    #[test]
    fn spellings_have_one_character_each() {
        for (letter, found) in [
            ('a', "Aa"),
            ('s', "Ss"),
            ('-', "-"),
            ('é', "Éé"),
            ('σ', "Σςσ"),
            ('k', "Kk"),
            ('ſ', "Ssſ"),
            ('ẖ', "ẖ"),
            ('日', "日"),
        ] {
            assert_eq!(String::from_iter(spellings(letter)), found);
        }
    }

    #[test]
    fn a_letter_with_marks_is_the_same_in_both_cases() {
        let composed = |text: String| text.nfc().collect::<String>();
        let mapper = CaseMapper::new();
        let mut count = 0;
        for letter in ('\u{80}'..=char::MAX).chain('A'..='Z') {
            let other = mapper.simple_fold(letter);
            if other == letter || letter == IOTA_SUBSCRIPT {
                continue;
            }
            for marks in [
                "",
                "\u{301}",
                "\u{308}",
                "\u{30c}",
                "\u{331}",
                "\u{331}\u{30a}",
                "\u{345}",
            ] {
                let [one, two] = [letter, other].map(|it| composed(format!("a{it}{marks}z")));
                assert_eq!(fold_case(&one), fold_case(&two), "{one} {two}");
                count += 1;
            }
        }
        assert!(count > 7 * 1_000, "{count}");
    }

    #[test]
    fn a_code_at_most_doubles_in_length() {
        for letter in '\0'..=char::MAX {
            let text: String = letter.nfc().collect();
            assert!(fold_case(&text).len() <= 2 * text.len(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_folded_text_stays_as_it_is(text in "\\PC{0,12}") {
            let folded = fold_case(&text);
            prop_assert_eq!(fold_case(&folded), &*folded);
        }

        #[test]
        fn ascii_is_folded_as_everywhere(text in "[ -~]{0,12}") {
            prop_assert_eq!(fold_case(&text), text.to_ascii_lowercase());
        }
    }
}
