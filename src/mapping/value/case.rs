//! Case: whether the case of letters counts when a code is looked up.

use std::borrow::Cow;

use icu_casemap::CaseMapper;

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
/// (Unicode Standard, section 3.13; `CaseFolding.txt`, statuses C and S), which depends on no language.
pub(crate) fn fold_case(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        let mapper = CaseMapper::new();
        return Cow::Owned(text.chars().map(|it| mapper.simple_fold(it)).collect());
    }
    match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Borrowed(text),
    }
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
        ] {
            assert_eq!(fold_case(text), folded);
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
