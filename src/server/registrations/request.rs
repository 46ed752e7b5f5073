//! The body of a registration: from JSON to a request.

use crate::registry::{Destination, MayShadow, RegistrationRequest, RequestedCode};

use super::body::{BodyError, BodyReader, PrivateUrls};

/// The known keys.
pub(super) const KEYS: &[&str] = &[
    "url",
    "short_code",
    "number",
    "aliases",
    "title",
    "owner",
    "tags",
    "status",
    "forward",
    "below",
    "variants",
    "expires",
    "site",
    "file",
    "get_or_create",
];

/// A client's request.
#[derive(Debug)]
pub(super) struct RegistrationBody {
    pub(super) request: RegistrationRequest,
    /// Whether an existing link may be returned instead.
    pub(super) get_or_create: bool,
}

impl RegistrationBody {
    /// Reads a body.
    ///
    /// # Errors
    ///
    /// Returns all errors that can be found without a table.
    pub(super) fn read(body: &[u8], private: PrivateUrls) -> Result<Self, BodyError> {
        let mut reader = BodyReader::of(body, KEYS, private)?;
        let url = reader.url("url");
        if url.as_deref().unwrap_or_default().is_empty() && !reader.has_error("url") {
            reader.note("url", "is missing");
        }
        let code = reader.code("short_code");
        // A client that chose the last number would leave no number for others.
        let has_number = reader.only("number", "next");
        if code.is_some() && has_number {
            reader.note("number", "goes without \"short_code\"");
        }
        let request = RegistrationRequest {
            code: match (code, has_number) {
                (Some(code), _) => RequestedCode::Custom(code),
                (None, true) => RequestedCode::NextNumber,
                (None, false) => RequestedCode::Any,
            },
            aliases: reader.codes("aliases"),
            title: reader.short_text("title"),
            owner: reader.short_text("owner"),
            tags: reader.short_texts("tags"),
            status: reader.status(),
            forward: reader.forward(),
            below: reader.url("below"),
            variants: reader.variants(),
            expires: reader.expires(),
            site: reader.text("site"),
            destination: Destination::Document(reader.text("file")),
            // The registrar decides this, because it knows the owner of the token.
            may_shadow: MayShadow::None,
            url: url.unwrap_or_default(),
        };
        let get_or_create = reader.flag("get_or_create");
        reader.finish(Self {
            request,
            get_or_create,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::{MAX_TEXT, MAX_UNKNOWN};
    use super::*;
    use crate::mapping::{Forward, Status};

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
    fn reads_every_key() {
        let asked = RegistrationBody::read(
            br#"{"url": "https://e.org/", "number": "next", "aliases": ["a"], "title": "T",
                "owner": "o", "tags": ["x", "y"], "status": 308, "forward": "query", "below": "https://b.org/",
                "variants": [{"accept": "a/b", "url": "https://v.org/"}], "expires": "2030-01-01", "site": "https://s.code/", "file": "a.yaml",
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
        assert_eq!(request.forward, Some(Forward::Query));
        assert_eq!(request.below.as_deref(), Some("https://b.org/"));
        assert_eq!(request.variants[0].to_string(), "a/b https://v.org/");
        assert_eq!(
            request.destination,
            Destination::Document(Some("a.yaml".to_owned()))
        );
    }

    #[test]
    fn reports_all_that_is_wrong_at_once() {
        assert_eq!(
            wrong(
                r#"{"url": 1, "number": 18446744073709551615, "tags": "x", "status": 200, "forward": "everything",
                    "get_or_create": 1, "title": "a", "title": "b", "shortcode": "x", "a/b": 1}"#
            ),
            [
                "/url is not a text",
                "/number is not \"next\"",
                "/tags is not a list of texts",
                "/status is none of 301, 302, 303, 307 and 308",
                "/forward is none of none, query, path, path-and-query, all, all-and-query",
                "/get_or_create is neither true nor false",
                "/title is given twice",
                "/shortcode is not a key of this request",
                "/a~1b is not a key of this request",
            ]
        );
        let dated = wrong(r#"{"title": 1, "expires": "soon", "url": "https://e.org/"}"#);
        assert_eq!(dated[0], "/title is not a text");
        assert!(
            dated[1].starts_with("/expires \"soon\" is not a date"),
            "{dated:?}"
        );
        assert_eq!(wrong("{}"), ["/url is missing"]);
        assert_eq!(wrong("[1]"), [" is not an object"]);
        assert_eq!(
            wrong(r#"{"url": "https://e.org/", "short_code": "a", "number": "next"}"#),
            ["/number goes without \"short_code\""]
        );
    }

    #[test]
    fn values_are_checked_before_they_are_decided_on() {
        assert_eq!(
            wrong(
                r#"{"url": "e.org", "short_code": "a b", "aliases": ["ok", "-"], "title": "a\nb",
                    "expires": "2030-02-30", "tags": ["\u0007"]}"#
            )
            .iter()
            .map(|error| error.split(' ').next().unwrap())
            .collect::<Vec<_>>(),
            [
                "/url",
                "/short_code",
                "/aliases",
                "/title",
                "/tags",
                "/expires"
            ]
        );
    }

    #[test]
    fn texts_do_not_change_the_direction_of_writing() {
        assert_eq!(
            wrong(
                r#"{"url": "https://e.org/", "title": "a\u202e", "owner": "\u2066", "tags": ["a", "\u202a"]}"#
            ),
            [
                "/title changes the direction of writing (U+202E)",
                "/owner changes the direction of writing (U+2066)",
                "/tags changes the direction of writing (U+202A)",
            ]
        );
        let marks = r#"{"url": "https://e.org/", "title": "\u05d0\u200f", "tags": ["\u200e"]}"#;
        assert!(RegistrationBody::read(marks.as_bytes(), PrivateUrls::Accepted).is_ok());
    }

    #[test]
    fn private_addresses_are_refused_on_request() {
        for (url, is_refused) in [
            ("http://127.1/", true),
            ("https://[::ffff:10.0.0.1]/x", true),
            ("http://localhost:80", true),
            ("https://e.org/", false),
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
                r#"{{"url": "https://e.org/", "title": "{text}", "owner": "{text}", "tags": ["a", "{text}"]}}"#
            )
        };
        assert!(RegistrationBody::read(of(&fits).as_bytes(), PrivateUrls::Accepted).is_ok());
        assert_eq!(
            wrong(&of(&long)),
            ["/title", "/owner", "/tags"].map(|it| format!("{it} has more than 1000 characters"))
        );
        let unknown: String = (0..100).map(|n| format!(r#", "k{n}": 1"#)).collect();
        let reported = wrong(&format!(r#"{{"url": "https://e.org/"{unknown}}}"#));
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
