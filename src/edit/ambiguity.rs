//! Detection of plain scalars that are text in this format but not in other readers of YAML.
//!
//! A table uses text as written, so the code `1e5` is those three characters. Other readers of YAML
//! 1.1 or 1.2 would read it as a number. This is the union of what both resolve
//! (<https://yaml.org/type/>, and YAML 1.2.2 section 10.3), slightly wider where that is simpler:
//! an unneeded quote does no harm.

/// Scalars with a special meaning, in any mixture of upper and lower case.
const WORDS: [&str; 13] = [
    "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", ".nan",
];

/// Returns whether a plain scalar may be read as something other than its text.
pub(super) fn is_ambiguous(text: &str) -> bool {
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    is_word || is_number(text) || is_date(text)
}

fn is_number(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let digits = lower.strip_prefix(['+', '-']).unwrap_or(&lower);
    if digits == ".inf" {
        return true;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return digits.chars().all(|c| c == '_' || c.is_digit(radix));
        }
    }
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    // Colons occur in base-60 numbers.
    mantissa.starts_with(|c: char| c == '.' || c.is_ascii_digit())
        && mantissa
            .chars()
            .all(|c| "_.:".contains(c) || c.is_ascii_digit())
        && !exponent.is_empty()
        && exponent.chars().all(|c| c.is_ascii_digit())
}

/// Returns whether a text is a date, or begins with one and continues like a date-time.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let number = |part: Option<&str>, digits: &[usize]| {
        part.is_some_and(|it| digits.contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()))
    };
    let (year, month) = (parts.next(), parts.next());
    let mut rest = parts
        .next()
        .unwrap_or_default()
        .splitn(2, ['T', 't', ' ', '\t']);
    number(year, &[4]) && number(month, &[1, 2]) && number(rest.next(), &[1, 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn knows_what_others_read() {
        for text in [
            "~",
            "null",
            "NULL",
            "no",
            "Off",
            "y",
            "<<",
            "=",
            "0",
            "2024",
            "-1",
            "+12",
            "1_000",
            "0x1F",
            "0o17",
            "017",
            "0b11",
            "1e5",
            "1E+5",
            "1.5e-3",
            ".5",
            ".",
            "1.",
            "12:30",
            "1:30.5",
            "-.inf",
            ".NaN",
            "2026-11-21",
            "2026-1-2",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43",
        ] {
            assert!(is_ambiguous(text), "{text}");
        }
    }

    #[test]
    fn leaves_what_all_read_alike() {
        for text in [
            "gnu-home",
            "nobody",
            "t0P0JMya",
            "1e5x",
            "e5",
            "0xyz",
            "12ab",
            "a/1",
            "1/2",
            "_1",
            "-x",
            "--1",
            "2026-11",
            "2026-11-21-x",
            "20-11-21",
            "v1.2",
            "Git, the database",
            "null and void",
            "1 000",
            "",
            "-",
            "1e",
            "été",
        ] {
            assert!(!is_ambiguous(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn knows_what_a_reader_of_yaml_takes_for_no_text(
            text in prop_oneof![
                "[+-]?[0-9]{1,4}([.][0-9]{0,2})?([eE][+-]?[0-9]{1,2})?|0[box][0-7a-f_]{1,4}",
                "true|True|TRUE|false|False|FALSE|null|Null|NULL|~|[.-]{0,2}(inf|Inf|INF|nan|NaN|NAN)",
                "[+-]?[0-9a-fx_.eE:-]{1,6}|[.]?[A-Za-z~]{1,5}|[0-9]{4}-[0-9-]{3,5}",
            ],
        ) {
            let read = serde_yaml::from_str::<[serde_json::Value; 1]>(&format!("- {text}"));
            prop_assume!(read.is_ok_and(|[it]| it.is_number() || it.is_boolean() || it.is_null()));
            prop_assert!(is_ambiguous(&text), "{}", text);
        }
    }
}
