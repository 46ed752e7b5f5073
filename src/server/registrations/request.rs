//! The body of a registration: from JSON to a request, with all errors reported together.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;

use crate::mapping::{Forward, Status, Target, WrittenDate, direction_control};
use crate::registry::{Destination, MayShadow, RegistrationRequest, RequestedCode};

use super::response::RequestError;

/// The known keys.
pub(super) const KEYS: [&str; 13] = [
    "url",
    "short_code",
    "number",
    "aliases",
    "title",
    "owner",
    "tags",
    "status",
    "forward",
    "expires",
    "site",
    "file",
    "get_or_create",
];

/// The maximum length of a title, an owner and a tag, in characters.
pub(crate) const MAX_TEXT: usize = 1_000;

/// The most unknown keys that are reported.
const MAX_UNKNOWN: usize = 10;

/// A client's request.
#[derive(Debug)]
pub(super) struct RegistrationBody {
    pub(super) request: RegistrationRequest,
    /// Whether an existing link may be returned instead.
    pub(super) get_or_create: bool,
}

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

impl RegistrationBody {
    /// Reads a body.
    ///
    /// # Errors
    ///
    /// Returns all errors in its keys and their types. The registry checks their values.
    pub(super) fn read(body: &[u8], private: PrivateUrls) -> Result<Self, BodyError> {
        let read: Result<Pairs, _> = serde_json::from_slice(body);
        let Pairs(pairs) = read.map_err(|error| match error.classify() {
            Category::Data => BodyError::Invalid(vec![finding("", "is not an object")]),
            _ => BodyError::Malformed,
        })?;
        let mut reader = BodyReader {
            pairs,
            findings: Vec::new(),
        };
        let asked = reader.asked();
        let target = Target::parse(&asked.request.url);
        if private == PrivateUrls::Refused && target.is_ok_and(|target| target.is_private()) {
            reader.note("url", "has a private or loopback address");
        }
        match reader.findings.is_empty() {
            true => Ok(asked),
            false => Err(BodyError::Invalid(reader.findings)),
        }
    }
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
struct BodyReader {
    pairs: Vec<(String, Value)>,
    findings: Vec<RequestError>,
}

impl BodyReader {
    fn asked(&mut self) -> RegistrationBody {
        let url = self.text("url");
        let code = self.text("short_code");
        let number = self.number();
        if code.is_some() && number.is_some() {
            self.note("number", "goes without \"short_code\"");
        }
        let request = RegistrationRequest {
            code: match code {
                Some(code) => RequestedCode::Custom(code),
                None => number.unwrap_or_default(),
            },
            aliases: self.texts("aliases"),
            title: self.short_text("title"),
            owner: self.short_text("owner"),
            tags: self.tags(),
            status: self.status(),
            forward: self.forward(),
            expires: self.expires(),
            site: self.text("site"),
            destination: Destination::Document(self.text("file")),
            // The registrar decides this, because it knows the owner of the token.
            may_shadow: MayShadow::None,
            url: url.unwrap_or_default(),
        };
        let get_or_create = self.get_or_create();
        let rest = std::mem::take(&mut self.pairs);
        for (key, _) in rest.into_iter().take(MAX_UNKNOWN) {
            match KEYS.contains(&&*key) {
                true => self.note(&key, "is given twice"),
                false => self.unknown(&key),
            }
        }
        if request.url.is_empty() && !self.findings.iter().any(|it| it.pointer == "/url") {
            self.note("url", "is missing");
        }
        RegistrationBody {
            request,
            get_or_create,
        }
    }

    /// Takes the value of a key; `None` for `null`.
    fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.pairs.iter().position(|(it, _)| it == key)?;
        let (_, value) = self.pairs.remove(at);
        Some(value).filter(|value| !value.is_null())
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.take(key)? {
            Value::String(text) => Some(text),
            _ => self.find(key, "is not a text"),
        }
    }

    fn short_text(&mut self, key: &str) -> Option<String> {
        let text = self.text(key);
        self.check_texts(key, text.as_slice());
        text
    }

    fn tags(&mut self) -> Vec<String> {
        let tags = self.texts("tags");
        self.check_texts("tags", &tags);
        tags
    }

