//! Lists with weights, as in the field `Accept` (RFC 9110 sections 5.6.1, 12.4.2 and 12.5.1).
//!
//! Members are read strictly, one by one: one that is not well-formed is left out, as if the client
//! had not sent it, and the others count.

/// A weight in thousandths, from 0 to 1000 (RFC 9110 section 12.4.2).
pub(crate) type Weight = u16;

/// The weight of a member that names none.
const FULL: Weight = 1000;

/// Returns the well-formed members of a list, each with its weight: the first parameter `q`. Other
/// parameters are ignored.
pub(crate) fn weighted_members(field: &[u8]) -> impl Iterator<Item = (&str, Weight)> {
    divided(field, b',').filter_map(member)
}

/// Reads a member: its name, which is not checked, and its weight.
fn member(text: &[u8]) -> Option<(&str, Weight)> {
    let mut parts = divided(text, b';').map(<[u8]>::trim_ascii);
    let name = str::from_utf8(parts.next()?).ok()?;
    let mut weight = None;
    // RFC 9110 section 5.6.6: a parameter may be empty, and has no space around its `=`.
    for parameter in parts.filter(|it| !it.is_empty()) {
        let equals = parameter.iter().position(|&byte| byte == b'=')?;
        let (key, value) = (&parameter[..equals], &parameter[equals + 1..]);
        if !is_token(key) || !(is_token(value) || is_quoted(value)) {
            return None;
        }
        if weight.is_none() && key.eq_ignore_ascii_case(b"q") {
            weight = Some(weight_of(value)?);
        }
    }
    (!name.is_empty()).then_some((name, weight.unwrap_or(FULL)))
}

/// Divides a text at a separator, except in quoted strings. An unclosed string reaches to the end.
fn divided(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |&byte| {
        if is_quoted {
            is_quoted = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            return false;
        }
        is_quoted = byte == b'"';
        byte == separator
    })
}

/// Reads a weight: at most three digits after the point, and at most 1.
fn weight_of(text: &[u8]) -> Option<Weight> {
    let (whole, rest) = text.split_first()?;
    let digits = match rest {
        [] => rest,
        [b'.', digits @ ..] if digits.len() <= 3 => digits,
        _ => return None,
    };
    let mut weight = match whole {
        b'0' => 0,
        b'1' => 1,
        _ => return None,
    };
    for place in 0..3 {
        let digit = digits.get(place).unwrap_or(&b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        weight = weight * 10 + Weight::from(digit - b'0');
    }
    (weight <= FULL).then_some(weight)
}

/// Returns whether a text is a token (RFC 9110 section 5.6.2).
fn is_token(text: &[u8]) -> bool {
    let is_of_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_of_token)
}

/// Returns whether a text is one quoted string (RFC 9110 section 5.6.4).
fn is_quoted(text: &[u8]) -> bool {
    let Some(inner) = (text.strip_prefix(b"\"")).and_then(|rest| rest.strip_suffix(b"\"")) else {
        return false;
    };
    let mut is_escaped = false;
    for &byte in inner {
        let is_text = byte == b'\t' || (byte >= b' ' && byte != 0x7F);
        if !is_text || (byte == b'"' && !is_escaped) {
            return false;
        }
        is_escaped = !is_escaped && byte == b'\\';
    }
    !is_escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(field: &str) -> Vec<(&str, Weight)> {
        weighted_members(field.as_bytes()).collect()
    }

    #[test]
    fn reads_weights() {
        for (field, weight) in [
            ("a/b", 1000),
            ("a/b;q=1", 1000),
            ("a/b;q=1.", 1000),
            ("a/b;q=1.000", 1000),
            ("a/b;q=0.5", 500),
            ("a/b ; Q=0.05", 50),
            ("a/b;q=0.001", 1),
            ("a/b;q=0", 0),
            ("a/b;q=0.", 0),
            ("a/b;x=y;q=0.5;z=\"w\"", 500),
            ("a/b;;q=0.5;", 500),
            ("a/b;q=0.5;q=0.7", 500),
        ] {
            assert_eq!(read(field), [("a/b", weight)], "{field}");
        }
    }

    #[test]
    fn a_separator_in_a_quoted_string_is_none() {
        for field in [
            "a/b;x=\", c/d;q=0\";q=0.3",
            "a/b;x=\"\\\",c/d;q=1\";q=0.3",
            "a/b;x=\"\\\\\";q=0.3",
            "a/b;x=\"\";q=0.3",
        ] {
            assert_eq!(read(field), [("a/b", 300)], "{field}");
        }
        assert_eq!(read("a/b;x=\",\", c/d;q=0"), [("a/b", 1000), ("c/d", 0)]);
        let bytes = b"a/b;x=\"\xE4\";q=0.3";
        assert_eq!(weighted_members(bytes).collect::<Vec<_>>(), [("a/b", 300)]);
    }

    #[test]
    fn only_members_that_are_not_well_formed_are_left_out() {
        for bad in [
            "",
            " ",
            ";q=1",
            "a/b;q",
            "a/b;q=",
            "a/b;q=2",
            "a/b;q=1.001",
            "a/b;q=0.0001",
            "a/b;q=.5",
            "a/b;q=-1",
            "a/b;q=0,5,",
            "a/b;q= 0.5",
            "a/b;q =0.5",
            "a/b;q=nonsense",
            "a/b;q=\"1\"",
            "a/b;=x",
            "a/b;x=\"y\"z",
            "a/b;x=y\"z\"",
            "a/b;x=\"\u{1}\"",
        ] {
            let field = format!("c/d;q=0.1, {bad}, e/f");
            let read = read(&field);
            let others: Vec<_> = (read.iter())
                .filter(|(name, _)| ["c/d", "e/f"].contains(name))
                .collect();
            assert_eq!(others, [&("c/d", 100), &("e/f", 1000)], "{field}");
            assert!(
                !read.iter().any(|(name, _)| *name == "a/b") || bad.contains(','),
                "{bad}"
            );
        }
        assert_eq!(read("c/d, a/b;x=\"y, e/f"), [("c/d", 1000)]);
        assert_eq!(read("c/d, a/b;x=\"y\\\""), [("c/d", 1000)]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(field in prop::collection::vec(any::<u8>(), 0..64)) {
            for (name, weight) in weighted_members(&field) {
                prop_assert!(!name.is_empty() && weight <= FULL);
            }
        }

        #[test]
        fn every_well_formed_list_is_read_in_order(
            members in prop::collection::vec(
                ("[a-z*]{1,3}/[a-z+*.]{1,3}", "[a-pr-z]=(\"[ -!#-Z,;=]{0,4}\"|[a-z]{1,3})", 0_u16..=1000),
                0..5,
            ),
        ) {
            let shown: Vec<_> = members
                .iter()
                .map(|(name, parameter, weight)| {
                    format!("{name} ; {parameter};q={}.{:03}", weight / 1000, weight % 1000)
                })
                .collect();
            let field = shown.join(" ,\t");
            let expected: Vec<_> = members.iter().map(|(name, _, weight)| (&**name, *weight)).collect();
            prop_assert_eq!(read(&field), expected, "{}", field);
        }
    }
}
