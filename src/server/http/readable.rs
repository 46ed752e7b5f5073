//! The requested path in a form that is safe for a person to read on a page.
//!
//! A path is untrusted text from a link. It is shown decoded only if every character is
//! visible: no control characters, nothing that changes the direction of writing, nothing
//! invisible. Otherwise it is shown percent-encoded. Escaping for HTML is the template's task.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The maximum number of characters of a path that are shown.
const SHOWN: usize = 120;

/// Characters that may arrive unencoded and are not visible: percent-encoding covers all beyond
/// ASCII.
const HIDDEN: &AsciiSet = &CONTROLS.add(b' ');

/// Returns `path` in readable form, cut to a length that fits a page.
pub(crate) fn readable(path: &str) -> String {
    let decoded = percent_decode_str(path).decode_utf8().ok();
    let shown = match decoded {
        Some(decoded) if decoded.chars().all(shows_itself) => decoded,
        _ => Cow::from(utf8_percent_encode(path, HIDDEN).to_string()),
    };
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

/// Returns whether a character is visible: it is not a control character, does not change the
/// direction of writing, and is not invisible.
pub fn shows_itself(character: char) -> bool {
    match character.general_category_group() {
        GeneralCategoryGroup::Other => false,
        GeneralCategoryGroup::Separator => character == ' ',
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_harmless() {
        assert_eq!(readable("/caf%C3%A9"), "/café");
        assert_eq!(readable("/%3Cb%3E"), "/<b>");
        assert_eq!(readable("/a%20b"), "/a b");
    }

    #[test]
    fn leaves_encoded_what_hides_or_misleads() {
        for path in [
            "/a%00",
            "/a%0Ab",
            "/%E2%80%AEtxt.exe",
            "/%E2%80%8B",
            "/%FF",
            "/%C2%A0",
        ] {
            assert_eq!(readable(path), path);
        }
        assert_eq!(readable("/\u{202e}x"), "/%E2%80%AEx");
    }

    #[test]
    fn cuts_what_is_long() {
        let long = readable(&format!("/{}", "ä".repeat(10_000)));
        assert_eq!(long.chars().count(), SHOWN + 1);
        assert!(long.ends_with('…'));
    }
}