    /// Records an error if a text is too long, or may be displayed as another.
    fn check_texts(&mut self, key: &str, texts: &[String]) {
        if texts.iter().any(|text| text.chars().count() > MAX_TEXT) {
            self.note(key, format!("has more than {MAX_TEXT} characters"));
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
            .or_else(|| self.find(key, "is not a list of texts"))
            .unwrap_or_default()
    }

    fn number(&mut self) -> Option<RequestedCode> {
        match self.take("number")? {
            Value::String(text) if text == "next" => Some(RequestedCode::NextNumber),
            // A client that chose the last number would leave none after it for others.
            _ => self.find("number", "is not \"next\""),
        }
    }

    fn status(&mut self) -> Option<Status> {
        let value = self.take("status")?;
        let code = value.as_u64().and_then(|code| u16::try_from(code).ok());
        let status = code.and_then(Status::from_code);
        status.or_else(|| self.find("status", "is none of 301, 302, 303, 307 and 308"))
    }

    fn forward(&mut self) -> Option<Forward> {
        let name = self.text("forward")?;
        let mut all = Forward::ALL.into_iter();
        let forward = all.find(|forward| forward.name() == name);
        forward.or_else(|| {
            let names = Forward::ALL.map(Forward::name).join(", ");
            self.find("forward", format!("is none of {names}"))
        })
    }

    fn expires(&mut self) -> Option<WrittenDate> {
        let date = self.text("expires")?.parse::<WrittenDate>();
        date.map_or_else(|error| self.find("expires", error.to_string()), Some)
    }

    fn get_or_create(&mut self) -> bool {
        match self.take("get_or_create") {
            None => false,
            Some(Value::Bool(it)) => it,
            Some(_) => self
                .find("get_or_create", "is neither true nor false")
                .unwrap_or_default(),
        }
    }

    fn unknown(&mut self, key: &str) {
        let alike = KEYS.into_iter().map(|known| {
            let distance = strsim::damerau_levenshtein(key, known);
            (distance, known)
        });
        let nearest = alike.min().filter(|(distance, _)| *distance <= 3);
        self.findings.push(RequestError {
            hint: nearest.map(|(_, known)| format!("did you mean {known:?}?")),
            ..finding(key, "is not a key of a registration")
        });
    }

    /// Records an error in the value of a key, and returns `None`.
    fn find<T>(&mut self, key: &str, message: impl Into<String>) -> Option<T> {
        self.note(key, message);
        None
    }

    fn note(&mut self, key: &str, message: impl Into<String>) {
        self.findings.push(finding(key, message));
    }
}

/// Returns an error in the value of a key, or in the whole body.
fn finding(key: &str, message: impl Into<String>) -> RequestError {
    let pointer = match key {
        "" => String::new(),
        key => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
    };
    RequestError {
        pointer,
        message: message.into(),
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the errors in a body, one per line.
    fn wrong(body: &str) -> Vec<String> {
        match RegistrationBody::read(body.as_bytes(), PrivateUrls::Accepted) {
            Err(BodyError::Invalid(findings)) => {
                let lines = findings.iter();
                lines
                    .map(|it| format!("{} {}", it.pointer, it.message))
                    .collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_all_that_may_be_asked() {
        let asked = RegistrationBody::read(
            br#"{"url": "https://e.org/", "number": "next", "aliases": ["a"], "title": "T",
                "owner": "o", "tags": ["x", "y"], "status": 308, "forward": "path",
                "expires": "2030-01-01", "site": "https://s.code/", "file": "a.yaml",
                "short_code": null, "get_or_create": true}"#,
            PrivateUrls::Refused,
        )
        .unwrap();
        assert!(asked.get_or_create);
        let request = asked.request;
        assert_eq!(request.code, RequestedCode::NextNumber);
        assert_eq!(
            (request.aliases, request.tags.len()),
            (vec!["a".to_owned()], 2)
        );
        assert_eq!(request.status, Some(Status::PermanentRedirect));
        assert_eq!(request.forward, Some(Forward::Path));
        assert_eq!(
            request.destination,
            Destination::Document(Some("a.yaml".to_owned()))
        );
    }

    #[test]
    fn reports_all_that_is_wrong_at_once() {
        assert_eq!(
            wrong(
                r#"{"url": 1, "number": 18446744073709551615, "tags": "x", "status": 200, "forward": "all",
                    "get_or_create": 1, "title": "a", "title": "b", "shortcode": "x", "a/b": 1}"#
            ),
            [
                "/url is not a text",
                "/number is not \"next\"",
                "/tags is not a list of texts",
                "/status is none of 301, 302, 303, 307 and 308",
                "/forward is none of none, query, path, path-and-query",
                "/get_or_create is neither true nor false",
                "/title is given twice",
                "/shortcode is not a key of a registration",
                "/a~1b is not a key of a registration",
            ]
        );
        let dated = wrong(r#"{"title": 1, "expires": "soon", "url": "u"}"#);
        assert_eq!(dated[0], "/title is not a text");
        assert!(
            dated[1].starts_with("/expires \"soon\" is not a date"),
            "{dated:?}"
        );
        assert_eq!(wrong("{}"), ["/url is missing"]);
        assert_eq!(wrong("[1]"), [" is not an object"]);
        assert_eq!(
            wrong(r#"{"url": "u", "short_code": "a", "number": "next"}"#),
            ["/number goes without \"short_code\""]
        );
    }

    #[test]
    fn texts_do_not_change_the_direction_of_writing() {
        assert_eq!(
            wrong(
                r#"{"url": "u", "title": "a\u202e", "owner": "\u2066", "tags": ["a", "\u202a"]}"#
            ),
            [
                "/title changes the direction of writing (U+202E)",
                "/owner changes the direction of writing (U+2066)",
                "/tags changes the direction of writing (U+202A)",
            ]
        );
        let marks = r#"{"url": "u", "title": "\u05d0\u200f", "tags": ["\u200e"]}"#;
        assert!(RegistrationBody::read(marks.as_bytes(), PrivateUrls::Accepted).is_ok());
    }

    #[test]
    fn private_addresses_are_refused_on_request() {
        for (url, is_refused) in [
            ("http://127.1/", true),
            ("https://[::ffff:10.0.0.1]/x", true),
            ("http://localhost:80", true),
            ("https://e.org/", false),
            ("no URL", false),
        ] {
            let body = format!(r#"{{"url": "{url}"}}"#);
            assert!(
                RegistrationBody::read(body.as_bytes(), PrivateUrls::Accepted).is_ok(),
                "{url}"
            );
            let read = RegistrationBody::read(body.as_bytes(), PrivateUrls::Refused);
            assert_eq!(read.is_err(), is_refused, "{url}");
            let pointers = match &read {
                Err(BodyError::Invalid(findings)) => {
                    findings.iter().map(|it| &*it.pointer).collect()
                }
                _ => Vec::new(),
            };
            let expected: &[&str] = if is_refused { &["/url"] } else { &[] };
            assert_eq!(pointers, expected, "{url}");
        }
    }

    #[test]
    fn texts_and_findings_are_limited() {
        let (fits, long) = ("ä".repeat(MAX_TEXT), "ä".repeat(MAX_TEXT + 1));
        let of = |text| {
            format!(
                r#"{{"url": "u", "title": "{text}", "owner": "{text}", "tags": ["a", "{text}"]}}"#
            )
        };
        assert!(RegistrationBody::read(of(&fits).as_bytes(), PrivateUrls::Accepted).is_ok());
        assert_eq!(
            wrong(&of(&long)),
            ["/title", "/owner", "/tags"].map(|it| format!("{it} has more than 1000 characters"))
        );
        let unknown: String = (0..100).map(|n| format!(r#", "k{n}": 1"#)).collect();
        let reported = wrong(&format!(r#"{{"url": "u"{unknown}}}"#));
        assert_eq!(reported.len(), MAX_UNKNOWN);
    }

    #[test]
    fn what_is_no_json_is_no_request() {
        for body in ["", "{", "{\"url\":\"\u{1}\"}", "{} {}", "url=x"] {
            let read = RegistrationBody::read(body.as_bytes(), PrivateUrls::Accepted);
            assert!(matches!(read, Err(BodyError::Malformed)), "{body}");
        }
        assert!(matches!(
            RegistrationBody::read(b"{\"url\": \"\xff\"}", PrivateUrls::Accepted),
            Err(BodyError::Malformed)
        ));
        let deep = format!("{{\"url\": {}", "[".repeat(60_000));
        assert!(matches!(
            RegistrationBody::read(deep.as_bytes(), PrivateUrls::Accepted),
            Err(BodyError::Malformed)
        ));
    }
}
