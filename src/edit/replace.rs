//! Replacement of parts of a text, all in one pass.
//!
//! Replacing the parts one by one would move all the text after each: in an entry with a hundred
//! thousand aliases that takes minutes.

use std::ops::Range;

/// Returns a text with some of its parts replaced; the parts are in order and do not overlap.
pub(super) fn replace<S: AsRef<str>>(
    text: &str,
    parts: impl IntoIterator<Item = (Range<usize>, S)>,
) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (part, new) in parts {
        result.push_str(&text[from..part.start]);
        result.push_str(new.as_ref());
        from = part.end;
    }
    result.push_str(&text[from..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_between_the_parts() {
        for (parts, expected) in [
            (vec![], "abcdef"),
            (vec![(0..1, "xyz"), (1..2, ""), (4..6, "é")], "xyzcdé"),
            (vec![(3..3, "-")], "abc-def"),
            (vec![(0..6, "")], ""),
        ] {
            assert_eq!(replace("abcdef", parts), expected);
        }
    }
}
