//! The types of values in a document.
//!
//! Each method reads the value of the key that was just read; a value of another type is reported
//! as a problem, skipped, and returned as `None`.

use std::borrow::Cow;
use std::fmt;

use super::node::{Located, Node};
use super::reader::Reader;
use super::stop::Stop;
use crate::mapping::value::{
    Case, Forward, NewCode, Position, Retired, Rule, Scheme, Status, Timestamp, date_error,
};

/// The longest time a redirect may be cached, in seconds (RFC 9111 section 1.2.2).
const MAX_CACHE_AGE: u64 = 1 << 31;

const WITHOUT_QUOTES: &str = "remove the quotes: they make it a text";

const NEW_CODES: [(&str, NewCode); 2] = [("auto", NewCode::Auto), ("number", NewCode::Number)];

/// A scalar with a value.
struct ScalarNode<'t> {
    text: Cow<'t, str>,
    /// Whether it was written without quotes.
    plain: bool,
    tight_comment: Option<&'t str>,
    position: Position,
}

impl<'t> ScalarNode<'t> {
    fn at<T>(&self, value: T) -> Located<T> {
        Located {
            value,
            position: self.position,
        }
    }

    fn into_text(self) -> Located<Cow<'t, str>> {
        Located {
            value: self.text,
            position: self.position,
        }
    }
}

