//! Regular expressions, for formats that have no other way to compare a text.

use crate::mapping::spellings;

/// Returns a regular expression fragment (PCRE) that matches exactly this text.
pub(crate) fn matching(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for c in text.chars() {
        if ".+*?()[]{}|^$\\".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

/// Returns a regular expression fragment (PCRE, also without Unicode) that matches a text in any case.
pub(crate) fn matching_any_case(text: &str, encoded: impl Fn(&str) -> String) -> String {
    match folded(text, &encoded) {
        Some(expression) => format!("(?i:{expression})"),
        None => matching(&encoded(text)),
    }
}

/// Returns a fragment that matches a text in any case, percent-encoded by `encoded`, in an expression that ignores the
/// case of ASCII letters; `None` if it has no letters with two cases.
pub(crate) fn folded(text: &str, encoded: impl Fn(&str) -> String) -> Option<String> {
    let mut has_letters = false;
    let mut expression = String::with_capacity(text.len());
    for c in text.chars() {
        let all = spellings(c);
        has_letters |= all.len() > 1;
        match all.len() > 1 && !c.is_ascii() {
            true => {
                let all = all.iter().map(|it| matching(&encoded(&it.to_string())));
                expression += &format!("(?:{})", all.collect::<Vec<_>>().join("|"));
            }
            false => expression += &matching(&encoded(&c.to_string())),
        }
    }
    has_letters.then_some(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_match_in_any_case() {
        for (text, expression) in [
            ("1-2.3", r"1-2\.3"),
            ("a.B", r"(?i:a\.B)"),
            ("été", "(?i:(?:É|é)t(?:É|é))"),
            ("日本", "日本"),
        ] {
            assert_eq!(matching_any_case(text, str::to_owned), expression);
        }
        let encoded = matching_any_case("é日", |it| {
            it.replace('é', "%C3%A9").replace('É', "%C3%89")
        });
        assert_eq!(encoded, "(?i:(?:%C3%89|%C3%A9)日)");
    }
}
