//! A text of a language with the values in it, each escaped, and perhaps in its own element.

use std::fmt;

use askama::filters::{Html, HtmlSafe, escape};

use super::language::Language;
use super::messages::{MessagePart, parts};
use super::moment::Moment;

/// A text of a language with values, displayed as HTML.
#[derive(Debug, Clone)]
pub struct Sentence {
    language: Language,
    text: &'static str,
    /// The name of each value, and its HTML.
    values: Vec<(&'static str, String)>,
}

impl Sentence {
    pub(super) fn new(language: Language, key: &'static str) -> Self {
        Self {
            language,
            text: language.text(key),
            values: Vec::new(),
        }
    }

    /// Inserts a text.
    #[must_use]
    pub fn text(self, name: &'static str, text: impl fmt::Display) -> Self {
        let html = escaped(text);
        self.with(name, html)
    }

    /// Inserts a text in an element `code`.
    #[must_use]
    pub fn code(self, name: &'static str, text: impl fmt::Display) -> Self {
        let html = format!("<code>{}</code>", escaped(text));
        self.with(name, html)
    }

    /// Inserts a text that does not decide the direction of the text around it.
    #[must_use]
    pub fn quoted(self, name: &'static str, text: impl fmt::Display) -> Self {
        let html = format!("<bdi>{}</bdi>", escaped(text));
        self.with(name, html)
    }

    /// Inserts a day or a time, in words of the language.
    #[must_use]
    pub fn time(self, name: &'static str, moment: Moment) -> Self {
        let html = moment.html(self.language);
        self.with(name, html)
    }

    fn with(mut self, name: &'static str, html: String) -> Self {
        self.values.push((name, html));
        self
    }
}

/// Returns a text as HTML has it.
fn escaped(text: impl fmt::Display) -> String {
    match escape(text, Html) {
        Ok(safe) => safe.to_string(),
    }
}

/// Writes HTML: the text is escaped, and values were.
impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in parts(self.text) {
            match part {
                MessagePart::Text(text) => f.write_str(&escaped(text))?,
                MessagePart::Value(name) => {
                    let value = self.values.iter().find(|(it, _)| *it == name);
                    f.write_str(value.map_or(name, |(_, html)| html))?;
                }
            }
        }
        Ok(())
    }
}

impl HtmlSafe for Sentence {}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &'static str) -> Sentence {
        Sentence {
            text,
            ..Sentence::new(Language::DEFAULT, "links")
        }
    }

    #[test]
    fn texts_and_values_are_escaped() {
        let written = sentence("a < { $b } > { $c }")
            .text("b", "<i>")
            .code("c", "{ $b }&");
        let expected = "a &#60; &#60;i&#62; &#62; <code>{ $b }&#38;</code>";
        assert_eq!(written.to_string(), expected);
    }
}