impl<'t> Reader<'t, '_> {
    pub(crate) fn list(&mut self, key: &str) -> Result<bool, Stop> {
        let hint = "write it as [a, b], or each item on its own line after \"- \"";
        self.list_like(key, hint)
    }

    /// Enters a list whose form a hint describes.
    pub(crate) fn list_like(&mut self, key: &str, hint: &str) -> Result<bool, Stop> {
        self.collection(key, "a list", hint, |node| matches!(node, Node::Sequence))
    }

    pub(crate) fn map(&mut self, key: &str) -> Result<bool, Stop> {
        let hint = "put its keys on lines of their own, indented";
        self.collection(key, "a map of keys", hint, |node| {
            matches!(node, Node::Mapping)
        })
    }

    fn collection(
        &mut self,
        key: &str,
        wanted: &str,
        hint: &str,
        fits: impl Fn(&Node<'_>) -> bool,
    ) -> Result<bool, Stop> {
        let Some(Located { value, position }) = self.node()? else {
            return Ok(false);
        };
        if fits(&value) {
            return Ok(true);
        }
        if !matches!(value, Node::Alias) {
            let message = format!("{key:?} must be {wanted}, found {}", value.noun());
            self.problem_with_hint(Rule::ValueWrongType, position, message, hint);
        }
        self.skip(&value)?;
        Ok(false)
    }

    /// Reads any scalar as its text: `2024`, `no` and `1e5` mean exactly those characters.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<Located<Cow<'t, str>>>, Stop> {
        Ok(self.scalar(key, "a text")?.map(ScalarNode::into_text))
    }

    /// Reads a URL as its text, and warns if its fragment is a comment.
    pub(crate) fn url(&mut self, key: &str) -> Result<Option<Located<Cow<'t, str>>>, Stop> {
        let Some(scalar) = self.scalar(key, "a text")? else {
            return Ok(None);
        };
        let words = scalar.tight_comment.iter();
        let mut words = words.flat_map(|comment| comment.split_whitespace());
        // A URL has at most one fragment.
        if let Some(fragment) = words.next().filter(|_| !scalar.text.contains('#')) {
            let shown: String = fragment.chars().take(60).collect();
            let message = format!("{shown:?} after the URL is a comment, and not part of it");
            let hint = format!(
                "write \"{}{fragment}\", in quotes, if it is the fragment; \
                 put a space after the \"#\" of a comment",
                scalar.text
            );
            let position = scalar.position;
            self.problem_with_hint(Rule::UrlFragmentComment, position, message, hint);
        }
        Ok(Some(scalar.into_text()))
    }

    pub(crate) fn texts(&mut self, key: &str) -> Result<Vec<Located<Cow<'t, str>>>, Stop> {
        let mut texts = Vec::new();
        if self.list(key)? {
            while let Some(node) = self.node()? {
                let item = self.as_scalar(node, format_args!("an item of {key}"), "a text")?;
                texts.extend(item.map(ScalarNode::into_text));
            }
        }
        Ok(texts)
    }

    /// Reads a text, or a list of at least one.
    pub(crate) fn text_or_texts(&mut self, key: &str) -> Result<Vec<Located<Cow<'t, str>>>, Stop> {
        let mut texts = Vec::new();
        let Some(node) = self.node()? else {
            return Ok(texts);
        };
        if !matches!(node.value, Node::Sequence) {
            let text =
                self.as_scalar(node, format_args!("{key:?}"), "a text or a list of texts")?;
            texts.extend(text.map(ScalarNode::into_text));
            return Ok(texts);
        }
        let position = node.position;
        let mut is_empty = true;
        while let Some(node) = self.node()? {
            is_empty = false;
            let item = self.as_scalar(node, format_args!("an item of {key}"), "a text")?;
            texts.extend(item.map(ScalarNode::into_text));
        }
        if is_empty {
            self.problem(
                Rule::ValueMissing,
                position,
                format!("{key:?} has no value"),
            );
        }
        Ok(texts)
    }

    pub(crate) fn scheme(&mut self) -> Result<Option<Located<Scheme>>, Stop> {
        let schemes = Scheme::ALL.map(|scheme| (scheme.name(), scheme));
        self.choice("code-scheme", &schemes)
    }

    pub(crate) fn case(&mut self) -> Result<Option<Located<Case>>, Stop> {
        let cases = Case::ALL.map(|case| (case.name(), case));
        self.choice("case", &cases)
    }

    pub(crate) fn forward(&mut self) -> Result<Option<Located<Forward>>, Stop> {
        let forwards = Forward::ALL.map(|forward| (forward.name(), forward));
        self.choice("forward", &forwards)
    }

    pub(crate) fn new_code(&mut self) -> Result<Option<Located<NewCode>>, Stop> {
        self.choice("new", &NEW_CODES)
    }

    fn choice<V: Copy>(
        &mut self,
        key: &str,
        values: &[(&'static str, V)],
    ) -> Result<Option<Located<V>>, Stop> {
        let Some(scalar) = self.scalar(key, "a word")? else {
            return Ok(None);
        };
        let found = values.iter().find(|(name, _)| *name == scalar.text);
        if found.is_none() {
            let names: Vec<_> = values.iter().map(|&(name, _)| name).collect();
            let message = format!("{key:?} must be one of {}", names.join(", "));
            self.problem(Rule::ValueUnknown, scalar.position, message);
        }
        Ok(found.map(|&(_, value)| scalar.at(value)))
    }

    pub(crate) fn status(&mut self) -> Result<Option<Located<Status>>, Stop> {
        let Some(scalar) = self.scalar("status", "a number")? else {
            return Ok(None);
        };
        let status = scalar.text.parse().ok().and_then(Status::from_code);
        if let (Some(status), true) = (status, scalar.plain) {
            return Ok(Some(scalar.at(status)));
        }
        let message = "\"status\" must be one of 301, 302, 303, 307, 308";
        let hint = status.map(|_| WITHOUT_QUOTES.to_owned());
        let report = self.report();
        report.problem(Rule::ValueUnknown, scalar.position, message, hint);
        Ok(None)
    }

    pub(crate) fn number(&mut self) -> Result<Option<Located<u64>>, Stop> {
        self.whole_number("number", u64::MAX)
    }

    pub(crate) fn cache_max_age(&mut self) -> Result<Option<u32>, Stop> {
        let seconds = self.whole_number("cache-max-age", MAX_CACHE_AGE)?;
        Ok(seconds.and_then(|seconds| u32::try_from(seconds.value).ok()))
    }

    fn whole_number(&mut self, key: &str, max: u64) -> Result<Option<Located<u64>>, Stop> {
        let Some(scalar) = self.scalar(key, "a whole number")? else {
            return Ok(None);
        };
        let text = &*scalar.text;
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        // YAML 1.1 reads 010 as eight, 1.2 as ten: a reader should not have to guess.
        let is_decimal = digits && (text.len() == 1 || !text.starts_with('0'));
        if !scalar.plain || !is_decimal {
            let hint = match is_decimal {
                true => WITHOUT_QUOTES,
                false => "write decimal digits only: no quotes, sign, fraction or leading zero",
            };
            let message = format!("{key:?} must be a whole number");
            self.problem_with_hint(Rule::NumberInvalid, scalar.position, message, hint);
            return Ok(None);
        }
        let number = text.parse().ok().filter(|&number| number <= max);
        if number.is_none() {
            let message = format!("{key:?} must be at most {max}");
            self.problem(Rule::NumberTooLarge, scalar.position, message);
        }
        Ok(number.map(|number| scalar.at(number)))
    }

    pub(crate) fn expires(&mut self) -> Result<Option<Timestamp>, Stop> {
        let Some(scalar) = self.scalar("expires", "a date")? else {
            return Ok(None);
        };
        let time = Timestamp::parse_end(&scalar.text);
        if time.is_none() {
            self.bad_date(&scalar, "\"expires\" must be a date or a date-time");
        }
        Ok(time)
    }

    pub(crate) fn retired(&mut self) -> Result<Option<Retired>, Stop> {
        let Some(scalar) = self.scalar("retired", "\"true\" or a date")? else {
            return Ok(None);
        };
        if scalar.plain && scalar.text == "true" {
            return Ok(Some(Retired::Always));
        }
        let message = "\"retired\" must be \"true\" or a date";
        let meant = match scalar.text.to_ascii_lowercase().as_str() {
            "true" if !scalar.plain => Some(WITHOUT_QUOTES),
            "true" | "yes" | "on" => Some("write it as in \"retired: true\""),
            "false" | "no" | "off" => {
                Some("leave the key out: an entry is not retired unless it says so")
            }
            _ => None,
        };
        if let Some(hint) = meant {
            self.problem_with_hint(Rule::DateInvalid, scalar.position, message, hint);
            return Ok(None);
        }
        let time = Timestamp::parse_start(&scalar.text);
        if time.is_none() {
            self.bad_date(&scalar, message);
        }
        Ok(time.map(Retired::From))
    }

    fn bad_date(&mut self, scalar: &ScalarNode<'_>, message: &str) {
        let position = scalar.position;
        if let Some(error) = date_error(&scalar.text) {
            let message = format!("{message}, and {:?} is none: {error}", scalar.text);
            self.problem(Rule::DateInvalid, position, message);
            return;
        }
        let hint = "write it as in 2026-12-31 or 2026-12-31T12:00:00Z (RFC 3339)";
        self.problem_with_hint(Rule::DateInvalid, position, message, hint);
    }

    fn scalar(&mut self, key: &str, wanted: &str) -> Result<Option<ScalarNode<'t>>, Stop> {
        match self.node()? {
            Some(node) => self.as_scalar(node, format_args!("{key:?}"), wanted),
            None => Ok(None),
        }
    }

    fn as_scalar(
        &mut self,
        node: Located<Node<'t>>,
        what: fmt::Arguments<'_>,
        wanted: &str,
    ) -> Result<Option<ScalarNode<'t>>, Stop> {
        let Located { value, position } = node;
        match value {
            Node::Scalar {
                text, plain: true, ..
            } if text.is_empty() => {
                self.problem(Rule::ValueMissing, position, format!("{what} has no value"));
            }
            Node::Scalar {
                text,
                plain,
                tight_comment,
            } => {
                return Ok(Some(ScalarNode {
                    text,
                    plain,
                    tight_comment,
                    position,
                }));
            }
            Node::Alias => {}
            Node::Sequence | Node::Mapping => {
                let message = format!("{what} must be {wanted}, found {}", value.noun());
                self.problem(Rule::ValueWrongType, position, message);
                self.skip(&value)?;
            }
        }
        Ok(None)
    }
}
