//! The texts of one language, read from a file in a part of the syntax of Fluent
//! (<https://projectfluent.org/fluent/guide/>): `key = text`, one a line, with placeables
//! `{ $name }`, and comments that begin with `#`.
//!
//! Neither selectors nor texts of several lines are needed: a text that depends on a number has a key
//! for one and a key for others.

/// The texts of one language, by their keys.
#[derive(Debug)]
pub(super) struct Messages(Vec<(&'static str, &'static str)>);

impl Messages {
    /// Reads a file. Lines of another form are ignored; a test shows that ours have none.
    pub(super) fn read(file: &'static str) -> Self {
        let mut messages: Vec<_> = file.lines().filter_map(message).collect();
        messages.sort_unstable();
        Self(messages)
    }

    /// Returns the text of a key, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<&'static str> {
        let place = self.0.binary_search_by_key(&key, |(key, _)| key).ok()?;
        Some(self.0[place].1)
    }

    /// Returns all keys and texts, in order of the keys.
    #[cfg(test)]
    pub(super) fn all(&self) -> &[(&'static str, &'static str)] {
        &self.0
    }
}

/// Reads a line `key = text`.
fn message(line: &'static str) -> Option<(&'static str, &'static str)> {
    if line.starts_with('#') {
        return None;
    }
    let (key, text) = line.split_once('=')?;
    Some((key.trim_end(), text.trim()))
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessagePart {
    /// Text as it is.
    Text(&'static str),
    /// The name of a value that is inserted.
    Value(&'static str),
}

/// Returns the parts of a text.
pub(super) fn parts(text: &'static str) -> impl Iterator<Item = MessagePart> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = placeable(rest) {
            rest = after;
            return Some(MessagePart::Value(name));
        }
        // Anything that is not a placeable is text, even a lone brace.
        let next = rest.match_indices('{').map(|(at, _)| at);
        let end = next
            .into_iter()
            .find(|at| placeable(&rest[*at..]).is_some());
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(MessagePart::Text(text))
    })
}

/// Returns a text with its values, as plain text.
pub(super) fn filled(text: &'static str, value: impl Fn(&str) -> String) -> String {
    let parts = parts(text).map(|part| match part {
        MessagePart::Text(text) => text.to_owned(),
        MessagePart::Value(name) => value(name),
    });
    parts.collect()
}

/// Reads `{ $name }` at the beginning of a text; returns the name and what follows.
fn placeable(text: &'static str) -> Option<(&'static str, &'static str)> {
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let name = inside.trim().strip_prefix('$')?;
    Some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_keys_and_texts() {
        let messages = Messages::read("# b = no\n\nb = One = { $one }\na =  x  \n");
        assert_eq!(messages.all(), [("a", "x"), ("b", "One = { $one }")]);
        assert_eq!(messages.get("b"), Some("One = { $one }"));
        assert_eq!(messages.get("c"), None);
    }

    #[test]
    fn takes_texts_apart() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &[MessagePart::Text("a")]),
            (
                "a { $b }{$c}.",
                &[
                    MessagePart::Text("a "),
                    MessagePart::Value("b"),
                    MessagePart::Value("c"),
                    MessagePart::Text("."),
                ],
            ),
            ("{ a { $b", &[MessagePart::Text("{ a { $b")]),
        ] {
            assert_eq!(parts(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
