//! Regular expressions, for formats that have no other way to compare a text.

/// Returns a regular expression fragment (PCRE) that matches exactly this text.
pub(super) fn matching(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for c in text.chars() {
        if ".+*?()[]{}|^$\\".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}
