//! Media types, as in `application/ld+json` (RFC 9110 section 8.3.1).

use thiserror::Error;

use crate::mapping::value::diagnostics::Rule;

/// The maximum length of each of the two names (RFC 6838 section 4.2).
const MAX_NAME: usize = 127;

/// A media type without parameters, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType(Box<str>);

/// The reason why a text is not a media type that variants can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MediaTypeError {
    /// It stands for several types.
    #[error("a wildcard is no media type")]
    Wildcard,
    /// Requests are matched by type alone.
    #[error("a media type has no parameters here")]
    Parameters,
    /// It is not of the form `type/subtype`.
    #[error("this is no media type")]
    Form,
}

impl MediaType {
    /// Reads a media type, in any case.
    ///
    /// # Errors
    ///
    /// Fails for wildcards, for parameters, and for anything else than two names that can be
    /// registered (RFC 6838 section 4.2).
    pub fn parse(text: &str) -> Result<Self, MediaTypeError> {
        if text.contains(';') {
            return Err(MediaTypeError::Parameters);
        }
        let (first, second) = text.split_once('/').unwrap_or((text, ""));
        if first == "*" || second == "*" {
            return Err(MediaTypeError::Wildcard);
        }
        match is_name(first) && is_name(second) {
            true => Ok(Self(text.to_ascii_lowercase().into())),
            false => Err(MediaTypeError::Form),
        }
    }

    /// Returns its text, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl MediaTypeError {
    /// Returns the rule that it breaks.
    pub fn rule(self) -> Rule {
        Rule::MediaTypeInvalid
    }

    /// Returns the remedy.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Wildcard => {
                "name each type; requests that name none of them lead to the entry's own URL"
            }
            Self::Parameters => {
                "remove everything from the \";\" on: it is ignored in requests, too"
            }
            Self::Form => "write a type and a subtype, as in application/ld+json",
        }
    }
}

/// Returns whether a text is a restricted name (RFC 6838 section 4.2).
fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= MAX_NAME
        && text.bytes().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_types_in_any_case() {
        for (text, expected) in [
            ("text/turtle", "text/turtle"),
            ("Application/LD+json", "application/ld+json"),
            (
                "application/vnd.x-y_z!#$&^.1",
                "application/vnd.x-y_z!#$&^.1",
            ),
        ] {
            assert_eq!(MediaType::parse(text).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn refuses_what_is_no_type() {
        let long = format!("a/{}", "b".repeat(MAX_NAME + 1));
        for (text, error) in [
            ("*/*", MediaTypeError::Wildcard),
            ("text/*", MediaTypeError::Wildcard),
            ("*", MediaTypeError::Wildcard),
            ("text/html;level=1", MediaTypeError::Parameters),
            ("text/html; q=0.5", MediaTypeError::Parameters),
            ("", MediaTypeError::Form),
            ("html", MediaTypeError::Form),
            ("text/", MediaTypeError::Form),
            ("/html", MediaTypeError::Form),
            ("text/html/x", MediaTypeError::Form),
            ("text/html, text/plain", MediaTypeError::Form),
            ("text /html", MediaTypeError::Form),
            ("téxt/html", MediaTypeError::Form),
            (&long, MediaTypeError::Form),
        ] {
            assert_eq!(MediaType::parse(text), Err(error), "{text}");
        }
    }
}
