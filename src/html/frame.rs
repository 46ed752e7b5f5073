//! The frame of a page, which `base.html` writes: the name of the collection, the ways to its other
//! pages, and the language.

use super::language::Language;
use super::sentence::Sentence;

/// The style of every page, as `base.html` includes it.
pub const STYLE: &str = include_str!("../../templates/style.css");

/// The frame of a page. A link that it does not have is not shown.
#[derive(Debug, Clone)]
pub struct Frame<'p> {
    /// The language of the page.
    pub language: Language,
    /// What the collection is called.
    pub name: &'p str,
    /// The path of the landing page.
    pub home: Option<&'p str>,
    /// The path of the list of all links.
    pub list: Option<String>,
    /// The path of the form that proposes a link.
    pub propose: Option<String>,
    /// The address of the repository.
    pub repository: Option<&'p str>,
    /// The address for reports: `https:` or `mailto:`.
    pub contact: Option<&'p str>,
    /// The revision of the table, in its short form.
    pub revision: Option<&'p str>,
}

impl Frame<'_> {
    /// Returns the text of a key.
    pub fn text(&self, key: &'static str) -> &'static str {
        self.language.text(key)
    }

    /// Returns the text of a key, into which values are inserted.
    pub fn sentence(&self, key: &'static str) -> Sentence {
        Sentence::new(self.language, key)
    }

    /// Returns the first of two texts for one, and the second for other numbers, with the number.
    pub fn counted(&self, one: &'static str, other: &'static str, number: usize) -> Sentence {
        let key = if number == 1 { one } else { other };
        self.sentence(key).text("count", grouped(number))
    }
}

/// Returns a number with its digits in groups of three, if they are more than four (ISO 80000-1,
/// 7.3.1).
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            // A narrow no-break space.
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_groups() {
        for (number, expected) in [
            (0, "0"),
            (9999, "9999"),
            (10_000, "10\u{202f}000"),
            (1_234_567, "1\u{202f}234\u{202f}567"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}
