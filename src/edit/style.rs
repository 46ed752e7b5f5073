//! Styles: how the lines of a new entry are written, next to its neighbours.

use super::NewEntry;
use super::variant_lines::pair;

/// The style in which an entry is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style<'t> {
    /// The text before the dash.
    pub(super) margin: &'t str,
    /// The text after the dash.
    pub(super) gap: &'t str,
    /// Whether a blank line separates the entry from the next.
    pub(super) is_spaced: bool,
}

impl Style<'_> {
    /// Writes an entry, each line with its line break.
    pub(super) fn write(&self, entry: &NewEntry, line_break: &str) -> String {
        let Self { margin, gap, .. } = self;
        let mut text = String::new();
        for (number, (key, value)) in entry.pairs().enumerate() {
            let dash = if number == 0 { '-' } else { ' ' };
            let pair = pair(key, &value, &format!("{line_break}{margin} {gap}"));
            text.extend([margin, &*dash.to_string(), gap, &pair, line_break]);
        }
        text
    }
}

/// Moves the line break of new lines to their start if the line before them has none.
pub(super) fn fitted(text: &str, at: usize, mut lines: String, line_break: &str) -> String {
    if text[..at].ends_with('\n') {
        return lines;
    }
    lines.truncate(lines.len() - line_break.len());
    lines.insert_str(0, line_break);
    lines
}
