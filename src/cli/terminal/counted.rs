//! Counts in words.

/// Returns a count with its noun, in the singular or the plural.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
