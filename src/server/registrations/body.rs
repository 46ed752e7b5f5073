//! JSON bodies of requests: values by their keys, with all errors reported together.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;

use crate::mapping::{Code, Forward, Status, Target, WrittenDate, direction_control};

use super::response::RequestError;

/// The maximum length of a title, an owner and a tag, in characters.
pub(crate) const MAX_TEXT: usize = 1_000;

/// The most unknown keys that are reported.
pub(super) const MAX_UNKNOWN: usize = 10;

/// Why a body is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is not JSON.
    Malformed,
    /// The errors in it.
    Invalid(Vec<RequestError>),
}

/// What happens to URLs with a literal address that is private, shared, loopback, link-local or
/// unspecified, or with the host `localhost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateUrls {
    /// They are registered like others.
    Accepted,
    /// They are refused.
    Refused,
}

/// The keys of an object and their values, including repeated keys.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// Takes values by their keys, and collects errors in them.
pub(super) struct BodyReader {
    /// The known keys.
    keys: &'static [&'static str],
    pairs: Vec<(String, Value)>,
    findings: Vec<RequestError>,
    private: PrivateUrls,
}

impl BodyReader {
    /// Reads a body that has some of these keys.
    ///
    /// # Errors
    ///
    /// If it is not a JSON object.
    pub(super) fn of(
        body: &[u8],
        keys: &'static [&'static str],
        private: PrivateUrls,
    ) -> Result<Self, BodyError> {
        let read: Result<Pairs, _> = serde_json::from_slice(body);
        let Pairs(pairs) = read.map_err(|error| match error.classify() {
            Category::Data => BodyError::Invalid(vec![finding("", "is not an object")]),
            _ => BodyError::Malformed,
        })?;
        Ok(Self {
            keys,
            pairs,
            findings: Vec::new(),
            private,
        })
    }

    /// Returns what was read, unless there are errors: also for keys that are left.
    ///
    /// # Errors
    ///
    /// Returns all errors.
    pub(super) fn finish<T>(mut self, read: T) -> Result<T, BodyError> {
        for (key, _) in std::mem::take(&mut self.pairs).iter().take(MAX_UNKNOWN) {
            match self.keys.contains(&&**key) {
                true => self.note(key, "is given twice"),
                false => self.unknown(key),
            }
        }
        match self.findings.is_empty() {
            true => Ok(read),
            false => Err(BodyError::Invalid(self.findings)),
        }
    }

    /// Returns whether a key has a value that was not taken, `null` included.
    pub(super) fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(it, _)| it == key)
    }

    /// Returns whether an error was found in the value of a key.
    pub(super) fn has_error(&self, key: &str) -> bool {
        let pointer = pointer(key);
        self.findings.iter().any(|it| it.pointer == pointer)
    }

    /// Takes the value of a key; `None` for `null`.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.pairs.iter().position(|(it, _)| it == key)?;
        let (_, value) = self.pairs.remove(at);
        Some(value).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            _ => self.refuse(key, "is not a text"),
        }
    }

    /// Takes a URL that can be a target, as it is written.
    pub(super) fn url(&mut self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        self.check_url(&pointer(key), &text);
        Some(text)
    }

    /// Returns a text as a target; records an error at a pointer if it cannot be one.
    pub(super) fn check_url(&mut self, pointer: &str, text: &str) -> Option<Target<'static>> {
        match Target::parse(text) {
            Ok(target) if self.private == PrivateUrls::Refused && target.is_private() => {
                self.note_at(pointer, "has a private or loopback address", None);
                None
            }
            Ok(target) => Some(target.into_owned()),
            Err(error) => {
                self.note_at(pointer, error.to_string(), error.hint());
                None
            }
        }
    }

    /// Takes a code.
    pub(super) fn code(&mut self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        self.check_codes(key, std::slice::from_ref(&text));
        Some(text)
    }

    /// Takes a list of codes.
    pub(super) fn codes(&mut self, key: &str) -> Vec<String> {
        let texts = self.texts(key);
        self.check_codes(key, &texts);
        texts
    }

    fn check_codes(&mut self, key: &str, texts: &[String]) {
        for error in texts.iter().filter_map(|text| Code::custom(text).err()) {
            self.findings.push(RequestError {
                hint: error.hint(),
                ..finding(key, error.to_string())
            });
        }
    }

    /// Takes a text for people.
    pub(super) fn short_text(&mut self, key: &str) -> Option<String> {
        let text = self.text(key);
        self.check_texts(key, text.as_slice());
        text
    }

    /// Takes a list of texts for people.
    pub(super) fn short_texts(&mut self, key: &str) -> Vec<String> {
        let texts = self.texts(key);
        self.check_texts(key, &texts);
        texts
    }

    /// Records an error if a text is blank, too long, not one line, or may be displayed as another.
    fn check_texts(&mut self, key: &str, texts: &[String]) {
        if texts.iter().any(|text| text.trim().is_empty()) {
            self.note(key, "is blank");
        }
        if texts.iter().any(|text| text.chars().count() > MAX_TEXT) {
            self.note(key, format!("has more than {MAX_TEXT} characters"));
        }
        let mut characters = texts.iter().flat_map(|text| text.chars());
        if let Some(control) = characters.find(|it| it.is_control()) {
            self.note(key, format!("contains the control character {control:?}"));
        }
        if let Some(control) = texts.iter().find_map(|text| direction_control(text)) {
            let number = u32::from(control);
            let message = format!("changes the direction of writing (U+{number:04X})");
            self.note(key, message);
        }
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let texts: Option<Vec<_>> = value.as_array().and_then(|list| {
            let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect()
        });
        texts
            .or_else(|| self.refuse(key, "is not a list of texts"))
            .unwrap_or_default()
    }

    pub(super) fn status(&mut self) -> Option<Status> {
        let value = self.take("status")?;
        let code = value.as_u64().and_then(|code| u16::try_from(code).ok());
        let status = code.and_then(Status::from_code);
        status.or_else(|| self.refuse("status", "is none of 301, 302, 303, 307 and 308"))
    }

    pub(super) fn forward(&mut self) -> Option<Forward> {
        let name = self.text("forward")?;
        let mut all = Forward::ALL.into_iter();
        let forward = all.find(|forward| forward.name() == name);
        forward.or_else(|| {
            let names = Forward::ALL.map(Forward::name).join(", ");
            self.refuse("forward", format!("is none of {names}"))
        })
    }

    pub(super) fn expires(&mut self) -> Option<WrittenDate> {
        let date = self.text("expires")?.parse::<WrittenDate>();
        date.map_or_else(|error| self.refuse("expires", error.to_string()), Some)
    }

    pub(super) fn flag(&mut self, key: &str) -> bool {
        match self.take(key) {
            None => false,
            Some(Value::Bool(it)) => it,
            Some(_) => self
                .refuse(key, "is neither true nor false")
                .unwrap_or_default(),
        }
    }

    /// Takes a value that may only be this text; returns whether it is given.
    pub(super) fn only(&mut self, key: &str, text: &str) -> bool {
        match self.take(key) {
            None => false,
            Some(value) if value == text => true,
            Some(_) => {
                self.note(key, format!("is not {text:?}"));
                true
            }
        }
    }

    fn unknown(&mut self, key: &str) {
        let alike = self.keys.iter().map(|known| {
            let distance = strsim::damerau_levenshtein(key, known);
            (distance, known)
        });
        let nearest = alike.min().filter(|(distance, _)| *distance <= 3);
        self.findings.push(RequestError {
            hint: nearest.map(|(_, known)| format!("did you mean {known:?}?")),
            ..finding(key, "is not a key of this request")
        });
    }

    /// Records an error in the value of a key, and returns `None`.
    fn refuse<T>(&mut self, key: &str, message: impl Into<String>) -> Option<T> {
        self.note(key, message);
        None
    }

    /// Records an error in the value of a key.
    pub(super) fn note(&mut self, key: &str, message: impl Into<String>) {
        self.findings.push(finding(key, message));
    }

    /// Records an error at a JSON pointer (RFC 6901).
    pub(super) fn note_at(
        &mut self,
        pointer: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        self.findings.push(RequestError {
            pointer: pointer.to_owned(),
            message: message.into(),
            hint,
        });
    }
}

/// Returns a pointer to the value of a key, or to the whole body.
pub(super) fn pointer(key: &str) -> String {
    match key {
        "" => String::new(),
        key => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
    }
}

/// Returns an error in the value of a key, or in the whole body.
fn finding(key: &str, message: impl Into<String>) -> RequestError {
    RequestError {
        pointer: pointer(key),
        message: message.into(),
        hint: None,
    }
}
