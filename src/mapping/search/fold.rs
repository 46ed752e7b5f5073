//! Folding: texts in the form in which they are compared, without case.

use unicode_normalization::UnicodeNormalization as _;

/// Appends the folded form of a text: composed (NFC) and in lower case, each character on its own,
/// so that a part of a text folds like that part of the whole.
pub(super) fn fold(text: &str, folded: &mut String) {
    if text.is_ascii() {
        let start = folded.len();
        folded.push_str(text);
        folded[start..].make_ascii_lowercase();
    } else {
        folded.extend(text.nfc().flat_map(char::to_lowercase));
    }
}

/// Returns the folded form of a text.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold(text, &mut folded);
    folded
}

/// Returns whether a text has a given folded form.
pub(super) fn folds_to(text: &str, folded: &str) -> bool {
    match text.is_ascii() {
        true => text.eq_ignore_ascii_case(folded),
        false => text.nfc().flat_map(char::to_lowercase).eq(folded.chars()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_composition_do_not_count() {
        for (text, expected) in [
            ("GNU-Home", "gnu-home"),
            ("CAF\u{c9}", "caf\u{e9}"),
            ("Cafe\u{301}", "caf\u{e9}"),
            (
                "\u{39f}\u{394}\u{39f}\u{3a3}",
                "\u{3bf}\u{3b4}\u{3bf}\u{3c3}",
            ),
            ("", ""),
        ] {
            assert_eq!(folded(text), expected);
            assert!(folds_to(text, expected));
            assert!(!folds_to(text, "other"));
        }
    }
}
