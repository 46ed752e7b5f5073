//! Choosing the form of an answer by the client's `Accept` (RFC 9110 section 12.5.1), and its language
//! and coding by the other fields.
//!
//! There are two forms: a page for people, and JSON for programs that request it. A client that
//! names neither gets the page, or for a 404 a line of text. A named form beats one that a wildcard
//! allows with the same weight, because `application/json, */*` comes from a program.

use hyper::HeaderMap;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderName};

use crate::html::Language;
use crate::mapping::weighted_members;

/// The forms of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageFormat {
    /// `text/html`, requested by name.
    Html,
    /// `application/json`, requested by name.
    Json,
    /// Neither is requested by name.
    Any,
}

/// Returns the form that a client prefers.
pub(crate) fn form(headers: &HeaderMap) -> PageFormat {
    let mut best = (0, PageFormat::Any);
    for (name, weight) in weighted(headers, ACCEPT) {
        let form = match name {
            _ if name.eq_ignore_ascii_case("text/html") => PageFormat::Html,
            _ if name.eq_ignore_ascii_case("application/json") => PageFormat::Json,
            _ => continue,
        };
        if weight > best.0 {
            best = (weight, form);
        }
    }
    best.1
}

/// Returns the language that a client prefers among those of pages (RFC 9110 section 12.5.4); the
/// default one if it accepts none of them, because 406 would not help.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let mut best = (0, Language::DEFAULT);
    for (range, weight) in weighted(headers, ACCEPT_LANGUAGE) {
        let language = match range {
            "*" => Some(Language::DEFAULT),
            _ => Language::of_range(range),
        };
        if let Some(language) = language.filter(|_| weight > best.0) {
            best = (weight, language);
        }
    }
    best.1
}

/// The codings of content (RFC 9110 section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// As it is.
    Identity,
    /// Compressed with gzip.
    Gzip,
}

/// Returns the coding that a client prefers: gzip, if it accepts that (RFC 9110 section 12.5.3).
pub(crate) fn coding(headers: &HeaderMap) -> Coding {
    let mut codings = weighted(headers, ACCEPT_ENCODING);
    let accepts_gzip =
        codings.any(|(coding, weight)| coding.eq_ignore_ascii_case("gzip") && weight > 0);
    match accepts_gzip {
        true => Coding::Gzip,
        false => Coding::Identity,
    }
}

/// Returns the members of a field, each with its weight in thousandths (RFC 9110 section 12.4.2).
fn weighted(headers: &HeaderMap, field: HeaderName) -> impl Iterator<Item = (&str, u16)> {
    let values = headers.get_all(field).into_iter();
    values.flat_map(|value| weighted_members(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn chosen(accept: &[&'static str]) -> PageFormat {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, HeaderValue::from_static(value));
        }
        form(&headers)
    }

    #[test]
    fn knows_what_clients_send() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (accept, form) in [
            (browser, PageFormat::Html),
            ("*/*", PageFormat::Any),
            ("", PageFormat::Any),
            ("application/json", PageFormat::Json),
            ("application/json, text/plain, */*", PageFormat::Json),
            ("Application/JSON ; q=0.3", PageFormat::Json),
            ("text/html, application/json;q=0.9", PageFormat::Html),
            ("text/html;q=0.8, application/json;q=0.9", PageFormat::Json),
            (
                "text/html;level=1;q=0.001, application/json;q=0",
                PageFormat::Html,
            ),
            ("application/json;q=1.000, text/html", PageFormat::Json),
            ("text/html;q=0", PageFormat::Any),
            ("text/html;q=nonsense, image/*", PageFormat::Any),
            (",;,=;q", PageFormat::Any),
        ] {
            assert_eq!(chosen(&[accept]), form, "{accept}");
        }
    }

    #[test]
    fn compresses_for_clients_that_accept_it() {
        for (accept, expected) in [
            ("gzip", Coding::Gzip),
            ("deflate, GZIP;q=0.5, br", Coding::Gzip),
            ("gzip;q=0", Coding::Identity),
            ("gzip;q=0.000, br", Coding::Identity),
            ("x-gzip, br", Coding::Identity),
            ("", Coding::Identity),
        ] {
            let value = HeaderValue::from_static(accept);
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, value)]);
            assert_eq!(coding(&headers), expected, "{accept}");
        }
    }

    #[test]
    fn a_language_is_chosen_by_weight_then_order() {
        for (accept, expected) in [
            ("", "en"),
            ("*", "en"),
            ("de", "de"),
            ("de-AT, de;q=0.9, en;q=0.8", "de"),
            ("en-US,en;q=0.9,de;q=0.8", "en"),
            ("en;q=0.5, de;q=0.501", "de"),
            ("fr-FR, fr;q=0.9, de;q=0.3, *;q=0.1", "de"),
            ("fr, it", "en"),
            ("de;q=0, *", "en"),
            ("de;q=0.5, *", "en"),
            ("de, *;q=0.5", "de"),
            ("DE-de ; Q=1.000", "de"),
            ("de, en", "de"),
            ("de;q=nonsense", "en"),
            (",;,-,=;q", "en"),
        ] {
            let value = HeaderValue::from_static(accept);
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, value)]);
            assert_eq!(language(&headers).tag(), expected, "{accept}");
        }
    }

    #[test]
    fn reads_several_fields_as_one() {
        assert_eq!(chosen(&["image/png", "text/html"]), PageFormat::Html);
        assert_eq!(chosen(&[]), PageFormat::Any);
    }
}
