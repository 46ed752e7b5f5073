//! The body of an edit: a JSON merge patch (RFC 7396) with the keys of a registration.

use crate::mapping::{Code, Target};
use crate::registry::EntryValue;

use super::body::{BodyError, BodyReader, PrivateUrls};

/// The keys of an entry that can be changed.
pub(super) const KEYS: &[&str] = &[
    "url", "aliases", "title", "owner", "tags", "status", "forward", "below", "variants", "expires",
];

/// Reads a body: the values that an entry is given, one for each key that the body has. `null` removes
/// a key.
///
/// # Errors
///
/// Returns all errors that can be found without a table.
pub(super) fn read(body: &[u8], private: PrivateUrls) -> Result<Vec<EntryValue>, BodyError> {
    let mut reader = BodyReader::of(body, KEYS, private)?;
    let mut values = Vec::new();
    for key in KEYS
        .iter()
        .filter(|key| reader.has(key))
        .collect::<Vec<_>>()
    {
        let value = match *key {
            "url" => match reader.url(key) {
                Some(url) => Target::parse(&url)
                    .ok()
                    .map(|it| EntryValue::Url(it.into_owned())),
                None => {
                    if !reader.has_error(key) {
                        reader.note(key, "cannot be removed: DELETE retires the link");
                    }
                    None
                }
            },
            "aliases" => {
                let codes = reader.codes(key).into_iter();
                let codes = codes.filter_map(|code| Code::custom(&code).ok());
                Some(EntryValue::Aliases(codes.collect()))
            }
            "title" => Some(EntryValue::Title(reader.short_text(key))),
            "owner" => Some(EntryValue::Owner(reader.short_text(key))),
            "tags" => Some(EntryValue::Tags(reader.short_texts(key))),
            "status" => Some(EntryValue::Status(reader.status())),
            "forward" => Some(EntryValue::Forward(reader.forward())),
            "below" => {
                let target = reader
                    .url(key)
                    .map(|it| Target::parse(&it).map(Target::into_owned));
                Some(EntryValue::Below(target.and_then(Result::ok)))
            }
            "variants" => Some(EntryValue::Variants(reader.variants())),
            "expires" => Some(EntryValue::Expires(reader.expires())),
            _ => unreachable!("every key is read"),
        };
        values.extend(value);
    }
    reader.finish(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Forward, MediaType, OwnedVariant, Status};

    fn values(body: &str) -> Result<Vec<EntryValue>, Vec<String>> {
        read(body.as_bytes(), PrivateUrls::Refused).map_err(|error| match error {
            BodyError::Malformed => vec!["malformed".to_owned()],
            BodyError::Invalid(findings) => {
                let lines = findings
                    .iter()
                    .map(|it| format!("{} {}", it.pointer, it.message));
                lines.collect()
            }
        })
    }

    #[test]
    fn every_key_that_is_present_is_changed() {
        let body = r#"{"url": "https://E.org", "aliases": ["a"], "title": null, "owner": "ada",
            "tags": [], "status": 301, "forward": "query", "below": "https://B.org",
            "variants": [{"accept": "A/b", "url": "https://V.org"},
                {"accept": ["a/c", "a/d"], "url": "https://w.org/", "below": "https://X.org"}],
            "expires": "2030-01-01"}"#;
        let variant = |types: &[&str], url: &str, below: Option<&str>| OwnedVariant {
            types: types
                .iter()
                .map(|it| MediaType::parse(it).unwrap())
                .collect(),
            target: Target::parse(url).unwrap().into_owned(),
            below: below.map(|it| Target::parse(it).unwrap().into_owned()),
        };
        let below = Target::parse("https://b.org/").unwrap().into_owned();
        let target = Target::parse("https://e.org/").unwrap().into_owned();
        assert_eq!(
            values(body).unwrap(),
            [
                EntryValue::Url(target),
                EntryValue::Aliases(vec![Code::custom("a").unwrap()]),
                EntryValue::Title(None),
                EntryValue::Owner(Some("ada".to_owned())),
                EntryValue::Tags(Vec::new()),
                EntryValue::Status(Some(Status::MovedPermanently)),
                EntryValue::Forward(Some(Forward::Query)),
                EntryValue::Below(Some(below)),
                EntryValue::Variants(vec![
                    variant(&["a/b"], "https://v.org/", None),
                    variant(&["a/c", "a/d"], "https://w.org/", Some("https://x.org/")),
                ]),
                EntryValue::Expires(Some("2030-01-01".parse().unwrap())),
            ]
        );
        assert_eq!(values("{}").unwrap(), []);
        let removed =
            values(r#"{"status": null, "below": null, "variants": null, "expires": null}"#)
                .unwrap();
        assert_eq!(
            removed,
            [
                EntryValue::Status(None),
                EntryValue::Below(None),
                EntryValue::Variants(Vec::new()),
                EntryValue::Expires(None)
            ]
        );
    }

    #[test]
    fn reports_every_error_in_variants() {
        let body = r#"{"variants": [1, {"accept": "a/*", "url": "e.org", "Url": 1},
            {"accept": [], "url": "http://10.0.0.1/", "below": 1}, {"accept": ["a/b", 1], "below": null},
            {"accept": "a/b", "url": "https://e.org/"}, {"accept": ["a/c", "A/B"], "url": "https://e.org/"}]}"#;
        assert_eq!(
            values(body).unwrap_err(),
            [
                "/variants/0 is not an object",
                "/variants/1/Url is not a key of a variant",
                "/variants/1/accept a wildcard is no media type",
                "/variants/1/url the URL is not absolute",
                "/variants/2/accept is neither a media type nor a list of them",
                "/variants/2/url has a private or loopback address",
                "/variants/2/below is not a text",
                "/variants/3/accept is neither a media type nor a list of them",
                "/variants/3/url is missing",
                "/variants/5/accept names the media type \"a/b\" again",
            ]
        );
        for body in [r#"{"variants": {}}"#, r#"{"variants": "a/b"}"#] {
            let expected = ["/variants is not a list of objects"];
            assert_eq!(values(body).unwrap_err(), expected);
        }
    }

    #[test]
    fn reports_all_errors_at_once() {
        let body = r#"{"url": null, "aliases": ["a b"], "title": 1, "owner": "a\nb", "status": 200,
            "short_code": "x", "title": "twice"}"#;
        let reported = values(body).unwrap_err();
        let pointers: Vec<_> = reported
            .iter()
            .map(|it| it.split(' ').next().unwrap())
            .collect();
        assert_eq!(
            pointers,
            [
                "/url",
                "/aliases",
                "/title",
                "/owner",
                "/status",
                "/short_code",
                "/title"
            ],
            "{reported:?}"
        );
        assert_eq!(
            values(r#"{"url": "http://10.0.0.1/"}"#).unwrap_err().len(),
            1
        );
        assert_eq!(values("[]").unwrap_err(), [" is not an object"]);
        assert_eq!(values("{").unwrap_err(), ["malformed"]);
    }
}
