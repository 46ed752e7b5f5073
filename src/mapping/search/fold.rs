//! Folding: texts in the form in which they are compared, without case.

use unicode_normalization::UnicodeNormalization as _;

mod simple;

/// The non-ASCII characters with an ASCII character in their folded form, and that character.
pub(super) const FOLDED_TO_ASCII: [(char, char); 4] = [
    ('\u{130}', 'i'),
    ('\u{37e}', ';'),
    ('\u{1fef}', '`'),
    ('\u{212a}', 'k'),
];

/// Appends the folded form of a text: composed (NFC) and in lower case, each character on its own,
/// so that a part of a text folds like that part of the whole.
pub(super) fn fold(text: &str, folded: &mut String) {
    let start = folded.len();
    if text.is_ascii() {
        folded.push_str(text);
        folded[start..].make_ascii_lowercase();
        return;
    }
    for character in text.chars() {
        match simple::fold(character) {
            Some(character) => folded.push(character),
            None => {
                folded.truncate(start);
                folded.extend(text.nfc().flat_map(char::to_lowercase));
                return;
            }
        }
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
    if text.is_ascii() {
        return text.eq_ignore_ascii_case(folded);
    }
    let own = text.chars().map(simple::fold);
    match own.clone().all(|character| character.is_some()) {
        true => own.flatten().eq(folded.chars()),
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

    #[test]
    fn four_characters_fold_to_ascii() {
        let all = '\u{80}'..=char::MAX;
        let folding = all.filter_map(|character| {
            let folded = folded(character.encode_utf8(&mut [0; 4]));
            let ascii = folded.chars().find(char::is_ascii)?;
            Some((character, ascii))
        });
        assert!(folding.eq(FOLDED_TO_ASCII));
    }
}
