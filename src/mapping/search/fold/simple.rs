//! Simple characters: those that fold to one character, whatever is next to them.
//!
//! The letters of most scripts are, as long as no combining mark follows. Looking them up takes a
//! fraction of the time that composing and folding a text takes.

use std::array;
use std::iter::once;
use std::sync::LazyLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// The end of the Latin, Greek and Cyrillic letters.
const LETTERS: usize = 0x530;

/// The folded form of each of them; 0 for those that are not simple.
static FOLDED: LazyLock<[u16; LETTERS]> = LazyLock::new(|| {
    array::from_fn(|code_point| {
        let character = u32::try_from(code_point).ok().and_then(char::from_u32);
        let folded = character.and_then(fold_alone);
        folded
            .and_then(|it| u16::try_from(u32::from(it)).ok())
            .unwrap_or(0)
    })
});

/// Returns the folded form of a simple character.
pub(super) fn fold(character: char) -> Option<char> {
    match FOLDED.get(character as usize) {
        Some(0) => None,
        Some(&folded) => char::from_u32(u32::from(folded)),
        None => is_without_case(character).then_some(character),
    }
}

/// Returns whether it is a Japanese syllable, a Chinese character or a Korean syllable.
fn is_without_case(character: char) -> bool {
    matches!(character,
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
    )
}

/// Returns the folded form of a simple character, without the table.
fn fold_alone(character: char) -> Option<char> {
    let is_composed = is_nfc_quick(once(character)) == IsNormalized::Yes;
    if !is_composed || canonical_combining_class(character) != 0 {
        return None;
    }
    let mut folded = character.to_lowercase();
    folded.next().filter(|_| folded.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simple_character_folds_alone() {
        for character in '\0'..=char::MAX {
            let folded = fold(character);
            assert!(
                folded.is_none() || folded == fold_alone(character),
                "{character:?}"
            );
        }
        for character in [
            'a', 'Z', '\u{c4}', '\u{416}', '\u{3a9}', '\u{304b}', '\u{65e5}',
        ] {
            assert!(fold(character).is_some(), "{character:?}");
        }
        for character in [
            '\0', '\u{301}', '\u{130}', '\u{37e}', '\u{3099}', '\u{1e9e}',
        ] {
            assert_eq!(fold(character), None, "{character:?}");
        }
    }
}
