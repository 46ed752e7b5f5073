//! Regular expressions, for those who cannot compare a text otherwise.

/// Returns the part of a regular expression (PCRE) that matches just this text.
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
